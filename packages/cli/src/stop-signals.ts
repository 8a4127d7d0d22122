/** Signals within this time of the first one are the first one: npm and a terminal may both hand it on. Milliseconds. */
const SAME_MOMENT_MS = 1_000;

export interface StopSignals {
	/** Someone asks for an end: SIGTERM, or SIGINT (Ctrl-C). */
	readonly first: Promise<NodeJS.Signals>;
	/** And once more, for they will not wait. */
	readonly second: Promise<NodeJS.Signals>;
}

/** Listens from now on to the end of the process, so that at no moment a signal ends it unasked, or goes unheard. */
export function listenForStop(): StopSignals {
	const first = Promise.withResolvers<NodeJS.Signals>();
	const second = Promise.withResolvers<NodeJS.Signals>();
	let since: number | null = null;
	const hear = (signal: NodeJS.Signals): void => {
		const now = performance.now();
		if (since === null) {
			since = now;
			first.resolve(signal);
		} else if (now - since >= SAME_MOMENT_MS) second.resolve(signal);
	};
	process.on("SIGTERM", hear);
	process.on("SIGINT", hear);
	return { first: first.promise, second: second.promise };
}
