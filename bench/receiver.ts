import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createAuthority, type PathReport, writeCaFile } from "@posthorn/testkit";
import type { Workspace } from "./workspace.ts";

const PROGRAM = fileURLToPath(new URL("../packages/testkit/src/fast-receiver-process.ts", import.meta.url));

interface Reply {
	readonly id: number;
	readonly port?: number;
	readonly count?: number;
	readonly paths?: Readonly<Record<string, PathReport>>;
	readonly latencies?: readonly number[];
}

/** What came since the last reset. */
export interface Receipts {
	/** Deliveries without repetitions. */
	readonly distinct: number;
	/** First arrivals with a lower number than one that had come on the same path. */
	readonly outOfOrder: number;
	/** Milliseconds from the time in an event's data to its receipt. */
	readonly latencies: readonly number[];
}

/** The receiver that everything is sent to: HTTPS in a process of its own, which counts and answers 200. */
export class Receiver {
	readonly origin: string;
	/** PEM file with the authority of its certificate. */
	readonly caFile: string;
	readonly #child: ChildProcess;
	readonly #waiting = new Map<number, (reply: Reply) => void>();
	#lastId = 0;
	#nextPath = 0;

	private constructor(child: ChildProcess, port: number, caFile: string) {
		this.#child = child;
		this.origin = `https://127.0.0.1:${port}`;
		this.caFile = caFile;
		child.on("message", (message) => {
			const reply = message as Reply;
			this.#waiting.get(reply.id)?.(reply);
			this.#waiting.delete(reply.id);
		});
	}

	static async start(workspace: Workspace): Promise<Receiver> {
		const authority = await createAuthority("Posthorn bench authority");
		const { cert, key } = await authority.issue();
		const caFile = writeCaFile(authority, workspace.makeFolder("authority"));
		const child = workspace.fork(PROGRAM, { ...process.env, RECEIVER_CERT: cert, RECEIVER_KEY: key });
		const [message] = await Promise.race([
			once(child, "message"),
			once(child, "exit").then(([code]) => Promise.reject(new Error(`The receiver did not start (${code}).`))),
		]);
		const { port } = message as Reply;
		if (port === undefined) throw new Error("The receiver did not say which port it listens on.");
		return new Receiver(child, port, caFile);
	}

	/** Reserves `count` paths: `/w` and the number returned, and so on upwards. */
	takePaths(count: number): number {
		const first = this.#nextPath;
		this.#nextPath += count;
		return first;
	}

	/** How many requests came since the last reset, repetitions included. */
	async count(): Promise<number> {
		return (await this.#ask("count")).count ?? 0;
	}

	async read(): Promise<Receipts> {
		const { paths = {}, latencies = [] } = await this.#ask("stats");
		const reports = Object.values(paths);
		return {
			distinct: reports.reduce((sum, report) => sum + report.distinct, 0),
			outOfOrder: reports.reduce((sum, report) => sum + report.out_of_order, 0),
			latencies,
		};
	}

	async reset(): Promise<void> {
		await this.#ask("reset");
	}

	#ask(cmd: "count" | "stats" | "reset"): Promise<Reply> {
		const id = ++this.#lastId;
		return new Promise((resolve, reject) => {
			this.#waiting.set(id, resolve);
			this.#child.send({ id, cmd }, (error) => {
				if (error !== null) reject(new Error("The receiver ended while it was measured.", { cause: error }));
			});
		});
	}
}
