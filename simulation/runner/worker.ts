/** Runs worlds, one after another, in a process of its own: tasks come in as messages, results go out. */
import { rmSync } from "node:fs";
import type { Fault } from "./fault.ts";
import { importFaulty } from "./faulty.ts";
import type { Result, Task } from "./task.ts";

/** @param fault what is wrong with the product, on purpose */
async function run(task: Task, fault: Fault | null): Promise<Result> {
	try {
		// Imported only here: the hooks of faulty.ts must see which module imports which.
		const { runTask } = fault === null ? await import("./task.ts") : await importFaulty(fault);
		return await runTask(task);
	} catch (error) {
		return { seed: task.seed, style: "", ending: null, error: (error as Error).stack ?? String(error) };
	}
}

process.on("message", ([task, fault]: [Task, Fault | null]) => {
	void run(task, fault).then((result) => process.send!(result));
});
// The parent is gone or needs no more worlds. Exiting removes the worlds' files, then their folder, because a parent that
// was killed can't.
process.on("disconnect", () => {
	const [, , folder] = process.argv;
	process.on("exit", () => folder !== undefined && rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
	process.exit();
});
// Ctrl-C reaches every process of the terminal; the one in front decides.
process.on("SIGINT", () => undefined);
