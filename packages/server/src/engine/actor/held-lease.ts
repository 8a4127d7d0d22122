import type { Moment, Timer } from "../../base/clock.ts";
import type { Lease } from "../../storage/port.ts";
import { type ActorContext, isTrusted } from "./context.ts";

/** The lease of a project at work, and how long this node relies on it. */
export class HeldLease {
	readonly #context: Pick<ActorContext, "clock" | "leaseTermMs">;
	#lease: Lease;
	/** When it was asked for, or renewed. */
	#askedAt: Moment;
	/** Until this monotonic time, another node may still use a lease that the database has lost. */
	#opensAt = 0;
	#opening: Timer | null = null;

	constructor(context: Pick<ActorContext, "clock" | "leaseTermMs">, lease: Lease, asked: Moment) {
		this.#context = context;
		this.#lease = lease;
		this.#askedAt = asked;
	}

	get current(): Lease {
		return this.#lease;
	}

	/** Whether nobody else may work the project now. */
	get isTrusted(): boolean {
		return !this.isSuspended && isTrusted(this.#context, this.#askedAt);
	}

	/** Whether another node may still use a lease that the database has lost. */
	get isSuspended(): boolean {
		return this.#opensAt > 0 && this.#context.clock.elapsed() < this.#opensAt;
	}

	/** It was renewed. @returns whether it was not trusted meanwhile */
	renewed(lease: Lease, asked: Moment): boolean {
		const lapsed = !this.isTrusted;
		this.#lease = lease;
		this.#askedAt = asked;
		return lapsed;
	}

	/**
	 * The database is in another epoch, where the lease has another generation.
	 *
	 * @param waitMs how long it is suspended, unless it is trusted
	 * @param open called when that is over
	 */
	continueAs(lease: Lease, waitMs: number, open: () => void): void {
		this.#lease = lease;
		if (this.isTrusted) return;
		const { clock } = this.#context;
		this.#opensAt = clock.elapsed() + waitMs;
		this.end();
		this.#opening = clock.setTimeout(() => {
			// Timers may fire a moment early.
			this.#opensAt = 0;
			open();
		}, waitMs);
	}

	end(): void {
		this.#opening?.cancel();
	}
}
