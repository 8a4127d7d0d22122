import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const COMMAND = fileURLToPath(new URL("../../cli/bin/posthorn.mjs", import.meta.url));
/** Output kept to tell why a service did not start, characters. */
const KEEP_OUTPUT = 16_384;

export interface PosthornOptions {
	/** Settings by variable name. The caller's own `POSTHORN_*` variables are not handed on. */
	readonly settings: Readonly<Record<string, string>>;
	readonly cwd?: string;
	/** Options for Node itself, such as `--cpu-prof`. */
	readonly nodeOptions?: readonly string[];
}

/** A `posthorn serve` in a process of its own, as an operator would run it. */
export class Posthorn {
	readonly process: ChildProcess;
	readonly url: string;
	readonly #exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
	#output = "";

	private constructor(options: PosthornOptions) {
		const { POSTHORN_HOST: host = "127.0.0.1", POSTHORN_PORT: port } = options.settings;
		if (!port) throw new Error("POSTHORN_PORT must be given, so that the service can be found.");
		this.url = `http://${host}:${port}`;
		const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POSTHORN_")));
		this.process = spawn(process.execPath, [...(options.nodeOptions ?? []), COMMAND, "serve"], {
			env: { ...env, ...options.settings },
			cwd: options.cwd,
			stdio: ["ignore", "pipe", "pipe"],
		});
		const keep = (text: Buffer): void => {
			this.#output = (this.#output + text.toString()).slice(-KEEP_OUTPUT);
		};
		this.process.stdout!.on("data", keep);
		this.process.stderr!.on("data", keep);
		this.#exited = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve({ code, signal })));
	}

	/** Starts it and waits until it is ready to serve. Rejects with what it printed if it ends before. */
	static async start(options: PosthornOptions): Promise<Posthorn> {
		const service = new Posthorn(options);
		let ended = false;
		void service.#exited.then(() => {
			ended = true;
		});
		while (!(await service.#isReady())) {
			if (ended) throw new Error(`posthorn serve ended before it was ready:\n${service.output}`);
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		return service;
	}

	/** The end of what it printed. */
	get output(): string {
		return this.#output;
	}

	/** Ends it as `kill -9` does. */
	async kill(): Promise<void> {
		this.process.kill("SIGKILL");
		await this.#exited;
	}

	/** Asks it to stop and waits until it has. @returns its exit code */
	async stop(signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<number | null> {
		this.process.kill(signal);
		return (await this.#exited).code;
	}

	async #isReady(): Promise<boolean> {
		try {
			return (await fetch(`${this.url}/readyz`)).ok;
		} catch {
			return false; // nobody listens yet
		}
	}
}
