import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Credentials } from "../tls/certificates.ts";
import type { FastReceiverStats } from "./fast-receiver.ts";

/** The receiver program's commands; `id`, if given, is returned with the reply. */
export type FastReceiverCommand = { readonly id?: number } & (
	| { readonly cmd: "count" | "stats" | "reset" | "close" }
	| { readonly cmd: "secret"; readonly path: string; readonly secret: string }
);

/** Stats as received from the program: as JSON, so an unknown time is null. */
export type ForkedStats = Omit<FastReceiverStats, "latencies"> & {
	readonly latencies: readonly number[];
	/** CPU time that the program has used in total, microseconds. */
	readonly cpu_us: number;
};

/** `port` comes first, unrequested; `count` in reply to `count`, and the stats in reply to `stats`. */
export type FastReceiverReply = Partial<ForkedStats> & { readonly id?: number; readonly port?: number };

export interface ForkOptions extends Credentials {
	/** Verify the signature of every nth request on paths with a secret. By default 0: none. */
	readonly verifyEvery?: number;
}

export type ForkedFastReceiver = Awaited<ReturnType<typeof forkFastReceiver>>;

/** Starts a fast receiver in a separate process. */
export async function forkFastReceiver({ cert, key, verifyEvery = 0 }: ForkOptions) {
	const child = fork(fileURLToPath(new URL("./fast-receiver-process.ts", import.meta.url)), {
		env: { ...process.env, RECEIVER_CERT: cert, RECEIVER_KEY: key, RECEIVER_VERIFY_EVERY: String(verifyEvery) },
		execArgv: [],
	});
	const waiting = new Map<number | undefined, (reply: FastReceiverReply) => void>();
	let lastId = 0;
	child.on("message", (reply: FastReceiverReply) => {
		waiting.get(reply.id)?.(reply);
		waiting.delete(reply.id);
	});
	const exited = once(child, "exit");
	const gone = exited.then(([code]): never => {
		throw new Error(`The receiver's process ended (${code}).`);
	});
	gone.catch(() => {}); // the race below reports it

	function replyTo(id: number | undefined): Promise<FastReceiverReply> {
		return Promise.race([new Promise<FastReceiverReply>((resolve) => waiting.set(id, resolve)), gone]);
	}

	async function ask(command: FastReceiverCommand): Promise<FastReceiverReply> {
		const id = ++lastId;
		const reply = replyTo(id);
		child.send({ ...command, id });
		return await reply;
	}

	const { port } = await replyTo(undefined);
	if (port === undefined) throw new Error("The receiver's process didn't report its port.");
	return {
		port,
		url: (path = "/"): string => new URL(path, `https://localhost:${port}`).href,
		async count(): Promise<number> {
			return (await ask({ cmd: "count" })).count ?? 0;
		},
		async stats(): Promise<ForkedStats> {
			return (await ask({ cmd: "stats" })) as ForkedStats;
		},
		async reset(): Promise<void> {
			await ask({ cmd: "reset" });
		},
		async setSecret(path: string, secret: string): Promise<void> {
			await ask({ cmd: "secret", path, secret });
		},
		/** Ends the process. */
		async close(): Promise<void> {
			await ask({ cmd: "close" });
			await exited;
		},
	};
}
