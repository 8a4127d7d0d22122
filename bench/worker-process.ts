/** A process that is started for one task: the task comes as its first message, and its one message is the result. */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Workspace } from "./workspace.ts";

type Reply<Result> = { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly error: string };

/** Starts `file` beside this one, hands it the task and resolves with its result; rejects if it fails or exits. */
export async function runInProcess<Task extends object, Result>(
	workspace: Workspace,
	file: string,
	task: Task,
): Promise<Result> {
	const child = workspace.fork(fileURLToPath(new URL(file, import.meta.url)));
	const reply = new Promise<Reply<Result>>((resolve, reject) => {
		child.once("message", (message) => resolve(message as Reply<Result>));
		child.once("error", reject);
		child.once("exit", (code, signal) => reject(new Error(`${file} ended without a result (${signal ?? code}).`)));
	});
	child.send(task);
	const outcome = await reply;
	if (child.exitCode === null && child.signalCode === null) {
		child.kill();
		await once(child, "exit");
	}
	if (!outcome.ok) throw new Error(`${file}: ${outcome.error}`);
	return outcome.result;
}

/** Does the task of this process. */
export function doTask<Task, Result>(run: (task: Task) => Promise<Result>): void {
	process.once("message", (task) => {
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
