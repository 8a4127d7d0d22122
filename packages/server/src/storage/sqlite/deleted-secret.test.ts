import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openSqliteStorage } from "./index.ts";

test("deleting a webhook removes every trace of its secret", async () => {
	const directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(directory, "posthorn.db");
	const storage = await openSqliteStorage({ path, clock: { now: () => 1 }, leaseTermMs: 1_000 });
	await storage.createProject({ id: "proj_1", name: "Shop", apps: ["developer"], createdAt: 1 });
	const webhook = { url: "https://a.example/", description: "", events: ["a"], maxInFlight: 1, createdAt: 1 };
	for (const id of ["wh_deleted", "wh_kept"])
		await storage.createWebhook({
			id,
			projectId: "proj_1",
			...webhook,
			sealedDigest: Buffer.from("secret"),
			maxPerProject: 10,
		});
	await storage.deleteWebhook({ projectId: "proj_1", webhookId: "wh_deleted" });
	await storage.close();
	const database = new DatabaseSync(path);
	const rows = database.prepare("SELECT id, length(sealed_digest) AS bytes FROM webhooks ORDER BY id").all();
	database.close();
	expect(rows.map(({ id, bytes }) => [id, bytes])).toEqual([
		["wh_deleted", 0],
		["wh_kept", 6],
	]);
	await rm(directory, { recursive: true });
});
