import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStorage } from "../index.ts";

const clock = { now: () => Date.UTC(2026, 10, 21) };

let directory: string;
let path: string;
let children: ChildProcess[] = [];
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	path = join(directory, "posthorn.db");
});
afterEach(async () => {
	await Promise.all(children.map(kill));
	children = [];
	await rm(directory, { recursive: true });
});

const open = () => openSqliteStorage({ path, clock, leaseTermMs: 1000 });

/** Another process that opens the database, reports the result in one line, and holds it until killed. */
async function openElsewhere(): Promise<{ child: ChildProcess; said: string }> {
	const program = `
		import { openSqliteStorage } from ${JSON.stringify(import.meta.resolve("../index.ts"))};
		const options = { path: ${JSON.stringify(path)}, clock: { now: Date.now }, leaseTermMs: 1000 };
		try {
			const storage = await openSqliteStorage(options);
			await storage.createProject({ id: "proj_x", name: "Shop", apps: [], createdAt: 1 });
			await storage.acquireLeases({ holder: "node_x", limit: 1, projectIds: ["proj_x"] });
			console.log("open");
		} catch (error) {
			console.log(error.code + ": " + error.message);
		}`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	children.push(child);
	const [line] = (await once(child.stdout!, "data")) as [Buffer];
	return { child, said: line.toString().trim() };
}

async function kill(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const gone = once(child, "exit");
	child.kill("SIGKILL");
	await gone;
}

test("a second process is refused with an error that names the owner", async () => {
	const storage = await open();
	const { said } = await openElsewhere();
	expect(said).toMatch(/^in_use: /);
	expect(said).toContain(`process ${process.pid} on `);
	await storage.ping();
	await storage.close();
});

test("the same process can't open it twice either, until it has closed it", async () => {
	const storage = await open();
	await expect(open()).rejects.toMatchObject({ code: "in_use" });
	await storage.close();
	await (await open()).close();
});

test("a killed process leaves neither its lock nor its leases", async () => {
	const { child, said } = await openElsewhere();
	expect(said).toBe("open");
	await expect(open()).rejects.toMatchObject({ code: "in_use", message: expect.stringContaining(String(child.pid)) });
	await kill(child);
	const storage = await open();
	const [lease] = await storage.acquireLeases({ holder: "node_y", limit: 10 });
	expect(lease).toMatchObject({ projectId: "proj_x", generation: 2 });
	await storage.close();
});
