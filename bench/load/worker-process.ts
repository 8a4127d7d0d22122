/** Processes that run tasks of one kind, one after the other: a task is a message to it, and its result the reply. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Workspace } from "../workspace.ts";

type Reply<Result> = { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly error: string };

/** From its second task on, the process is warm: its code is compiled. */
export class WorkerProcess<Task extends object, Result> {
	readonly #file: string;
	readonly #child: ChildProcess;

	/** @param file calls {@link doTasks} */
	constructor(workspace: Workspace, file: URL) {
		this.#file = basename(file.pathname);
		this.#child = workspace.fork(fileURLToPath(file));
	}

	/** Rejects if the task fails or the process exits. One task at a time. */
	async run(task: Task): Promise<Result> {
		const waiting = new AbortController();
		const { signal } = waiting;
		try {
			const replied = once(this.#child, "message", { signal }).then(([reply]) => reply as Reply<Result>);
			const exited = once(this.#child, "exit", { signal }).then(([code, killedBy]): never => {
				throw new Error(`${this.#file} ended without a result (${killedBy ?? code}).`);
			});
			for (const one of [replied, exited]) one.catch(() => {}); // the race reports it
			this.#child.send(task);
			const outcome = await Promise.race([replied, exited]);
			if (!outcome.ok) throw new Error(`${this.#file}: ${outcome.error}`);
			return outcome.result;
		} finally {
			waiting.abort();
		}
	}

	async close(): Promise<void> {
		if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
		this.#child.kill();
		await once(this.#child, "exit");
	}
}

/** Runs one task in a separate process. */
export async function runInProcess<Task extends object, Result>(
	workspace: Workspace,
	file: URL,
	task: Task,
): Promise<Result> {
	const worker = new WorkerProcess<Task, Result>(workspace, file);
	try {
		return await worker.run(task);
	} finally {
		await worker.close();
	}
}

/** Runs this process's tasks. */
export function doTasks<Task, Result>(run: (task: Task) => Promise<Result>): void {
	process.on("message", (task) => {
		run(task as Task).then(
			(result) => reply({ ok: true, result }),
			(error: unknown) =>
				reply({ ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
		);
	});
	process.once("disconnect", () => process.exit());
}

function reply<Result>(message: Reply<Result>): void {
	process.send?.(message);
}
