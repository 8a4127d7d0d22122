import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FastReceiverOptions, FastReceiverStats } from "./fast-receiver.ts";

export type FastReceiverCommand =
	| { readonly cmd: "start"; readonly options: FastReceiverOptions }
	| { readonly cmd: "stats" }
	| { readonly cmd: "reset" }
	| { readonly cmd: "secret"; readonly path: string; readonly secret: string }
	| { readonly cmd: "close" };

/** Stats, and the CPU time that the receiver's process has used in all, microseconds. */
export type ForkedStats = FastReceiverStats & { readonly cpuUs: number };

export type FastReceiverReply =
	| { readonly ok: true; readonly port?: number; readonly stats?: ForkedStats }
	| { readonly ok: false; readonly error: string };

export type ForkedFastReceiver = Awaited<ReturnType<typeof forkFastReceiver>>;

/** Starts a fast receiver in a process of its own, so that it shares no event loop with the sender. */
export async function forkFastReceiver(options: FastReceiverOptions) {
	// Structured clone, so that latencies travel as the typed array they are.
	const child = fork(fileURLToPath(new URL("./fast-receiver-process.ts", import.meta.url)), {
		serialization: "advanced",
		execArgv: [],
	});
	const exited = once(child, "exit");
	let last: Promise<unknown> = Promise.resolve();

	/** One command at a time: replies carry no name. */
	function ask(command: FastReceiverCommand): Promise<FastReceiverReply & { ok: true }> {
		const answer = last.then(() => exchange(command));
		last = answer.catch(() => undefined);
		return answer;
	}

	async function exchange(command: FastReceiverCommand): Promise<FastReceiverReply & { ok: true }> {
		const reply = await new Promise<FastReceiverReply>((resolve, reject) => {
			const onMessage = (message: unknown): void => {
				child.off("exit", onExit);
				resolve(message as FastReceiverReply);
			};
			const onExit = (): void => {
				child.off("message", onMessage);
				reject(new Error(`The receiver's process ended before it answered "${command.cmd}".`));
			};
			child.once("message", onMessage);
			child.once("exit", onExit);
			child.send(command, (error) => {
				if (error) reject(error);
			});
		});
		if (!reply.ok) throw new Error(`The receiver's process refused "${command.cmd}": ${reply.error}`);
		return reply;
	}

	const { port } = await ask({ cmd: "start", options });
	if (port === undefined) throw new Error("The receiver's process did not say which port it listens on.");
	return {
		port,
		url: (path = "/"): string => new URL(path, `https://localhost:${port}`).href,
		async stats(): Promise<ForkedStats> {
			const { stats } = await ask({ cmd: "stats" });
			if (stats === undefined) throw new Error("The receiver's process answered without its stats.");
			return stats;
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
			child.disconnect();
			await exited;
		},
	};
}
