import { Signal } from "@posthorn/testkit/signal";
import { patience, within } from "@posthorn/testkit/until";
import type { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { type Storage, StorageError } from "../src/storage/port.ts";

type Method = keyof Storage;

/** Stands before an engine's storage, and has it fail or answer late when a test says so. */
export class FaultyStorage {
	/** Whether every call fails. */
	away = false;
	#underWay = 0;
	/** Looks whenever a call returns, or is held. */
	readonly #idle = new Signal();
	readonly #failures = new Map<Method, number>();
	readonly #unanswered = new Map<Method, number>();
	readonly #held = new Map<Method, HeldCall[]>();

	/** How often each method was called. */
	readonly calls = new Map<string, number>();

	/** To be handed to the rig. */
	readonly wrap = (storage: Storage): Storage => this.#before(storage);

	/** The next calls of this method fail. */
	fail(method: Method, times = 1): void {
		this.#failures.set(method, times);
	}

	/** Storage does what the next call of this method tells it, and nobody hears so: the call fails. */
	loseAnswer(method: Method): void {
		this.#unanswered.set(method, (this.#unanswered.get(method) ?? 0) + 1);
	}

	/** The next call of this method (that is not held yet) waits before storage hears of it. */
	holdCall(method: Method): HeldCall {
		return this.#hold(method, "call");
	}

	/** The answer to the next call of this method (that is not held yet) waits: storage has done what it was told. */
	holdAnswer(method: Method): HeldCall {
		return this.#hold(method, "answer");
	}

	/** Resolves once no call is under way but those that are held, and what they led to is done. */
	async quiet(): Promise<void> {
		do {
			await this.#idle.until("calls of the storage to return", () => this.#underWay === 0);
			await new Promise((resolve) => setImmediate(resolve));
		} while (this.#underWay > 0);
	}

	/** Has the clock go on, timer by timer, and waits for what each of them leads to. */
	async pass(clock: VirtualClock, ms: number): Promise<void> {
		const end = clock.elapsed() + ms;
		await this.quiet();
		const stillInTime = patience(`${ms} ms to pass`);
		for (let at = clock.nextAt; at !== null && at <= end; at = clock.nextAt) {
			stillInTime();
			clock.advanceTo(at);
			await this.quiet();
		}
		clock.advanceTo(end);
	}

	#hold(method: Method, what: HeldCall["what"]): HeldCall {
		const held = new HeldCall(what);
		this.#held.set(method, [...(this.#held.get(method) ?? []), held]);
		return held;
	}

	#before<T extends object>(object: T): T {
		return new Proxy(object, {
			get: (_, key) => {
				const value: unknown = Reflect.get(object, key, object);
				if (key === "neighbours" && value) return this.#before(value);
				if (typeof value !== "function") return value;
				if (key === "close" || key === "subscribe" || key === "onEpoch") return value.bind(object);
				return (...args: unknown[]) => this.#call(key as Method, async () => value.apply(object, args));
			},
		});
	}

	async #call(method: Method, call: () => Promise<unknown>): Promise<unknown> {
		this.#underWay += 1;
		this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
		try {
			const failures = this.#failures.get(method) ?? 0;
			if (failures > 0) this.#failures.set(method, failures - 1);
			if (this.away || failures > 0) throw new StorageError("lost", "The database is away.");
			const unanswered = this.#unanswered.get(method) ?? 0;
			if (unanswered > 0) {
				this.#unanswered.set(method, unanswered - 1);
				await call();
				throw new StorageError("lost", "The database went away before it answered.");
			}
			const held = this.#held.get(method)?.shift();
			if (!held) return await call();
			if (held.what === "call") await this.#wait(held);
			const answer = await call();
			if (held.what === "answer") await this.#wait(held);
			return answer;
		} finally {
			this.#returned();
		}
	}

	#returned(): void {
		this.#underWay -= 1;
		this.#idle.look();
	}

	async #wait(held: HeldCall): Promise<void> {
		this.#returned();
		await held.wait();
		this.#underWay += 1;
	}
}

/** A call that does not come back before the test lets it, or is over. */
export class HeldCall implements Disposable {
	readonly what: "call" | "answer";
	readonly #reached = Promise.withResolvers<void>();
	readonly #released = Promise.withResolvers<void>();

	constructor(what: "call" | "answer") {
		this.what = what;
	}

	/** Resolves when it has come this far. */
	get reached(): Promise<void> {
		return within(`the ${this.what} to be held`, this.#reached.promise);
	}

	release(): void {
		this.#released.resolve();
	}

	[Symbol.dispose](): void {
		this.release();
	}

	wait(): Promise<void> {
		this.#reached.resolve();
		return this.#released.promise;
	}
}
