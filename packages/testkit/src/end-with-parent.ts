import { type ChildProcess, spawn } from "node:child_process";

/** Outlives this process. If its input closes before a line has come, it kills the process with the given id. */
const REAPER = 'read -r line || kill -KILL "$1"';

/** Kills a child as soon as this process is gone, even if that is killed itself. Not on Windows. */
export function endWithParent(child: ChildProcess): void {
	if (child.pid === undefined || process.platform === "win32") return;
	const reaper = spawn("sh", ["-c", REAPER, "reaper", String(child.pid)], {
		stdio: ["pipe", "ignore", "ignore"],
		// A group of its own: a signal for this process's group isn't for it.
		detached: true,
	});
	reaper.stdin.on("error", () => undefined); // it may have been killed
	// It doesn't keep this process running.
	reaper.unref();
	child.once("exit", () => reaper.stdin.end("over\n"));
}
