import { RECEIVERS, SENDS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Connection } from "../../net/connections.ts";
import { Connections } from "../../net/connections.ts";
import { createDialer, type Dialer } from "../../net/dial.ts";
import { asError, reasonOf, ShortageFailure, shortageOf } from "../../net/errors.ts";
import type { Guard } from "../../net/guard.ts";
import type { Handshakes } from "../../net/handshakes.ts";
import { createResolver, type Resolver, timeoutWithin } from "../../net/resolver.ts";
import { Shortages } from "../../net/shortages.ts";
import { Burst, type BurstStart } from "./burst.ts";
import { Deadlines, type HasDeadline } from "./deadlines.ts";
import {
	createDestination,
	createRequestWriter,
	type Destination,
	Exchange,
	type ExchangeEnd,
	type ExchangeOwner,
	type RequestWriter,
} from "./exchange.ts";
import type { Sent } from "./outcome.ts";
import type { Sender, Shipment, Target } from "./sender.ts";

export interface HttpSenderOptions {
	readonly clock: Clock;
	readonly guard: Guard;
	/** Defaults to the machine's name servers. */
	readonly resolver?: Resolver | undefined;
	/** Makes the connections; defaults to TLS to the addresses that the resolver finds. */
	readonly dialer?: Dialer | undefined;
	/** The word in the header names and the user agent. */
	readonly brand: string;
	/**
	 * How long an attempt may take from its start to the receiver's status line, including DNS and TLS, milliseconds.
	 * Waiting for a turn to connect doesn't count, since the receiver doesn't cause that.
	 */
	readonly timeoutMs: number;
	/** PEM with certificate authorities to trust in addition to the machine's. */
	readonly extraCa?: string | undefined;
	/** Maximum number of connections kept between requests; {@link SENDS.idleConnections} by default. */
	readonly idleConnections?: number | undefined;
	/** What this node is short of, shared with the engine; private by default. */
	readonly shortages?: Shortages | undefined;
	/** Limits what handshakes with receivers cost; without it, none is metered. */
	readonly handshakes?: Handshakes | undefined;
	/** Receives the original error of every `sender_failed` outcome, for the log. */
	onFault(error: unknown): void;
}

type Settings = HttpSenderOptions & {
	readonly writer: RequestWriter;
	readonly shortages: Shortages;
	readonly deadlines: Deadlines;
};

export function createHttpSender(options: HttpSenderOptions): Sender & { readonly idleConnections: number } {
	const { clock, guard, brand } = options;
	const shortages = options.shortages ?? new Shortages(clock);
	const timeoutMs = timeoutWithin(options.timeoutMs);
	const resolver = options.resolver ?? createResolver({ guard, clock, timeoutMs, shortages });
	const { extraCa, handshakes } = options;
	const dialer = options.dialer ?? createDialer({ guard, resolver, clock, extraCa, shortages, handshakes });
	const burst = new Burst(clock, options.onFault);
	const connections = new Connections(
		{ dialer, writer: burst, clock },
		options.idleConnections ?? SENDS.idleConnections,
	);
	const deadlines = new Deadlines(clock, options.timeoutMs);
	const settings: Settings = { ...options, shortages, deadlines, writer: createRequestWriter(brand, clock) };
	return {
		send: (shipment) =>
			new Promise((resolve) => {
				burst.add(new Attempt(shipment, settings, connections, resolve));
			}),
		close: async () => connections.close(),
		get idleConnections() {
			return connections.keptCount;
		},
	};
}

/**
 * One attempt: usually one exchange. A second follows within the same deadline if the first was withdrawn because the
 * webhook's URL had changed, and at most once if the receiver had closed a kept-alive connection: such a failure says
 * nothing about the receiver, which never saw the request.
 *
 * It ends exactly once even if something throws, at its deadline at the latest. The deadline is extended by the time spent
 * waiting for a turn to connect. That wait is bounded by the number of sends in flight, since each needs one turn.
 */
class Attempt implements ExchangeOwner, BurstStart, HasDeadline {
	readonly #shipment: Shipment;
	readonly #options: Settings;
	readonly #connections: Connections;
	readonly #resolve: (outcome: Sent) => void;
	#startedAt = 0;
	dueAt = 0;
	earlier: HasDeadline | null = null;
	later: HasDeadline | null = null;
	#grace: Timer | null = null;
	/** When part of an unfinished response was last read; null until then. */
	#readAt: number | null = null;
	#exchange: Exchange | null = null;
	#freshOnly = false;
	/** Time that earlier exchanges waited for turns to connect, milliseconds. */
	#waitedBeforeMs = 0;
	/** How much of its waiting has been added to its deadline. */
	#extendedMs = 0;
	#extension: Timer | null = null;
	#over = false;

	constructor(shipment: Shipment, options: Settings, connections: Connections, resolve: (outcome: Sent) => void) {
		this.#shipment = shipment;
		this.#options = options;
		this.#connections = connections;
		this.#resolve = resolve;
	}

	get projectId(): string {
		return this.#shipment.target.projectId;
	}

	begin(): void {
		this.#startedAt = this.#options.clock.now();
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
				// Time spent waiting for the rest of an unfinished body isn't the receiver's response time.
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

	/** The deadline has passed, unless part of the time was spent waiting for a turn to connect. */
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
			// A failure to log must not become a fault of its own.
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

	/** Total wait for turns to connect so far, milliseconds. */
	get #waitedMs(): number {
		return this.#waitedBeforeMs + (this.#exchange?.waitedMs ?? 0);
	}

	/** Never before the start, even if the clock was set back meanwhile. */
	#endedAt(over: number | null = null): number {
		return Math.max(this.#startedAt, over ?? this.#options.clock.now());
	}

	#waitedUntil(endedAt: number): number {
		return Math.min(Math.floor(this.#waitedMs), endedAt - this.#startedAt);
	}
}

/** Parsed once per webhook URL, because parsing costs more than everything else here. */
const destinations = new WeakMap<Target, Destination>();

function destinationOf(target: Target, brand: string): Destination {
	const known = destinations.get(target);
	if (known?.url === target.url) return known;
	const destination = createDestination(target.url, brand);
	destinations.set(target, destination);
	return destination;
}
