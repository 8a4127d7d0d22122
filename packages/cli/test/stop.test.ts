import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { within } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import { expect, test } from "vitest";
import { MIGRATION_LOCK } from "../../server/src/storage/postgres/migrations/index.ts";
import { COMMAND } from "./doctor.fixture.ts";

// It ignored the signal until the other node had ended, or a supervisor lost its patience.
test("stops while it starts, even if it waits for another node's migration", async () => {
	const server = await PostgresServer.start();
	const url = await server.createDatabase();
	const folder = mkdtempSync(join(tmpdir(), "posthorn-stop-"));
	const migrating = new Client({ connectionString: url });
	await migrating.connect();
	await migrating.query(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
	const env = {
		PATH: process.env.PATH,
		POSTHORN_PORT: "0",
		POSTHORN_DATABASE_URL: url,
		POSTHORN_SEAL_KEY: Buffer.alloc(32).toString("base64"),
	};
	const node = spawn(process.execPath, [COMMAND, "serve"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
	try {
		// A log that is read as JSON has no room for Node's own "(node:1234) Warning: …".
		const logged = createInterface(node.stdout).on("line", (line) => {
			if (JSON.parse(line).msg.startsWith("Another node is migrating the database")) node.kill("SIGTERM");
		});
		const [said, [code]] = await within("the node to stop", Promise.all([text(node.stderr), once(node, "close")]));
		logged.close();
		expect([code, said]).toEqual([1, "Stopped before the service had started.\n"]);
		const [row] = await server.execute(
			"SELECT count(*)::integer AS schemas FROM pg_namespace WHERE nspname = 'posthorn'",
			url,
		);
		expect(row).toEqual({ schemas: 0 });
	} finally {
		node.kill("SIGKILL");
		await migrating.end();
		await server.dropDatabase(url);
		await server.stop();
		rmSync(folder, { recursive: true });
	}
});
