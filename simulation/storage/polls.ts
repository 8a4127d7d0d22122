/**
 * Nodes ask their database again and again whether there is work, and each call takes real time. A poll that would find
 * what it found before isn't made: no other call has been made since, and no alarm or lease can have run out.
 */
import type { Params, Share, Storage } from "../../packages/server/src/storage/port.ts";

/** Calls that change nothing, unless they take a lease. */
const POLLS: ReadonlySet<string | symbol> = new Set(["nextAlarm", "acquireLeases", "readMarks", "share"]);

/** What a poll answered. */
interface Known {
	readonly method: string;
	readonly answer: unknown;
	/** Milliseconds since the Unix epoch. */
	readonly askedAt: number;
}

export class Polls {
	readonly #now: () => number;
	readonly #leaseTermMs: number;
	/** Since the last change. */
	readonly #known = new Map<string, Known>();
	#nodes = 0;
	#changes = 0;
	#changing = 0;
	#changedAt = 0;

	/** @param now the clock of leases and alarms; milliseconds since the Unix epoch */
	constructor(now: () => number, leaseTermMs: number) {
		this.#now = now;
		this.#leaseTermMs = leaseTermMs;
	}

	/** A node's storage, which passes polls on only if they may find something new. */
	opened(storage: Storage): Storage {
		this.#nodes += 1;
		this.changed();
		return this.#watch(storage);
	}

	closed(): void {
		this.#nodes -= 1;
		this.changed();
	}

	/** The database, or what is locked in it, is not what it was. */
	changed(): void {
		this.#changes += 1;
		this.#changedAt = this.#now();
		this.#known.clear();
	}

	#watch<T extends object>(object: T): T {
		return new Proxy(object, {
			get: (_, key) => {
				const value: unknown = Reflect.get(object, key, object);
				if (key === "peers" && value !== null) return this.#watch(value as object);
				if (typeof value !== "function") return value;
				return (...args: unknown[]) => {
					const call = () => value.apply(object, args);
					const isNamed = key === "acquireLeases" && (args[0] as Params<"acquireLeases">).projectIds !== undefined;
					const isPoll = POLLS.has(key) && !isNamed;
					return isPoll ? this.#poll(key as string, args, call) : this.#change(call);
				};
			},
		});
	}

	async #poll(method: string, args: readonly unknown[], ask: () => Promise<unknown>): Promise<unknown> {
		const key = JSON.stringify([method, ...args]);
		const known = this.#known.get(key);
		if (known && this.#holds(known)) return known.answer;
		const [changes, askedAt] = [this.#changes, this.#now()];
		const answer = await ask();
		if (method === "acquireLeases" && (answer as readonly unknown[]).length > 0) this.changed();
		else if (this.#changes === changes && this.#changing === 0) this.#known.set(key, { method, answer, askedAt });
		return answer;
	}

	#change(call: () => unknown): unknown {
		this.changed();
		const result = call();
		if (!(result instanceof Promise)) return result;
		this.#changing += 1;
		return result.finally(() => {
			this.#changing -= 1;
			this.changed();
		});
	}

	/** Whether it would answer the same now. */
	#holds({ method, answer, askedAt }: Known): boolean {
		const isYoung = this.#now() - askedAt <= this.#leaseTermMs / 2;
		// Leases that weren't renewed had ended by then.
		const isSettled = askedAt - this.#changedAt > this.#leaseTermMs;
		const alarm =
			method === "share"
				? (answer as Share).nextAlarm
				: (this.#known.get(JSON.stringify(["nextAlarm"]))?.answer as number | null | undefined);
		const isQuiet = alarm !== undefined && (alarm === null || alarm > this.#now());
		switch (method) {
			case "readMarks":
				return true;
			case "share":
				// It counts projects that are due, and tells other nodes that this one lives.
				return isQuiet && (isYoung || (isSettled && this.#nodes === 1));
			default:
				return isQuiet && (isYoung || isSettled);
		}
	}
}
