import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { BlockList, isIPv6, type Socket } from "node:net";
import { Budget } from "../../base/budget.ts";
import { CONNECTIONS, REQUESTS, RESPONSES } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { Bag, type Baggable } from "../../base/collections.ts";
import { Turns } from "../../base/turns.ts";
import { networkOf } from "../auth/callers.ts";

/** The default limits, from budgets.ts: milliseconds, except `connections`. */
const LIMITS = {
	connections: CONNECTIONS.most,
	stallMs: RESPONSES.stallMs,
	readMs: RESPONSES.readMs,
	idleMs: CONNECTIONS.idleMs,
	checkMs: CONNECTIONS.checkMs,
	headerMs: REQUESTS.headerMs,
	requestMs: REQUESTS.requestMs,
	endMs: CONNECTIONS.endMs,
};

export type ConnectionLimits = Readonly<Record<keyof typeof LIMITS, number>>;

interface ConnectionsOptions extends Partial<ConnectionLimits> {
	readonly clock: Pick<Clock, "elapsed" | "setTimeout" | "setImmediate">;
	/** CIDRs of proxies. Their connections carry many clients, so they are closed last. */
	readonly trustProxy: readonly string[];
	/** The project or account of a request, if its credentials were valid when last used; else null. */
	readonly callerOf: (request: IncomingMessage) => string | null;
}

/** Not imported: importing `node:http` also loads all of undici, which costs time at each start, and memory. */
const { createServer } = process.getBuiltinModule("node:http");

/** A request being processed. */
interface Work extends Baggable {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	/** When the client was last seen to read, and how far it had read then; null if there is nothing to read. */
	unread: { readonly since: number; progressAt: number; sent: number } | null;
}

interface Connection {
	readonly socket: Socket;
	readonly network: string;
	/** When a request last started or ended, by the clock's `elapsed`, and how many bytes had arrived by then. */
	usedAt: number;
	received: number;
	readonly work: Bag<Work>;
	readonly waiting: (() => void)[];
	/** The last request that started, until it has its response and has arrived. */
	latest: Work | null;
	/** Whether it ends after an invalid request, once all complete ones have their responses. */
	isEnding: boolean;
}

/** The network name of trusted proxies. */
const PROXY = "proxy";

/**
 * Connections to the API, managed so that no client locks others out or holds memory forever:
 *
 * - At the limit, new connections replace others of the network that holds most: idle ones, the longest idle first; if
 *   it has none, those whose response has been unread longest. A connection is idle unless a complete request is being
 *   processed. Only networks that hold more than the new one's own lose any.
 * - Few of the requests that arrive together on one connection (pipelining) are processed at a time, and each later
 *   one starts in its own turn of the event loop.
 * - Requests of unknown clients, and more than a few of one known client or of all, start within a share of each turn
 *   of the event loop, and clients take turns, so that a flood of them hardly delays others.
 * - A client that doesn't read its response loses the connection; so does one that stops sending.
 *
 * Node finds clients that are slow to send a request (`headersTimeout`, `requestTimeout`).
 */
export class Connections {
	readonly budget: Budget;
	readonly #options: ConnectionsOptions;
	readonly #limits: ConnectionLimits;
	readonly #keepAlive: Readonly<Record<string, string>>;
	readonly #open = new Map<Socket, Connection>();
	readonly #proxies = new BlockList();
	readonly #turns: Turns;
	/** By known client, how many of its requests started in this turn of the event loop; and how many in all. */
	readonly #started = new Map<string, number>();
	#startedOfAll = 0;
	#check: Timer | null = null;

