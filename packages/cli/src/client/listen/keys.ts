/** The keys that `posthorn listen` takes at a terminal. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Whether keys that are pressed come here. A shell that started this command with `&` keeps them, and a process in the
 * background that changes its terminal is stopped.
 */
export const hasKeys = (): boolean => process.stdin.isTTY === true && !isInBackground();

function isInBackground(): boolean {
	try {
		if (process.platform === "win32") return false;
		if (process.platform !== "linux") {
			const state = execFileSync("ps", ["-o", "stat=", "-p", String(process.pid)], { encoding: "utf8" });
			return !state.includes("+");
		}
		const text = readFileSync("/proc/self/stat", "latin1");
		// Of the fields after the name, which ends with the last parenthesis: proc_pid_stat(5).
		const [, , group, , , foreground] = text.slice(text.lastIndexOf(")") + 2).split(" ");
		// Otherwise it isn't this session's terminal.
		return Number(foreground) > 0 && foreground !== group;
	} catch {
		return false;
	}
}

/** Calls back for single keys, if they come here. @returns a function that gives the terminal back */
export function watchKeys(keys: Readonly<Record<string, () => void>>): () => void {
	const { stdin } = process;
	if (!hasKeys()) return () => {};
	const CTRL_C = "\u0003";
	const hear = (text: Buffer): void => {
		for (const key of text.toString()) {
			if (key === CTRL_C) process.kill(process.pid, "SIGINT");
			else keys[key.toLowerCase()]?.();
		}
	};
	stdin.setRawMode(true).on("data", hear).resume();
	return () => {
		stdin.setRawMode(false).off("data", hear).pause();
	};
}
