import { WAITERS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

/** Something came; another node took something, of whatever type; or the time is over and nobody may wait any longer. */
export type WaitEnd = "arrived" | "perhaps" | "over";

interface Waiter {
	readonly types: readonly string[] | undefined;
	readonly person: boolean;
	readonly end: (why: WaitEnd) => void;
}

/** Somebody who waits for events, from before he looks whether they are there already. */
export interface Wait {
	readonly end: Promise<WaitEnd>;
	/** Gives up. */
	cancel(): void;
}

/** Lets those wait who read a log that has nothing new, without a look at storage while nothing comes. */
export class Arrivals {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #byProject = new Map<string, Set<Waiter>>();
	#closed = false;

	constructor(clock: Pick<Clock, "setTimeout">) {
		this.#clock = clock;
	}

	/** The projects that somebody waits for. */
	get projects(): Iterable<string> {
		return this.#byProject.keys();
	}

	note(projectId: string, events: readonly { readonly type: string }[]): void {
		for (const { types, end } of this.#byProject.get(projectId) ?? [])
			if (types === undefined || events.some(({ type }) => types.includes(type))) end("arrived");
	}

	/** The project's log has grown elsewhere: whoever waits looks whether by something for him. */
	noteElsewhere(projectId: string): void {
		for (const { end } of [...(this.#byProject.get(projectId) ?? [])]) end("perhaps");
	}

	/**
	 * Null when as many wait as may.
	 *
	 * @param person whether somebody waits who is signed in, rather than a program with a key
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
		const timer = this.#clock.setTimeout(() => end("over"), ms);
		this.#byProject.set(projectId, waiters.add(waiter));
		if (this.#closed) end("over");
		return { end: promise, cancel: () => end("over") };
	}

	/** Ends every wait, and at once those that begin afterwards: for the service's end. */
	close(): void {
		this.#closed = true;
		for (const waiters of [...this.#byProject.values()]) for (const { end } of [...waiters]) end("over");
	}
}
