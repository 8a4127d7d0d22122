/**
 * The least that delivers single events durably: a Fastify route, a thread that commits events and outcomes to SQLite
 * together, and a signed send for each event in its project's order. It has no accounts, retries, limits or log.
 */
import { createSecretKey, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { fastify } from "fastify";
import { Agent, type Dispatcher } from "undici";
import { EVENT_TYPE } from "../load/payload.ts";
import { signedHeaders } from "../load/signed-line.ts";
import { doTasks } from "../load/worker-process.ts";
import type { Batch } from "./least-writer.ts";

/** What it is asked: to listen, or for its CPU time once all outcomes are committed. */
export type LeastTask =
	| {
			readonly kind: "listen";
			readonly path: string;
			readonly origin: string;
			readonly caFile: string;
			/** A project's events are posted to `/w` and this number plus the project's. */
			readonly firstPath: number;
			readonly projects: number;
			readonly connections: number;
	  }
	| { readonly kind: "cpu" };

/** Its port, or the CPU time that it has used so far, microseconds. */
export type LeastReply = number;

const KEEP_ALIVE_MS = 600_000;
const CREATED_AT = "2026-01-01T00:00:00.000Z";
const DATA = '"data":';

/** Collects what the next commit has; the thread gets it once the previous one is done. */
class Writer {
	readonly #thread: Worker;
	#next = emptyBatch();
	#answers: (() => void)[] = [];
	#committing: (() => void)[] | null = null;
	#quiet: (() => void) | null = null;

	constructor(path: string) {
		this.#thread = new Worker(new URL("./least-writer.ts", import.meta.url), { workerData: path });
		this.#thread.on("message", () => {
			const committed = this.#committing!;
			this.#committing = null;
			for (const answer of committed) answer();
			if (this.#next.projects.length + this.#next.settled.length > 0) this.#commit();
			else this.#quiet?.();
		});
	}

	/** Resolves once it is committed. */
	append(project: number, seq: number, body: string): Promise<void> {
		this.#next.projects.push(project);
		this.#next.seqs.push(seq);
		this.#next.bodies.push(body);
		const done = new Promise<void>((resolve) => this.#answers.push(resolve));
		this.#schedule();
		return done;
	}

	settle(project: number, seq: number, status: number, ms: number): void {
		this.#next.settled.push(project, seq, status, ms);
		this.#schedule();
	}

	/** Resolves once nothing is left to commit. */
	async drained(): Promise<void> {
		if (this.#committing !== null) await new Promise<void>((resolve) => (this.#quiet = resolve));
		this.#quiet = null;
	}

	#schedule(): void {
		if (this.#committing === null) this.#commit();
	}

	#commit(): void {
		this.#committing = this.#answers;
		this.#answers = [];
		this.#thread.postMessage(this.#next);
		this.#next = emptyBatch();
	}
}

const emptyBatch = (): Batch => ({ projects: [], seqs: [], bodies: [], settled: [] });

/** Sends a project's events, one at a time. */
class Lane implements Dispatcher.DispatchHandler {
	readonly #agent: Agent;
	readonly #origin: string;
	readonly #path: string;
	readonly #project: number;
	readonly #writer: Writer;
	readonly #key = createSecretKey(randomBytes(32));
	readonly #waiting: { readonly seq: number; readonly data: string }[] = [];
	#isSending = false;
	#status = 0;
	#since = 0;
	seq = 0;

	constructor(agent: Agent, origin: string, path: string, project: number, writer: Writer) {
		this.#agent = agent;
		this.#origin = origin;
		this.#path = path;
		this.#project = project;
		this.#writer = writer;
	}

	push(seq: number, data: string): void {
		this.#waiting.push({ seq, data });
		if (!this.#isSending) this.#send();
	}

	get isIdle(): boolean {
		return this.#waiting.length === 0;
	}

	#send(): void {
		this.#isSending = true;
		const { seq, data } = this.#waiting[0]!;
		const id = `evt_${String(seq).padStart(26, "0")}`;
		const envelope = `{"id":"${id}","type":"${EVENT_TYPE}","created_at":"${CREATED_AT}","data":${data}}`;
		const body = Buffer.from(envelope);
		const headers = signedHeaders(this.#key, body, id);
		this.#since = performance.now();
		this.#agent.dispatch({ origin: this.#origin, path: this.#path, method: "POST", headers, body }, this);
	}

	onRequestStart(): void {}

	onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
		this.#status = status;
	}

	onResponseData(): void {}

	onResponseEnd(): void {
		const { seq } = this.#waiting.shift()!;
		this.#writer.settle(this.#project, seq, this.#status, performance.now() - this.#since);
		this.#isSending = false;
		if (this.#waiting.length > 0) this.#send();
	}

	onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
		throw error;
	}
}

let lanes: Lane[] = [];
let writer: Writer;

async function listen({ path, origin, caFile, firstPath, projects, connections }: LeastTask & { kind: "listen" }) {
	writer = new Writer(path);
	const connect = { ca: readFileSync(caFile) };
	const agent = new Agent({ connections, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect });
	lanes = Array.from({ length: projects }, (_, no) => new Lane(agent, origin, `/w${firstPath + no}`, no, writer));
	const app = fastify();
	app.removeAllContentTypeParsers();
	app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
		JSON.parse(body as string);
		done(null, body);
	});
	app.post<{ Params: { no: string }; Body: string }>("/projects/:no/events", async ({ params, body }, reply) => {
		const project = Number(params.no);
		const lane = lanes[project]!;
		const seq = ++lane.seq;
		await writer.append(project, seq, body);
		lane.push(seq, body.slice(body.indexOf(DATA) + DATA.length, -1));
		reply.code(202);
		return { id: `evt_${seq}`, seq, type: EVENT_TYPE, created_at: CREATED_AT };
	});
	return Number(new URL(await app.listen({ host: "127.0.0.1", port: 0 })).port);
}

doTasks<LeastTask, LeastReply>(async (task) => {
	if (task.kind === "listen") return listen(task);
	while (!lanes.every(({ isIdle }) => isIdle)) await new Promise((resolve) => setTimeout(resolve, 20));
	await writer.drained();
	const { user, system } = process.cpuUsage();
	return user + system;
});
