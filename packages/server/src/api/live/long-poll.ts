import { WAITERS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

/** An event was published; the caller must check for itself; or it may not wait any longer. */
export type WaitEnd = "published" | "recheck" | "timeout";

interface Waiter {
	readonly types: readonly string[] | undefined;
	readonly person: boolean;
	readonly end: (why: WaitEnd) => void;
}

/** A call waiting for events, registered before it checks whether there already are some. */
export interface Wait {
	readonly end: Promise<WaitEnd>;
	/** Stops waiting. */
	cancel(): void;
}

/** Lets readers of a log without new events wait, without querying storage until something arrives. */
export class LongPolls {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #byProject = new Map<string, Set<Waiter>>();
	#closed = false;

	constructor(clock: Pick<Clock, "setTimeout">) {
		this.#clock = clock;
	}

	/** The projects that have waiting calls. */
	get projects(): Iterable<string> {
		return this.#byProject.keys();
	}

	isWaitedFor(projectId: string): boolean {
		return this.#byProject.has(projectId);
	}

	published(projectId: string, events: readonly { readonly type: string }[]): void {
		for (const { types, end } of this.#byProject.get(projectId) ?? [])
			if (types === undefined || events.some(({ type }) => types.includes(type))) end("published");
	}

	/** Another node has appended to the project's log: each waiting call checks for its own events. */
	recheck(projectId: string): void {
		for (const { end } of [...(this.#byProject.get(projectId) ?? [])]) end("recheck");
	}

	/**
	 * Null if the maximum number of calls is already waiting.
	 *
	 * @param person whether a signed-in user waits, rather than a program with a key
	 */
	wait(projectId: string, types: readonly string[] | undefined, ms: number, person = false): Wait | null {
		const waiters = this.#byProject.get(projectId) ?? new Set();
		if (waiters.size >= WAITERS.calls) return null;
		if (person && [...waiters].filter((each) => each.person).length >= WAITERS.callsOfPeople) return null;
		const { promise, resolve } = Promise.withResolvers<WaitEnd>();
		const end = (why: WaitEnd): void => {
			timer.cancel();
			waiters.delete(waiter);
			if (waiters.size === 0 && this.#byProject.get(projectId) === waiters) this.#byProject.delete(projectId);
			resolve(why);
		};
		const waiter = { types, person, end };
		const timer = this.#clock.setTimeout(() => end("timeout"), ms);
		this.#byProject.set(projectId, waiters.add(waiter));
		if (this.#closed) end("timeout");
		return { end: promise, cancel: () => end("timeout") };
	}

	/** Ends every wait; later ones end immediately. For shutdown. */
	close(): void {
		this.#closed = true;
		for (const waiters of [...this.#byProject.values()]) for (const { end } of [...waiters]) end("timeout");
	}
}
