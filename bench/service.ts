import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SERVICE_NODE_OPTIONS, unusedPort } from "@posthorn/testkit";
import type { PostgresServer } from "@posthorn/testkit/postgres";
import { Api } from "./load/api.ts";
import type { Workspace } from "./workspace.ts";

/** This checkout's command. */
export const PROGRAM = fileURLToPath(new URL("../packages/cli/bin/posthorn.mjs", import.meta.url));
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 20;
/** Lines of the service's log that an error quotes. */
const LOG_LINES = 20;

export interface ServiceOptions {
	/** PEM file with the receiver's certificate authority. */
	readonly caFile: string;
	/** A server on which to create a database; null for SQLite. */
	readonly postgres: PostgresServer | null;
	/** A folder for CPU profiles of the service's threads; null for none. */
	readonly profileFolder: string | null;
	/** The program to start, if not this checkout's. */
	readonly program?: string;
	/** Environment variables that add to or replace those of {@link Service.start}. */
	readonly settings?: Readonly<Record<string, string>>;
}

/** `posthorn serve` as users run it, with its own database and otherwise default settings. */
export class Service {
	readonly api: Api;
	readonly pid: number;
	readonly #child: ChildProcess;
	readonly #folder: string;
	readonly #logFile: string;

	private constructor(child: ChildProcess, api: Api, folder: string, logFile: string) {
		if (child.pid === undefined) throw new Error(`${PROGRAM} could not be started.`);
		this.pid = child.pid;
		this.api = api;
		this.#child = child;
		this.#folder = folder;
		this.#logFile = logFile;
	}

	/** Resolves when the service is ready; rejects with the end of its log if that takes too long. */
	static async start(workspace: Workspace, options: ServiceOptions): Promise<Service> {
		const folder = workspace.makeFolder("service");
		const logFile = join(folder, "service.log");
		const key = options.settings?.POSTHORN_OPERATOR_KEY ?? randomBytes(24).toString("hex");
		const port = await unusedPort();
		const log = openSync(logFile, "w");
		const url =
			options.settings?.POSTHORN_DATABASE_URL ??
			(await options.postgres?.createDatabase()) ??
			`sqlite:${join(folder, "posthorn.db")}`;
		// With the flags that the command would otherwise add by starting itself again, which ends a profile.
		const profile =
			options.profileFolder === null
				? []
				: [...SERVICE_NODE_OPTIONS, "--cpu-prof", `--cpu-prof-dir=${options.profileFolder}`];
		const child = workspace.spawn(process.execPath, [...profile, options.program ?? PROGRAM, "serve"], {
			cwd: folder,
			stdio: ["ignore", log, log],
			env: {
				...withoutSettings(process.env),
				POSTHORN_HOST: "127.0.0.1",
				POSTHORN_PORT: String(port),
				POSTHORN_DATABASE_URL: url,
				POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
				POSTHORN_OPERATOR_KEY: key,
				POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
				POSTHORN_EGRESS_CA_FILE: options.caFile,
				POSTHORN_LOG_LEVEL: "warn",
				...options.settings,
			},
		});
		closeSync(log);
		const service = new Service(child, new Api(`http://127.0.0.1:${port}`, key), folder, logFile);
		await service.#ready();
		return service;
	}

	/** User and system time that the process has used so far, microseconds. Null without /proc. */
	cpuMicros(): number | null {
		const stat = readProc(this.pid, "stat");
		if (stat === null) return null;
		// The second field, the command in brackets, may contain spaces. Fields 14 and 15 count ticks of 10 ms.
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return (Number(fields[11]) + Number(fields[12])) * 10_000;
	}

	/** The same by thread, by name: V8 has several threads of one name. Linux only. */
	threadMicros(): Map<string, number> {
		const micros = new Map<string, number>();
		for (const task of readdirSync(`/proc/${this.pid}/task`)) {
			const [stat, name] = [`task/${task}/stat`, `task/${task}/comm`].map((file) => readProc(this.pid, file) ?? "");
			const fields = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ");
			const thread = Number(task) === this.pid ? "main" : name!.trim();
			micros.set(thread, (micros.get(thread) ?? 0) + (Number(fields[11]) + Number(fields[12])) * 10_000);
		}
		return micros;
	}

	/** The process's resident memory, MB (10⁶ bytes). Null without /proc. */
	residentMb(): number | null {
		const kibibytes = readProc(this.pid, "status")?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
		return kibibytes === undefined ? null : (Number(kibibytes) * 1_024) / 1e6;
	}

	get isRunning(): boolean {
		return this.#child.exitCode === null && this.#child.signalCode === null;
	}

	/** An error with the end of the service's log. */
	failure(what: string): Error {
		const lines = readFileSync(this.#logFile, "utf8").trimEnd().split("\n").slice(-LOG_LINES);
		return new Error(`${what} The end of its log:\n${lines.join("\n")}`);
	}

	/**
	 * Stops the service, waits for it, and removes its folder. Otherwise parts of its database that aren't on disk yet would
	 * be written during the next measurement.
	 */
	async stop(): Promise<void> {
		await this.api.close();
		if (this.isRunning) {
			const exited = once(this.#child, "exit");
			this.#child.kill("SIGTERM");
			const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_TIMEOUT_MS);
			await exited;
			clearTimeout(timer);
		}
		rmSync(this.#folder, { recursive: true, force: true });
	}

	async #ready(): Promise<void> {
		const deadline = performance.now() + START_TIMEOUT_MS;
		let refusal = "";
		while (this.isRunning && performance.now() < deadline) {
			try {
				if (await this.api.isReady()) return;
			} catch (error) {
				refusal = String(error);
			}
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
		}
		const { exitCode, signalCode } = this.#child;
		if (!this.isRunning) throw this.failure(`The service ended before it was ready (${signalCode ?? exitCode}).`);
		throw this.failure(`The service was not ready within ${START_TIMEOUT_MS / 1_000} s (${refusal}).`);
	}
}

function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("POSTHORN_")));
}

function readProc(pid: number, file: string): string | null {
	if (process.platform !== "linux") return null;
	return readFileSync(`/proc/${pid}/${file}`, "utf8");
}
