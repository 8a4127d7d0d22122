/** The keys that `posthorn listen` takes at a terminal. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { emitKeypressEvents, type Key } from "node:readline";

/**
 * Whether this process receives the keys that are pressed. If a shell started it with `&`, the shell does, and the
 * system stops a background process that changes its terminal.
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

/** Calls back for single keys, if this process receives them. @returns a function that restores the terminal */
export function watchKeys(keys: Readonly<Record<string, () => void>>): () => void {
	const { stdin } = process;
	if (!hasKeys()) return () => {};
	// Other keys, such as F2, send several characters, among them these.
	const onKey = (_text: string | undefined, { name, ctrl, meta }: Key): void => {
		if (ctrl && name === "c") process.kill(process.pid, "SIGINT");
		else if (name !== undefined && !ctrl && !meta) keys[name]?.();
	};
	emitKeypressEvents(stdin);
	stdin.setRawMode(true).on("keypress", onKey).resume();
	return () => {
		stdin.setRawMode(false).off("keypress", onKey).pause();
	};
}
