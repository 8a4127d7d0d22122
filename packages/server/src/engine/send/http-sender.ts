import { RECEIVERS, SENDS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { Burst, type BurstStart } from "./burst.ts";
import type { Connection } from "./connection.ts";
import { Connections } from "./connections.ts";
import { Deadlines, type HasDeadline } from "./deadlines.ts";
import { createDialer, type Dialer } from "./dial.ts";
import { asError, reasonOf, ShortageFailure, shortageOf } from "./errors.ts";
import { Exchange, type ExchangeEnd, type ExchangeOwner } from "./exchange.ts";
import type { Guard } from "./guard.ts";
import type { Sent } from "./outcome.ts";
import { createDestination, createRequestWriter, type Destination, type RequestWriter } from "./request-writer.ts";
import { createResolver, type Resolver, timeoutWithin } from "./resolver.ts";
import type { Sender, Shipment, Target } from "./sender.ts";
import { Shortages } from "./shortages.ts";

export interface HttpSenderOptions {
	readonly clock: Clock;
	readonly guard: Guard;
	/** The machine's name servers unless given. */
	readonly resolver?: Resolver | undefined;
	/** Makes the connections; over TLS to what the resolver finds, unless given. */
	readonly dialer?: Dialer | undefined;
	/** The word in the header names and the user agent. */
	readonly brand: string;
	/**
	 * How long an attempt may take from its start to the receiver's status line, DNS and TLS included, milliseconds. Its wait
	 * for a turn to connect doesn't count: that is not the receiver's doing.
	 */
	readonly timeoutMs: number;
	/** PEM with certificate authorities to trust besides the machine's. */
	readonly extraCa?: string | undefined;
	/** Connections kept open between sends, {@link SENDS.idleConnections} unless given. */
	readonly idleConnections?: number | undefined;
	/** What this node is short of: shared with the engine, of its own unless given. */
	readonly shortages?: Shortages | undefined;
	/** Told the original error of every outcome `sender_failed`, to be logged. */
	onFault(error: unknown): void;
}

type Settings = HttpSenderOptions & {
	readonly writer: RequestWriter;
	readonly shortages: Shortages;
	readonly deadlines: Deadlines;
};

/** The sender over HTTPS. */
export function createHttpSender(options: HttpSenderOptions): Sender & { readonly idleConnections: number } {
	const { clock, guard, brand } = options;
	const shortages = options.shortages ?? new Shortages(clock);
	const timeoutMs = timeoutWithin(options.timeoutMs);
	const resolver = options.resolver ?? createResolver({ guard, clock, timeoutMs, shortages });
	const dialer = options.dialer ?? createDialer({ guard, resolver, clock, extraCa: options.extraCa, shortages });
	const burst = new Burst(clock, options.onFault);
	const connections = new Connections({ dialer, burst, clock }, options.idleConnections ?? SENDS.idleConnections);
	const deadlines = new Deadlines(clock, options.timeoutMs);
	const settings: Settings = { ...options, shortages, deadlines, writer: createRequestWriter(brand, clock) };
	return {
		send: (shipment) =>
			new Promise((resolve) => {
				burst.add(new Attempt(shipment, settings, connections, resolve));
			}),
		close: async () => connections.close(),
		get idleConnections() {
			return connections.idleCount;
		},
	};
}

/**
 * One attempt: mostly one exchange. Another follows, within the same deadline, where the first was withdrawn because the
 * webhook's URL had changed, and at most once where a kept-alive connection turned out to be closed by the receiver: such
 * a failure says nothing about the receiver, which never saw the request.
 *
 * It ends once, whatever is thrown on the way: by its deadline at the latest. The deadline moves on by as much as it waited
 * for its turn to connect. That wait is bounded by the sends in flight: each of them needs one turn.
 */
class Attempt implements ExchangeOwner, BurstStart, HasDeadline {
	readonly #shipment: Shipment;
	readonly #options: Settings;
	readonly #connections: Connections;
	readonly #resolve: (outcome: Sent) => void;
	readonly #startedAt: number;
	dueAt = 0;
	earlier: HasDeadline | null = null;
	later: HasDeadline | null = null;
	#grace: Timer | null = null;
	/** When something of an unfinished response was read last; null while there is none. */
	#readAt: number | null = null;
	#exchange: Exchange | null = null;
	#freshOnly = false;
	/** For turns to connect, in exchanges before this one. */
	#waitedBeforeMs = 0;
	/** How much of its waiting was added to its time. */
	#extendedMs = 0;
	#extension: Timer | null = null;
	#over = false;

	constructor(shipment: Shipment, options: Settings, connections: Connections, resolve: (outcome: Sent) => void) {
		this.#shipment = shipment;
		this.#options = options;
		this.#connections = connections;
		this.#resolve = resolve;
		this.#startedAt = options.clock.now();
	}

	begin(): void {
		try {
			this.#options.deadlines.add(this);
		} catch (error) {
			this.#fail(error);
			return;
		}
		this.#try();
	}

	awaitsBody(): void {
		this.#readAt = this.#options.clock.now();
		this.#grace ??= this.#options.clock.setTimeout(() => this.#cutNow(), RECEIVERS.bodyMs);
	}

	exchangeEnded(end: ExchangeEnd, connection: Connection): void {
		try {
			if (connection.isOpen) this.#connections.release(connection);
			if (end.kind === "answered") {
				const { kind, status, body, truncated, request } = end;
				// A body that did not end was waited for in vain: that time is not the receiver's response time.
				const endedAt = this.#endedAt(truncated ? this.#readAt : null);
				const waitedMs = this.#waitedUntil(endedAt);
				this.#end({ kind, status, body, truncated, startedAt: this.#startedAt, endedAt, waitedMs, request });
			} else if (end.kind === "withheld") {
				this.#end(end);
			} else if (end.kind === "failed" && !(end.stale && !this.#freshOnly)) {
				this.#fail(end.error);
			} else {
				this.#freshOnly ||= end.kind === "failed";
				this.#try();
			}
		} catch (error) {
			this.#fail(error);
		}
	}

	/** Its time is up, unless some of it was spent waiting for a turn to connect. */
	cut(): void {
		const waitedMs = this.#waitedMs;
		const moreMs = waitedMs - this.#extendedMs;
		if (moreMs <= 0) {
			this.#cutNow();
			return;
		}
		this.#extendedMs = waitedMs;
		this.#extension = this.#options.clock.setTimeout(() => this.cut(), moreMs);
	}

	#cutNow(): void {
		try {
			this.#exchange?.cut();
		} catch (error) {
			this.#fail(error);
		}
	}

	#try(): void {
		this.#waitedBeforeMs = this.#waitedMs;
		this.#exchange = null;
		try {
			const { brand, writer } = this.#options;
			const { target } = this.#shipment;
			const destination = destinationOf(target, brand);
			const connection = this.#freshOnly
				? this.#connections.open(destination, target.projectId)
				: this.#connections.acquire(destination, target.projectId);
			this.#exchange = new Exchange(this.#shipment, destination, connection, writer, this);
			this.#exchange.begin();
		} catch (error) {
			// Closes the connection, if there is one.
			(this.#exchange as Exchange | null)?.failed(asError(error));
			this.#fail(error);
		}
	}

	#fail(error: unknown): void {
		if (this.#over) return;
		const shortage = shortageOf(error);
		if (shortage !== null) {
			this.#options.shortages.met(shortage, !(error instanceof ShortageFailure) || error.tried);
			this.#end({ kind: "deferred", shortage });
			return;
		}
		const reason = reasonOf(error);
		const { url = this.#shipment.target.url, request = null } = this.#exchange ?? {};
		const startedAt = this.#startedAt;
		const endedAt = this.#endedAt();
		const waitedMs = this.#waitedUntil(endedAt);
		this.#end({ kind: "unanswered", reason: reason ?? "sender_failed", startedAt, endedAt, waitedMs, url, request });
		if (reason === null) this.#tell(error);
	}

	#tell(fault: unknown): void {
		try {
			this.#options.onFault(fault);
		} catch {
			// What cannot be logged must not become a fault of its own.
		}
	}

	#end(outcome: Sent): void {
		if (this.#over) return;
		this.#over = true;
		this.#resolve(outcome);
		this.#options.deadlines.remove(this);
		this.#extension?.cancel();
		this.#grace?.cancel();
	}

	/** For turns to connect, so far, milliseconds. */
	get #waitedMs(): number {
		return this.#waitedBeforeMs + (this.#exchange?.waitedMs ?? 0);
	}

	/** A clock that was set back meanwhile must not make an attempt end before it began. */
	#endedAt(over: number | null = null): number {
		return Math.max(this.#startedAt, over ?? this.#options.clock.now());
	}

	#waitedUntil(endedAt: number): number {
		return Math.min(Math.floor(this.#waitedMs), endedAt - this.#startedAt);
	}
}

/** Taking a URL apart costs more than all else here: it is done once for each URL that a webhook has. */
const destinations = new WeakMap<Target, Destination>();

function destinationOf(target: Target, brand: string): Destination {
	const known = destinations.get(target);
	if (known?.url === target.url) return known;
	const destination = createDestination(target.url, brand);
	destinations.set(target, destination);
	return destination;
}
