import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Outlives this process. If its input closes before a line has come, it kills the process that it is for. */
const UNDERTAKER = 'read -r line || kill -KILL "$1"';

/** Kills a child as soon as this process is gone, even if that is killed itself. Not on Windows. */
export function endWithParent(child: ChildProcess): void {
	if (child.pid === undefined || process.platform === "win32") return;
	const undertaker = spawn("sh", ["-c", UNDERTAKER, "undertaker", String(child.pid)], {
		stdio: ["pipe", "ignore", "ignore"],
		// A group of its own: a signal for this process's group isn't for it.
		detached: true,
	});
	undertaker.stdin.on("error", () => undefined); // someone has ended it
	// Neither keeps this process running.
	undertaker.unref();
	(undertaker.stdin as Socket).unref();
	child.once("exit", () => undertaker.stdin.end("over\n"));
}
