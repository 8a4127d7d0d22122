import { launcherGone } from "./launcher.ts";

/** Signals within this many milliseconds of the first count as one: npm and the terminal may both forward it. */
const SAME_MOMENT_MS = 1_000;

export interface StopSignals {
	/**
	 * The first SIGTERM, SIGINT (Ctrl-C) or SIGHUP (the terminal was closed), or the end of the program that started this
	 * one: stop gracefully.
	 */
	readonly first: Promise<NodeJS.Signals | "launcher gone">;
	/** A second signal: stop immediately. */
	readonly second: Promise<NodeJS.Signals>;
}

/** Listens until the process ends, so that none of these signals kills it or gets lost. Also ignores SIGUSR1. */
export function listenForStop(): StopSignals {
	const first = Promise.withResolvers<NodeJS.Signals | "launcher gone">();
	const second = Promise.withResolvers<NodeJS.Signals>();
	let since: number | null = null;
	const hear = (signal: NodeJS.Signals): void => {
		const now = performance.now();
		if (since === null) {
			since = now;
			first.resolve(signal);
		} else if (now - since >= SAME_MOMENT_MS) second.resolve(signal);
	};
	for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, hear);
	// By default Node opens its debugger, through which any user of the machine could run code here. Tools that rotate logs
	// send it, too.
	process.on("SIGUSR1", () => undefined);
	void launcherGone().then(() => {
		since ??= performance.now();
		first.resolve("launcher gone");
	});
	return { first: first.promise, second: second.promise };
}
