import { Signal } from "@posthorn/testkit/signal";
import { patience, within } from "@posthorn/testkit/until";
import type { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { type PeerStorage, type Storage, StorageError } from "../src/storage/port.ts";
import { diskQuiet, isDiskWaiting } from "./disk-clock.ts";

type Method = keyof Storage | keyof PeerStorage;

/** Wraps an engine's storage, and makes calls fail or return late on request. */
export class FaultyStorage {
	/** Whether every call fails. */
	away = false;
	#underWay = 0;
	/** Called whenever a call returns or is held. */
	readonly #idle = new Signal();
	readonly #failures = new Map<Method, number>();
	readonly #unanswered = new Map<Method, number>();
	readonly #held = new Map<Method, HeldCall[]>();

	/** How often each method was called. */
	readonly calls = new Map<string, number>();

	/** Pass this to the rig. */
	readonly wrap = (storage: Storage): Storage => this.#before(storage);

	/** Makes the next calls of this method fail. */
	fail(method: Method, times = 1): void {
		this.#failures.set(method, times);
	}

	/** Storage applies the next call of this method, but the call fails as if its response were lost. */
	loseAnswer(method: Method): void {
		this.#unanswered.set(method, (this.#unanswered.get(method) ?? 0) + 1);
	}

	/** Holds the next call of this method (that isn't held yet) before storage gets it. */
	holdCall(method: Method): HeldCall {
		return this.#hold(method, "call");
	}

	/** Holds the result of the next call of this method (that isn't held yet): storage has applied it. */
	holdResult(method: Method): HeldCall {
		return this.#hold(method, "answer");
	}

	/** Resolves once only held calls are pending, and everything that the others triggered is done. */
	async quiet(): Promise<void> {
		do {
			await this.#idle.until("storage calls to return", () => this.#underWay === 0);
			await diskQuiet();
			await new Promise((resolve) => setImmediate(resolve));
		} while (this.#underWay > 0 || isDiskWaiting());
	}

	/** Advances the clock timer by timer, and waits for what each one triggers. */
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
				if (key === "peers" && value) return this.#before(value);
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

/** A call that returns only when the test releases it, or when it ends. */
class HeldCall implements Disposable {
	readonly what: "call" | "answer";
	readonly #reached = Promise.withResolvers<void>();
	readonly #released = Promise.withResolvers<void>();

	constructor(what: "call" | "answer") {
		this.what = what;
	}

	/** Resolves when the call has come this far. */
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