	constructor(options: ConnectionsOptions) {
		this.#options = options;
		this.#turns = new Turns(CONNECTIONS.turnMs, options.clock);
		this.#limits = { ...LIMITS, ...options };
		this.#keepAlive = { "Keep-Alive": `timeout=${Math.floor(this.#limits.idleMs / 1_000)}` };
		this.budget = new Budget({ name: "api_connections", limit: this.#limits.connections });
		for (const cidr of options.trustProxy) {
			const [address = "", bits] = cidr.split("/");
			this.#proxies.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
		}
	}

	/** A server that passes its requests to `handle`. */
	serve(handle: RequestListener): Server {
		const { headerMs, requestMs, checkMs } = this.#limits;
		const options = {
			headersTimeout: headerMs,
			maxHeaderSize: REQUESTS.headerBytes,
			requestTimeout: requestMs,
			connectionsCheckingInterval: checkMs,
			keepAliveTimeout: CONNECTIONS.proxyIdleMs,
			// Node would answer any number of requests without a host in one turn of the event loop.
			requireHostHeader: false,
			// By default, it drops all values but the first.
			joinDuplicateHeaders: true,
		};
		const admit: RequestListener = (request, response) => {
			const refuse = (code: string): void => {
				leaveRest(request.socket);
				server.emit("clientError", Object.assign(new Error("The request is refused."), { code }), request.socket);
			};
			if (!hasOneHost(request)) {
				refuse(NOT_ONE_HOST);
				return;
			}
			boundChunks(request, () => refuse(SMALL_CHUNKS));
			this.#admit(request, response, handle);
		};
		const server = createServer(options, admit)
			.on("connection", (socket: Socket) => this.#opened(socket))
			.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
				expecting.set(request, response);
				admit(request, response);
			})
			// An unknown expectation may be ignored (RFC 9110, 10.1.1). Node would answer any number in one turn.
			.on("checkExpectation", admit);
		return server;
	}

	/**
	 * Closes the API: from now on slow clients lose their connections. Node only closes connections on which nothing has
	 * arrived, and no longer checks for slow clients.
	 */
	end(): void {
		this.#options.clock.setTimeout(() => {
			for (const connection of this.#open.values())
				if (isIdle(connection) || isUnread(connection)) connection.socket.destroy();
			if (this.#open.size > 0) this.end();
		}, this.#limits.endMs);
	}

	/**
	 * The headers of its response that say how long its connection is kept. Null for a proxy's: Node announces its own
	 * timeout, which clients rely on.
	 */
	keepAliveOf({ socket }: IncomingMessage): Readonly<Record<string, string>> | null {
		const connection = this.#open.get(socket);
		return connection === undefined || connection.network === PROXY ? null : this.#keepAlive;
	}

	/**
	 * Ends a connection that has sent an invalid request, once the complete ones before it have their responses: an error
	 * sent earlier would look like the response to one of them. Requests that haven't started are dropped. One that has its
	 * response, or a part of it, although its body hasn't arrived gets no other.
	 *
	 * @returns false if there are none of these, so that the client can be told why
	 */
	endAfterAnswers(socket: Socket): boolean {
		const connection = this.#open.get(socket);
		if (!connection) return false;
		// More arrives while the body of another request is read, or until the client has read its response.
		if (connection.isEnding) {
			socket.pause();
			return true;
		}
		connection.waiting.length = 0;
		const unanswered = connection.work.toArray().filter(({ request }) => request.complete);
		const { latest } = connection;
		const isAnswered = latest !== null && !latest.request.complete && latest.response.headersSent;
		if (unanswered.length === 0 && !isAnswered) return false;
		connection.isEnding = true;
		leaveRest(socket);
		if (unanswered.length === 0) {
			closeAfter(socket, this.#options.clock);
			return true;
		}
		socket.pause();
		let count = unanswered.length;
		for (const { response } of unanswered)
			response.once("close", () => {
				if (--count === 0) closeAfter(socket, this.#options.clock);
			});
		return true;
	}

	/** Processes a request as soon as its connection may. */
	#admit(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
		const connection = this.#open.get(request.socket);
		if (!connection) {
			handle(request, response);
			return;
		}
		const { work, waiting, network, socket } = connection;
		const caller = this.#options.callerOf(request);
		const start = (): void => {
			const each: Work = { request, response, unread: null, bagIndex: -1 };
			work.add(each);
			connection.latest = each;
			this.#used(connection);
			response.once("close", () => {
				work.delete(each);
				if (request.complete && connection.latest === each) connection.latest = null;
				this.#used(connection);
				if (waiting.length > 0) startNextInTurn();
			});
			handle(request, response);
		};
		// It stays in the queue until it starts, so that no later request overtakes it.
		const startNext = (): void => {
			if (!socket.destroyed && work.size < requestsInWork) waiting.shift()?.();
		};
		const startNextInTurn = (): void => void this.#turns.take(caller ?? network).then(startNext);
		const { requestsInWork, requestsWaiting } = CONNECTIONS;
		if (work.size < requestsInWork && waiting.length === 0 && this.#mayStart(caller)) start();
		else if (work.size + waiting.length < requestsInWork + requestsWaiting) {
			waiting.push(start);
			// Otherwise the end of one in work starts it.
			if (work.size < requestsInWork) startNextInTurn();
		} else {
			leaveRest(socket);
			socket.destroy();
		}
	}

	/** Whether a request of this known client may start immediately. */
	#mayStart(caller: string | null): boolean {
		if (caller === null) return false;
		if (this.#startedOfAll >= CONNECTIONS.startsPerTurnOfAll) return false;
		const count = this.#started.get(caller) ?? 0;
		if (count >= CONNECTIONS.startsPerTurn) return false;
		if (this.#startedOfAll++ === 0)
			this.#options.clock.setImmediate(() => {
				this.#started.clear();
				this.#startedOfAll = 0;
			});
		this.#started.set(caller, count + 1);
		return true;
	}

	#used(connection: Connection): void {
		connection.usedAt = this.#options.clock.elapsed();
		connection.received = connection.socket.bytesRead;
	}

	#opened(socket: Socket): void {
		const address = socket.remoteAddress ?? "";
		// A BlockList also finds IPv4 addresses that are written as IPv6 (::ffff:192.0.2.1).
		const isProxy = this.#proxies.check(address, isIPv6(address) ? "ipv6" : "ipv4");
		const network = isProxy ? PROXY : networkOf(address);
		if (this.budget.refusal(network, 1) !== null) this.#freeSome(network);
		if (this.budget.take(network, 1) !== null) {
			socket.destroy();
			return;
		}
		const usedAt = this.#options.clock.elapsed();
		this.#open.set(socket, {
			socket,
			network,
			usedAt,
			received: 0,
			work: new Bag(),
			waiting: [],
			latest: null,
			isEnding: false,
		});
		socket.once("close", () => this.#forget(socket));
		this.#lingerIfRefused(socket);
		if (this.#check === null) this.#checkLater();
	}

	/**
	 * Closing a connection with unread input resets it, and the client may lose the response that says why. So if a
	 * request got its response before it had arrived completely, reading stops, and the connection is closed a moment
	 * later.
	 */
	#lingerIfRefused(socket: Socket): void {
		const destroySoon = socket.destroySoon.bind(socket);
		socket.destroySoon = () => {
			const refused = (this.#open.get(socket)?.work.toArray() ?? []).some(({ request }) => !request.complete);
			if (!refused) return destroySoon();
			// Node has just started to read on, to discard what arrives.
			this.#options.clock.setImmediate(() => socket.pause());
			closeAfter(socket, this.#options.clock);
		};
	}

	#forget(socket: Socket): void {
		const connection = this.#open.get(socket);
		if (!connection) return;
		this.#open.delete(socket);
		connection.waiting.length = 0;
		this.budget.give(connection.network, 1);
	}

	/**
	 * Closes connections to admit a new one of this network: those of the network that holds most and has any that may be
	 * closed, if it holds more than the new one's; otherwise the new one's own. Proxies' connections are closed last.
	 */
	#freeSome(own: string): void {
		const byNetwork = Map.groupBy(this.#open.values(), ({ network }) => network);
		const ownCount = own === PROXY ? 0 : this.budget.heldBy(own);
		const rank = (network: string): number => (network === PROXY ? 0 : this.budget.heldBy(network));
		const networks = [...byNetwork]
			.filter(([network]) => network === own || this.budget.heldBy(network) > ownCount)
			.sort(([a], [b]) => rank(b) - rank(a));
		for (const [, connections] of networks) {
			let closable = connections.filter(isIdle);
			if (closable.length === 0) closable = connections.filter(isUnread);
			if (closable.length === 0) continue;
			const count = Math.ceil(Math.min(this.#limits.connections * CONNECTIONS.freedAtOnce, closable.length / 2));
			closable.sort((a, b) => unreadSince(a) - unreadSince(b));
			for (const { socket } of closable.slice(0, count)) {
				socket.destroy();
				this.#forget(socket);
			}
			return;
		}
	}

	#checkLater(): void {
		this.#check = this.#options.clock.setTimeout(() => {
			const now = this.#options.clock.elapsed();
			for (const connection of this.#open.values()) {
				const { socket, work } = connection;
				if (this.#isForgotten(connection, now)) socket.destroy();
				for (const each of work.toArray()) if (this.#isStalled(each, socket, now)) socket.destroy();
			}
			this.#check = null;
			if (this.#open.size > 0) this.#checkLater();
		}, this.#limits.checkMs);
	}

	/** Whether it has been inactive for long. Node handles requests that have begun to arrive. */
	#isForgotten({ socket, network, work, waiting, usedAt, received }: Connection, now: number): boolean {
		const isQuiet = work.size === 0 && waiting.length === 0 && socket.bytesRead === received;
		return isQuiet && network !== PROXY && now - usedAt >= this.#limits.idleMs;
	}

	/** Whether the client has left sent data unread for long. */
	#isStalled(work: Work, socket: Socket, now: number): boolean {
		if (!work.response.headersSent || work.response.socket !== socket || socket.writableLength === 0) {
			work.unread = null;
			return false;
		}
		const sent = socket.bytesWritten - socket.writableLength;
		const unread = work.unread;
		if (unread === null) {
			work.unread = { since: now, progressAt: now, sent };
			return false;
		}
		if (sent > unread.sent) {
			unread.sent = sent;
			unread.progressAt = now;
		}
		return now - unread.progressAt >= this.#limits.stallMs || now - unread.since >= this.#limits.readMs;
	}
}

/** Requests whose clients wait for permission to send the body, with their responses. */
const expecting = new WeakMap<IncomingMessage, ServerResponse>();

/** Permits a client that waits (`Expect: 100-continue`) to send the body. Call it when the body is wanted. */
export function letContinue(request: IncomingMessage): void {
	expecting.get(request)?.writeContinue();
	expecting.delete(request);
}

/** Whether no complete request is being processed. */
const isIdle = ({ work }: Connection): boolean => !work.toArray().some(({ request }) => request.complete);

/** Whether the client has yet to read sent data. */
const isUnread = ({ socket, work }: Connection): boolean =>
	socket.writableLength > 0 && work.toArray().some(({ response }) => response.headersSent);

/** Since when the client hasn't read; for an idle connection, since when it is idle. */
const unreadSince = ({ usedAt, work }: Connection): number =>
	Math.min(usedAt, ...work.toArray().map(({ unread }) => unread?.progressAt ?? usedAt));

/**
 * Closes a connection once the client has read the reason or has had time to. Otherwise a client that never closes its
 * side would keep it.
 */
export function closeAfter(socket: Socket, clock: Pick<Clock, "setTimeout">, text = ""): void {
	socket.end(text);
	clock.setTimeout(() => socket.destroy(), CONNECTIONS.lingerMs);
}

/** The code of the error that ends a connection whose request body arrives in too many small chunks. */
export const SMALL_CHUNKS = "SMALL_CHUNKS";
/** The code of the error that ends a connection whose request names no host, or several. */
export const NOT_ONE_HOST = "NOT_ONE_HOST";

/** RFC 9112, 3.2. HTTP/1.0 needs no host. Several are joined with commas, which no host contains. */
const hasOneHost = ({ headers: { host }, httpVersion }: IncomingMessage): boolean =>
	host === undefined ? httpVersion === "1.0" : !host.includes(",");

/** What Node's parser accepts as `Upgrade`, which ends HTTP. */
const END_OF_HTTP = 2;

/**
 * Stops the parser from producing requests from the bytes that it has already read from a connection, up to 64 KiB.
 * Otherwise it produces thousands in one turn of the event loop, even though the connection is closed.
 */
function leaveRest(socket: Socket & { parser?: { onIncoming: unknown } | null }): void {
	if (socket.parser) socket.parser.onIncoming = () => END_OF_HTTP;
}

/**
 * Bounds the number of chunks of a body: a chunk of one byte costs as much as a large one. Calls `refuse` once if there
 * are too many, and drops the rest.
 */
function boundChunks(request: IncomingMessage, refuse: () => void): void {
	if (request.headers["transfer-encoding"] === undefined) return;
	let chunks = 0;
	let bytes = 0;
	let isRefused = false;
	const push = request.push.bind(request);
	request.push = (chunk: Buffer | null) => {
		if (chunk === null) return push(null);
		if (isRefused) return false;
		bytes += chunk.length;
		if (++chunks <= REQUESTS.smallChunks + bytes / REQUESTS.chunkBytes) return push(chunk);
		isRefused = true;
		refuse();
		return false;
	};
}
