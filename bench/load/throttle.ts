/**
 * In each period, milliseconds, the process runs for its share. Short, because a paused node may hold rows that others
 * wait for.
 */
const PERIOD_MS = 10;

/** Limits another process to a share of the time by stopping and continuing it, as if on a slower machine. */
export class Throttle {
	readonly #pid: number;
	#timer: NodeJS.Timeout;
	#ended = false;

	/** @param share of the time, above 0 and below 1 */
	constructor(pid: number, share: number) {
		this.#pid = pid;
		const run = (): void => {
			process.kill(pid, "SIGCONT");
			this.#timer = setTimeout(rest, PERIOD_MS * share);
		};
		const rest = (): void => {
			process.kill(pid, "SIGSTOP");
			this.#timer = setTimeout(run, PERIOD_MS * (1 - share));
		};
		this.#timer = setTimeout(rest, PERIOD_MS * share);
	}

	/** Ends the limit. May be called twice. */
	end(): void {
		if (this.#ended) return;
		this.#ended = true;
		clearTimeout(this.#timer);
		process.kill(this.#pid, "SIGCONT");
	}
}
