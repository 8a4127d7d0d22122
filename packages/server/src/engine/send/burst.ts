import { SENDS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { RequestQueue, RequestTarget } from "../../net/connections.ts";

/** An attempt to start when the turn ends. */
export interface BurstStart {
	readonly projectId: string;
	/** Starts the attempt; it may write. */
	begin(): void;
}

/** How many attempts are started between looks at the clock. */
const STARTS_PER_LOOK = 8;

/**
 * The attempts started in one turn of the event loop. They are sent together when it ends: first all are prepared and
 * signed, then all are written. No other code runs between the two. If preparing takes too long, the rest is sent in the
 * next turns, projects in turn, so that one that sends a lot doesn't delay the others.
 *
 * If they were written one by one between reads of responses, each would wake its receiver separately, and waking costs
 * more than writing on machines with few processors (docs/decisions/0020-requests-leave-in-bursts.md).
 */
export class Burst implements RequestQueue {
	#starts: BurstStart[] = [];
	#prepared: { readonly to: RequestTarget; readonly request: Buffer }[] = [];
	#preparedBytes = 0;
	readonly #clock: Pick<Clock, "elapsed" | "setImmediate">;
	readonly #onFault: (error: unknown) => void;
	#leaving = false;
	/** Whether some of the starts were left over by an earlier turn. */
	#isBehind = false;

	/**
	 * @param onFault receives anything that a start or a write throws. Neither should throw, and no other attempt is
	 *   affected
	 */
	constructor(clock: Pick<Clock, "elapsed" | "setImmediate">, onFault: (error: unknown) => void) {
		this.#clock = clock;
		this.#onFault = onFault;
	}

	/** Starts this attempt when the turn ends. */
	add(start: BurstStart): void {
		if (this.#starts.push(start) === 1) this.#clock.setImmediate(this.#leave);
	}

	/** Writes a request at the end of the current burst, or immediately if there is none. */
	write(to: RequestTarget, request: Buffer): void {
		if (!this.#leaving) {
			to.writeNow(request);
			return;
		}
		this.#prepared.push({ to, request });
		this.#preparedBytes += request.length;
		if (this.#preparedBytes >= SENDS.preparedBytes) this.#writePrepared();
	}

	readonly #leave = (): void => {
		const starts = this.#isBehind ? inTurns(this.#starts) : this.#starts;
		this.#starts = [];
		this.#leaving = true;
		const until = this.#clock.elapsed() + SENDS.prepareMsPerTurn;
		let begun = 0;
		do {
			try {
				starts[begun]!.begin();
			} catch (error) {
				this.#onFault(error);
			}
			begun++;
		} while (begun < starts.length && (begun % STARTS_PER_LOOK > 0 || this.#clock.elapsed() < until));
		this.#leaving = false;
		this.#isBehind = begun < starts.length;
		if (this.#isBehind) {
			if (this.#starts.length === 0) this.#clock.setImmediate(this.#leave);
			this.#starts.unshift(...starts.slice(begun));
		}
		this.#writePrepared();
	};

	#writePrepared(): void {
		const prepared = this.#prepared;
		this.#prepared = [];
		this.#preparedBytes = 0;
		for (const { to, request } of prepared) {
			try {
				to.writeNow(request);
			} catch (error) {
				this.#onFault(error);
			}
		}
	}
}

/** Reorders starts so that projects take turns: the first of each project, then the second of each … */
function inTurns(starts: readonly BurstStart[]): BurstStart[] {
	const rounds: BurstStart[][] = [];
	const counts = new Map<string, number>();
	for (const start of starts) {
		const round = counts.get(start.projectId) ?? 0;
		counts.set(start.projectId, round + 1);
		const others = rounds[round];
		if (others) others.push(start);
		else rounds.push([start]);
	}
	return rounds.flat();
}
