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
	readonly #onTrusted: () => void;
	#lease: Lease;
	/** A moment before the request to take or renew the lease. */
	#since: Moment;
	/**
	 * Whether it was found untrusted since it was last renewed. Work that wasn't started because of that waits for the next
	 * renewal, even if the clock was only wrong for a moment and the lease is trusted again.
	 */
	#wasUntrusted = false;
	/** Runs while another node may still use a lease that the database has lost. */
	#suspension: Timer | null = null;

	/** @param onTrusted called when the lease may be trusted again: after a late renewal, and when a suspension ends */
	constructor(
		context: Pick<ActorContext, "clock" | "leaseTermMs">,
		lease: Lease,
		since: Moment,
		onTrusted: () => void,
	) {
		this.#context = context;
		this.#lease = lease;
		this.#since = since;
		this.#onTrusted = onTrusted;
	}

	get current(): Lease {
		return this.#lease;
	}

	get projectId(): string {
		return this.#lease.projectId;
	}

	get generation(): number {
		return this.#lease.generation;
	}

	/** Whether no other node may run the project now. Remembers a "no" until the next renewal. */
	get isTrusted(): boolean {
		if (!this.isSuspended && isTrusted(this.#context, this.#since)) return true;
		this.#wasUntrusted = true;
		return false;
	}

	/** Whether another node may still use a lease that the database has lost. Until then the actor settles, but sends nothing. */
	get isSuspended(): boolean {
		return this.#suspension !== null;
	}

	renewed(lease: Lease, since: Moment): void {
		const lapsed = !this.isTrusted || this.#wasUntrusted;
		this.#lease = lease;
		this.#since = since;
		this.#wasUntrusted = false;
		if (lapsed) this.#onTrusted();
	}

	/**
	 * The database is in a new epoch and still has everything that the actor claimed. From now on it uses this lease, and
	 * settles uncommitted outcomes under its generation. Unless the lease is trusted, nothing is sent for `waitMs`.
	 */
	continueAs(lease: Lease, waitMs: number): void {
		this.#lease = lease;
		if (this.isTrusted) return;
		this.end();
		this.#suspension = this.#context.clock.setTimeout(() => {
			this.#suspension = null;
			this.#onTrusted();
		}, waitMs);
	}

	end(): void {
		this.#suspension?.cancel();
	}
}
