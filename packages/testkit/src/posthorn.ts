import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { endWithParent } from "./end-with-parent.ts";
import { until, within } from "./until.ts";

const COMMAND = fileURLToPath(new URL("../../cli/bin/posthorn.mjs", import.meta.url));
/**
 * The options of Node that `posthorn serve` needs. Without them, it executes itself again with them at each start, which
 * takes 60 ms of CPU time.
 */
export const SERVICE_NODE_OPTIONS: readonly string[] = JSON.parse(
	/^const V8_FLAGS = (.*);$/m.exec(readFileSync(COMMAND, "utf8"))![1]!,
);
/** What it prints once it is ready, with its version since it has one. */
const READY = /Posthorn (\S+ )?is ready/;
/** Interval between polls of its readiness, milliseconds. */
const ASK_MS = 10;
/** How much output is kept to explain why a service didn't start or stop properly, characters. */
const KEEP_OUTPUT = 16_384;

export interface PosthornOptions {
	/** Settings by variable name. The caller's own `POSTHORN_*` variables aren't passed on. */
	readonly settings: Readonly<Record<string, string>>;
	readonly cwd?: string;
	/** The path of another release's command. */
	readonly command?: string;
	/** Options for Node itself, such as `--cpu-prof`. */
	readonly nodeOptions?: readonly string[];
}

/**
 * Settings that nodes under test share: new keys, deliveries to this machine, short retry delays.
 *
 * @param caFile PEM file of the authority that issued the receivers' certificates
 */
export function settingsOfNodes(caFile: string) {
	return {
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
		POSTHORN_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
		POSTHORN_EGRESS_CA_FILE: caFile,
		POSTHORN_LOG_LEVEL: "warn",
		POSTHORN_RETRY_DELAYS: "0.2,0.2,0.2,0.2,0.2,0.2,0.2",
	};
}

/** A `posthorn serve` in a separate process, as an operator would run it. It ends when this process does, at the latest. */
export class Posthorn {
	readonly process: ChildProcess;
	readonly url: string;
	readonly #exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
	#output = "";

	private constructor(options: PosthornOptions) {
		const { POSTHORN_HOST: host = "127.0.0.1", POSTHORN_PORT: port } = options.settings;
		if (!port) throw new Error("POSTHORN_PORT is required, so that the service can be found.");
		this.url = `http://${host}:${port}`;
		const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POSTHORN_")));
		const { command = COMMAND, nodeOptions = [] } = options;
		// Another release may need other options, and executes itself again with them.
		const serviceOptions = command === COMMAND ? SERVICE_NODE_OPTIONS : [];
		this.process = spawn(process.execPath, [...nodeOptions, ...serviceOptions, command, "serve"], {
			env: { ...env, NO_COLOR: "1", ...options.settings },
			cwd: options.cwd,
			stdio: ["ignore", "pipe", "pipe"],
		});
		endWithParent(this.process);
		const keep = (text: Buffer): void => {
			this.#output = (this.#output + text.toString()).slice(-KEEP_OUTPUT);
		};
		this.process.stdout!.on("data", keep);
		this.process.stderr!.on("data", keep);
		this.#exited = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve({ code, signal })));
	}

	/** Starts it and waits until it is ready. Rejects with its output if it ends before, or takes too long. */
	static async start(options: PosthornOptions): Promise<Posthorn> {
		const service = new Posthorn(options);
		try {
			await within("posthorn serve to start", service.hasPrinted(READY));
			await until("posthorn serve to be ready", async () => {
				if (await service.#isReady()) return true;
				if (service.process.exitCode !== null) throw new Error("posthorn serve ended.");
				await new Promise((resolve) => setTimeout(resolve, ASK_MS));
				return false;
			});
		} catch (cause) {
			await service.kill();
			throw new Error(`posthorn serve was not ready:\n${service.output}`, { cause });
		}
		return service;
	}

	/** The end of its output. */
	get output(): string {
		return this.#output;
	}

	/** Resolves once it has printed this, on either of its outputs. Rejects if it ends before. */
	hasPrinted(text: RegExp): Promise<void> {
		const outputs = [this.process.stdout!, this.process.stderr!];
		return new Promise((resolve, reject) => {
			const look = (): void => {
				if (!text.test(this.#output)) return;
				for (const output of outputs) output.off("data", look);
				resolve();
			};
			for (const output of outputs) output.on("data", look);
			this.process.once("close", () => reject(new Error(`posthorn serve ended without ${text}:\n${this.output}`)));
			look();
		});
	}

	/** Ends it as `kill -9` does. */
	async kill(): Promise<void> {
		this.process.kill("SIGKILL");
		await this.#exited;
	}

	/** Asks it to stop and waits until it has. @returns its exit code */
	async stop(signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<number | null> {
		this.process.kill(signal);
		return (await within("posthorn serve to stop", this.#exited)).code;
	}

	/** Asks it to stop. Rejects with the end of its output unless it ends with this exit code. */
	async stopWith(code: number, signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<void> {
		const was = await this.stop(signal);
		if (was !== code) throw new Error(`posthorn serve ended with exit code ${was}, not ${code}:\n${this.output}`);
	}

	async #isReady(): Promise<boolean> {
		try {
			return (await fetch(`${this.url}/readyz`)).ok;
		} catch {
			return false; // not listening yet
		}
	}
}
