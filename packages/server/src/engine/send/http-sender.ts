import { SENDS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { type Connection, ConnectionPool } from "../../net/connections.ts";
import { createDialer, type Dialer, type DialerOptions } from "../../net/dial.ts";
import type { Guard } from "../../net/egress.ts";
import { createResolver, type Resolver, timeoutWithin } from "../../net/resolver.ts";
import { Shortages } from "../../net/shortages.ts";
import { Deadlines } from "./deadlines.ts";
import { type AttemptContext, createRequestWriter, HttpAttempt } from "./http-attempt.ts";
import type { Sender } from "./outcome.ts";

export interface HttpSenderOptions
	extends Pick<AttemptContext, "clock" | "onFault">,
		Pick<DialerOptions, "extraCa" | "handshakes"> {
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
	/** Maximum number of connections kept between requests; {@link SENDS.idleConnections} by default. */
	readonly idleConnections?: number | undefined;
	/** Chooses among connections to close. */
	readonly random: () => number;
	/** What this node is short of, shared with the engine; private by default. */
	readonly shortages?: Shortages | undefined;
}

export function createHttpSender(options: HttpSenderOptions): Sender & { readonly idleConnections: number } {
	const { clock, guard, brand, extraCa, handshakes, onFault } = options;
	const shortages = options.shortages ?? new Shortages(clock);
	const timeoutMs = timeoutWithin(options.timeoutMs);
	const resolver = options.resolver ?? createResolver({ guard, clock, timeoutMs, shortages });
	const dialer = options.dialer ?? createDialer({ guard, resolver, clock, extraCa, shortages, handshakes });
	const maxKept = options.idleConnections ?? SENDS.idleConnections;
	const connections = new ConnectionPool({ dialer, clock, maxKept, random: options.random });
	const batch = new SendBatch(clock, onFault);
	const deadlines = new Deadlines(clock, options.timeoutMs);
	const writeRequest = createRequestWriter(brand, clock);
	const context = { clock, brand, connections, deadlines, shortages, writeRequest, batch, onFault };
	return {
		send: (shipment) => new Promise((resolve) => batch.add(new HttpAttempt(shipment, context, resolve))),
		close: async () => connections.close(),
		get idleConnections() {
			return connections.keptCount;
		},
	};
}

type BatchedStart = Pick<HttpAttempt, "projectId" | "begin">;
type RequestTarget = Pick<Connection, "write">;

/** How many attempts are started between looks at the clock. */
const STARTS_PER_LOOK = 8;

/**
 * The attempts started in one turn of the event loop. They are sent together when it ends: first all are prepared and
 * signed, then all are written. No other code runs between the two. If preparing takes too long, the rest is sent in the
 * next turns, projects in turn, so that one that sends a lot doesn't delay the others.
 *
 * If they were written one by one between reads of responses, each would wake its receiver separately, and waking costs
 * more than writing on machines with few processors (docs/decisions/0020-requests-leave-in-bursts.md).
 */
export class SendBatch {
	#starts: BatchedStart[] = [];
	#prepared: { readonly to: RequestTarget; readonly request: Buffer }[] = [];
	#preparedBytes = 0;
	readonly #clock: Pick<Clock, "elapsed" | "setImmediate">;
	readonly #onFault: (error: unknown) => void;
	#leaving = false;
	/** Whether some of the starts were left over by an earlier turn. */
	#isBehind = false;

	/** @param onFault receives what a start or a write throws: neither should, and no other attempt is affected */
	constructor(clock: Pick<Clock, "elapsed" | "setImmediate">, onFault: (error: unknown) => void) {
		this.#clock = clock;
		this.#onFault = onFault;
	}

	/** Starts this attempt when the turn ends. */
	add(start: BatchedStart): void {
		if (this.#starts.push(start) === 1) this.#clock.setImmediate(this.#leave);
	}

	/** Writes a request together with the others of this turn, or immediately if none is being prepared. */
	write(to: RequestTarget, request: Buffer): void {
		if (!this.#leaving) {
			to.write(request);
			return;
		}
		this.#prepared.push({ to, request });
		this.#preparedBytes += request.length;
		if (this.#preparedBytes >= SENDS.preparedBytes) this.#writePrepared();
	}

	readonly #leave = (): void => {
		const starts = this.#isBehind ? inTurns(this.#starts) : this.#starts;
		this.#starts = [];
		this.#leaving = true;
		const until = this.#clock.elapsed() + SENDS.prepareMsPerTurn;
		let begun = 0;
		do {
			try {
				starts[begun]!.begin();
			} catch (error) {
				this.#onFault(error);
			}
			begun++;
		} while (begun < starts.length && (begun % STARTS_PER_LOOK > 0 || this.#clock.elapsed() < until));
		this.#leaving = false;
		this.#isBehind = begun < starts.length;
		if (this.#isBehind) {
			if (this.#starts.length === 0) this.#clock.setImmediate(this.#leave);
			this.#starts.unshift(...starts.slice(begun));
		}
		this.#writePrepared();
	};

	#writePrepared(): void {
		const prepared = this.#prepared;
		this.#prepared = [];
		this.#preparedBytes = 0;
		for (const { to, request } of prepared) {
			try {
				to.write(request);
			} catch (error) {
				this.#onFault(error);
			}
		}
	}
}

/** Reorders starts so that projects take turns: the first of each project, then the second of each … */
function inTurns(starts: readonly BatchedStart[]): BatchedStart[] {
	const rounds: BatchedStart[][] = [];
	const counts = new Map<string, number>();
	for (const start of starts) {
		const round = counts.get(start.projectId) ?? 0;
		counts.set(start.projectId, round + 1);
		const others = rounds[round];
		if (others) others.push(start);
		else rounds.push([start]);
	}
	return rounds.flat();
}
