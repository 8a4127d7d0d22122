import { havePassed, type Moment, type Timer } from "../../base/clock.ts";
import type { Lease } from "../../storage/port.ts";
import type { ActorContext } from "./context.ts";

/** The fraction of a lease's duration for which it is trusted. */
const TRUSTED_PART = 0.8;

/**
 * Whether this node still trusts a lease that it requested (or renewed) at `since`. Trust ends a margin before the
 * lease does in storage, so that this node stops before another may start.
 */
export function isTrusted({ clock, leaseTermMs }: Pick<ActorContext, "clock" | "leaseTermMs">, since: Moment): boolean {
	return !havePassed(clock, leaseTermMs * TRUSTED_PART, since);
}

/** The lease of a running project, and how long this node relies on it. */
export class HeldLease {
	readonly #context: Pick<ActorContext, "clock" | "leaseTermMs">;
	#lease: Lease;
	/** A moment before the request to take or renew the lease. */
	#since: Moment;
	/** Until this monotonic time, another node may still use a lease that the database has lost. */
	#opensAt = 0;
	#opening: Timer | null = null;

	constructor(context: Pick<ActorContext, "clock" | "leaseTermMs">, lease: Lease, since: Moment) {
		this.#context = context;
		this.#lease = lease;
		this.#since = since;
	}

	get current(): Lease {
		return this.#lease;
	}

	/** Whether no other node may run the project now. */
	get isTrusted(): boolean {
		return !this.isSuspended && isTrusted(this.#context, this.#since);
	}

	/** Whether another node may still use a lease that the database has lost. */
	get isSuspended(): boolean {
		return this.#opensAt > 0 && this.#context.clock.elapsed() < this.#opensAt;
	}

	/** The lease was renewed. @returns whether it had stopped being trusted */
	renewed(lease: Lease, since: Moment): boolean {
		const lapsed = !this.isTrusted;
		this.#lease = lease;
		this.#since = since;
		return lapsed;
	}

	/**
	 * The database is in a new epoch, in which the lease has a new generation.
	 *
	 * @param waitMs how long the lease is suspended, unless it is trusted
	 * @param open called when the suspension ends
	 */
	continueAs(lease: Lease, waitMs: number, open: () => void): void {
		this.#lease = lease;
		if (this.isTrusted) return;
		const { clock } = this.#context;
		this.#opensAt = clock.elapsed() + waitMs;
		this.end();
		this.#opening = clock.setTimeout(() => {
			// Timers may fire slightly early.
			this.#opensAt = 0;
			open();
		}, waitMs);
	}

	end(): void {
		this.#opening?.cancel();
	}
}
