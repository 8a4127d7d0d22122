import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Session } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { until, within } from "@posthorn/testkit/until";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StorageError } from "../port.ts";
import { Channel } from "./connection/channel.ts";
import { toNote } from "./connection/errors.ts";
import { openSqliteStorage } from "./index.ts";

const clock = { now: () => Date.UTC(2026, 10, 21) };

let directory: string;
let path: string;
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	path = join(directory, "posthorn.db");
});
afterEach(() => rm(directory, { recursive: true }));

const open = (onDeath?: (error: StorageError) => void) =>
	openSqliteStorage({ path, clock, leaseTermMs: 1000, ...(onDeath && { onDeath }) });

test("a thread that ends on request doesn't count as a crash", async () => {
	const deaths: StorageError[] = [];
	const storage = await open((error) => deaths.push(error));
	await storage.close();
	await expect(storage.ping()).rejects.toMatchObject({ code: "closed" });
	expect(deaths).toEqual([]);
});

// Node printed them as plain text, next to a log in JSON.
test("threads hand their warnings over to the process", async () => {
	const threads = new Threads();
	const storage = await open();
	for (const name of ["sqlite-writer", "sqlite-reader", "sqlite-checkpointer"]) {
		const warned = Promise.withResolvers<Error>();
		process.once("warning", warned.resolve);
		await threads.run(name, `process.emitWarning("of ${name}", "TestWarning")`);
		expect(await within(`a warning of ${name}`, warned.promise)).toMatchObject({
			name: "TestWarning",
			message: `of ${name}`,
		});
	}
	await storage.close();
	threads.close();
});

test("when the reading thread dies, reads fail as lost and the owner is notified", async () => {
	const threads = new Threads();
	const deaths: StorageError[] = [];
	const storage = await open((error) => deaths.push(error));
	await threads.end("sqlite-reader");
	await expect(storage.getProject({ projectId: "proj_x" })).rejects.toMatchObject({ code: "lost" });
	expect(deaths).toMatchObject([{ code: "lost" }]);
	await storage.close();
	threads.close();
});

test("when the writing thread dies, the owner is notified, all calls fail as lost, and the file can be opened again", async () => {
	const threads = new Threads();
	const deaths: StorageError[] = [];
	const storage = await open((error) => deaths.push(error));
	const project = { id: "proj_x", name: "Shop", apps: [], createdAt: 1 };
	await storage.createProject(project);
	await threads.end("sqlite-writer");
	await expect(storage.ping()).rejects.toMatchObject({ code: "lost" });
	await expect(storage.createProject(project)).rejects.toMatchObject({ code: "lost" });
	expect(deaths).toMatchObject([{ code: "lost", message: expect.stringContaining(path) }]);
	await storage.close();
	threads.close();
	expect(deaths).toHaveLength(1);

	const again = await open();
	expect(await again.getProject({ projectId: "proj_x" })).toEqual(project);
	await again.close();
});

// The error at a stop was that the storage was closed. It didn't mention the files.
test("a writer that loses its files while it closes says what happened", async () => {
	const deaths: StorageError[] = [];
	const channel = await Channel.open({ path, role: "writer", leaseTermMs: 1000 }, (error) => deaths.push(error));
	const post = vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker) {
		setImmediate(() => {
			this.emit("message", ["lost", toNote(new StorageError("lost", "The file was moved."))]);
			void this.terminate();
		});
	});
	await expect(channel.close()).rejects.toMatchObject({ code: "lost", message: "The file was moved." });
	post.mockRestore();
	expect(deaths).toEqual([]);
});

/** The worker threads of this process, through the debugger protocol. */
class Threads {
	readonly #session = new Session();
	readonly #attached = new Map<string, string>();

	constructor() {
		this.#session.connect();
		this.#session.on("NodeWorker.attachedToWorker", ({ params }) => {
			this.#attached.set(params.workerInfo.title, params.sessionId);
		});
		this.#session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
	}

	/** Ends a thread from within, as a crash would; resolves when it has ended. */
	async end(name: string): Promise<void> {
		const gone = once(this.#session, "NodeWorker.detachedFromWorker");
		await this.run(name, "process.exit(1)");
		await gone;
	}

	/** Begins to run this in a thread. */
	async run(name: string, expression: string): Promise<void> {
		const [, sessionId] = await until(`${name} to be attached`, () =>
			[...this.#attached].find(([title]) => title.includes(name)),
		);
		const message = JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } });
		this.#session.post("NodeWorker.sendMessageToWorker", { sessionId, message });
	}

	close(): void {
		this.#session.disconnect();
	}
}
