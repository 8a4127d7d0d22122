import { join } from "node:path";
import type { Receiver } from "../load/receiver.ts";
import { WorkerProcess } from "../load/worker-process.ts";
import type { Workspace } from "../workspace.ts";
import type { LeastReply, LeastTask } from "./least-process.ts";

/** A process with the least that delivers single events durably, to compare the service with. */
export class Least {
	readonly #process: WorkerProcess<LeastTask, LeastReply>;
	readonly origin: string;

	private constructor(process: WorkerProcess<LeastTask, LeastReply>, origin: string) {
		this.#process = process;
		this.origin = origin;
	}

	static async start(
		workspace: Workspace,
		receiver: Receiver,
		size: { readonly projects: number; readonly connections: number },
	): Promise<Least> {
		const process = new WorkerProcess<LeastTask, LeastReply>(workspace, new URL("./least-process.ts", import.meta.url));
		const port = await process.run({
			kind: "listen",
			path: join(workspace.makeFolder("least"), "least.db"),
			origin: receiver.origin,
			caFile: receiver.caFile,
			firstPath: receiver.takePaths(size.projects),
			...size,
		});
		return new Least(process, `http://127.0.0.1:${port}`);
	}

	/** Where a project's events are posted to, after the origin. */
	pathOf(project: number): string {
		return `/projects/${project}/events`;
	}

	/** The CPU time that it has used so far, microseconds, once all outcomes are committed. */
	cpu(): Promise<number> {
		return this.#process.run({ kind: "cpu" });
	}

	close(): Promise<void> {
		return this.#process.close();
	}
}
