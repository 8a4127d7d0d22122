import { readFileSync } from "node:fs";
import { basename } from "node:path";

/** How often to check, milliseconds. */
const CHECK_MS = 500;

/** Set by bin/posthorn.mjs for the newer Node that it starts. */
const OWN_LAUNCHER = "LAUNCHED_BY_POSTHORN";

/** Error codes of reading the files of a process that doesn't exist. */
const GONE: ReadonlySet<string | undefined> = new Set(["ENOENT", "ESRCH"]);

/**
 * Resolves once the program that started this one, and waits for it, is gone. `npx posthorn serve` runs npm, a shell and
 * this process. A signal to npm only ends npm and the shell, so nothing would be left that could stop the service, and its
 * database would stay in use. Never resolves for a service that was started in another way: it may outlive its shell.
 */
export function launcherGone(env: NodeJS.ProcessEnv = process.env): Promise<void> {
	const line: number[] = [];
	try {
		addLaunchers(line, env);
	} catch {
		// Watch the processes whose files are readable.
	}
	return new Promise((resolve) => {
		if (line.length === 0) return;
		const timer = setInterval(() => {
			const isThere = (pid: number, i: number) => (i === 0 ? process.ppid : parentOf(line[i - 1]!)) === pid;
			try {
				if (line.every(isThere)) return;
			} catch {
				return; // Unknown for now: the process may have run out of file descriptors.
			}
			clearInterval(timer);
			resolve();
		}, CHECK_MS).unref();
	});
}

/** Adds the processes between the user and this one, nearest first. */
function addLaunchers(line: number[], env: NodeJS.ProcessEnv): void {
	const next = () => (line.length === 0 ? process.ppid : parentOf(line.at(-1)!));
	const add = () => {
		const pid = next();
		// A process in the background may belong to init, which never ends.
		if (pid !== null && pid > 1) line.push(pid);
	};
	if (env[OWN_LAUNCHER] !== undefined) add();
	if (env.npm_command === undefined) return;
	add();
	// Some shells replace themselves by their last command, others wait for it.
	if (line.length > 0 && isShellOfNpm(line.at(-1)!)) add();
}

const isShellOfNpm = (pid: number): boolean => {
	const [shell = "", option] = readProcess(pid, "cmdline")?.split("\0") ?? [];
	return /^(?:|ba|da|a)sh$/.test(basename(shell)) && option === "-c";
};

/** Null if it is gone, or where there is no /proc: shells there replace themselves. Throws if its files can't be read. */
function parentOf(pid: number): number | null {
	const stat = readProcess(pid, "stat");
	// The second field is the program's name in parentheses, which may contain anything.
	return stat === null ? null : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function readProcess(pid: number, file: string): string | null {
	try {
		return readFileSync(`/proc/${pid}/${file}`, "utf8");
	} catch (error) {
		if (GONE.has((error as NodeJS.ErrnoException).code)) return null;
		throw error;
	}
}
