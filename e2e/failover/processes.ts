/**
 * The cluster's processes, each with its own log. They and their children are killed when this process ends, however it
 * ends: a guard process outlives it and cleans up.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ServerUser } from "@posthorn/testkit/postgres";

/**
 * Waits until its input closes, then kills every process whose working directory is in the folder. A second round catches
 * processes forked during the first. Finally removes the folder, unless its input or its second argument says `keep`.
 */
const GUARD = `
	said=$(cat)
	for round in 1 2; do
		for process in /proc/[0-9]*; do
			case "$(readlink "$process/cwd" 2> /dev/null)" in
				"$1"|"$1"/*) kill -9 "\${process#/proc/}" 2> /dev/null ;;
			esac
		done
		sleep 0.2
	done
	[ "\${said:-$2}" = keep ] || rm -rf "$1"
`;

export class Processes {
	readonly #folder: string;
	readonly #logs: string;
	readonly #user: ServerUser;
	readonly #guard: ChildProcess;
	readonly #running = new Map<string, ChildProcess>();

	/**
	 * @param folder the working directory of every process
	 * @param logs the folder for logs, one per process, named after it
	 * @param user the user that processes run as
	 * @param keep whether the folder survives if this process is killed
	 */
	constructor(folder: string, logs: string, user: ServerUser, keep: boolean) {
		this.#folder = folder;
		this.#logs = logs;
		this.#user = user;
		mkdirSync(logs, { recursive: true });
		this.#guard = spawn("sh", ["-c", GUARD, "guard", folder, keep ? "keep" : "remove"], {
			stdio: ["pipe", "ignore", "ignore"],
			detached: true,
			cwd: "/",
		});
		this.#guard.unref();
	}

	/** Starts a program. Names can be reused once their process has ended. */
	start(name: string, program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
		const log = openSync(join(this.#logs, `${name}.log`), "a");
		const child = spawn(program, args, {
			...this.#user,
			cwd: this.#folder,
			env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", ...env },
			stdio: ["ignore", log, log],
			// Ctrl-C at a terminal must not reach it: we stop processes ourselves.
			detached: true,
		});
		closeSync(log);
		this.#running.set(name, child);
		child.once("exit", () => {
			if (this.#running.get(name) === child) this.#running.delete(name);
		});
		child.once("error", () => this.#running.delete(name));
	}

	isRunning(name: string): boolean {
		return this.#running.has(name);
	}

	signal(name: string, signal: NodeJS.Signals): void {
		this.#running.get(name)?.kill(signal);
	}

	/** Kills a process and waits for its end. Its children keep running. */
	async kill(name: string): Promise<void> {
		const child = this.#running.get(name);
		if (child === undefined) return;
		const exited = once(child, "exit");
		child.kill("SIGKILL");
		await exited;
	}

	/** The last lines of a log. */
	tail(name: string, lines = 15): string {
		const text = readFileSync(join(this.#logs, `${name}.log`), "utf8");
		return text.trimEnd().split("\n").slice(-lines).join("\n");
	}

	/** Kills everything and waits for the end. Keeps the folder. */
	async end(): Promise<void> {
		const exited = once(this.#guard, "exit");
		this.#guard.ref();
		this.#guard.stdin!.end("keep");
		await exited;
	}
}

/** A process and its children, itself first. Empty if it has ended. */
export function familyOf(pid: number): number[] {
	const parents = new Map<number, number>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const stat = readFileSync(`/proc/${name}/stat`, "utf8");
			parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
		} catch {
			// It ended in the meantime.
		}
	}
	if (!parents.has(pid)) return [];
	return [pid, ...[...parents].filter(([, parent]) => parent === pid).map(([child]) => child)];
}

/** Sends a signal to each process that still exists. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
	for (const pid of pids) {
		try {
			process.kill(pid, signal);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
		}
	}
}

/** Removes everything in the folder except the logs. */
export function removeData(folder: string, logs: string): void {
	for (const name of readdirSync(folder)) {
		const path = join(folder, name);
		if (path !== logs) rmSync(path, { recursive: true, force: true });
	}
}
