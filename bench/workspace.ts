import { type ChildProcess, fork, type SpawnOptions, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** In the repository, so that databases are on its disk and not in an in-memory file system, as /tmp often is. */
const CACHE = fileURLToPath(new URL("../.cache/", import.meta.url));

/** The temporary folder of a run and the processes it started. {@link dispose} removes what remains of both. */
export class Workspace {
	readonly folder: string;
	readonly #children = new Set<ChildProcess>();

	constructor() {
		mkdirSync(CACHE, { recursive: true });
		this.folder = mkdtempSync(join(CACHE, "bench-"));
	}

	/** A new folder in the temporary one. */
	makeFolder(name: string): string {
		return mkdtempSync(join(this.folder, `${name}-`));
	}

	/** Starts a program of this repository, with a message channel and additional environment variables. */
	fork(file: string, environment: NodeJS.ProcessEnv = {}): ChildProcess {
		const env = { ...process.env, ...environment };
		return this.#keep(fork(file, { execArgv: [], env, stdio: ["ignore", "ignore", "inherit", "ipc"] }));
	}

	spawn(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
		return this.#keep(spawn(command, args, options));
	}

	/** Kills every process that still runs, and removes the folder. May be called twice. */
	dispose(): void {
		for (const child of this.#children) child.kill("SIGKILL");
		this.#children.clear();
		rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
	}

	#keep(child: ChildProcess): ChildProcess {
		this.#children.add(child);
		child.once("exit", () => this.#children.delete(child));
		return child;
	}
}
