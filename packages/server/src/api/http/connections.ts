import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { BlockList, isIPv6, type Socket } from "node:net";
import { Bag, type Baggable } from "../../base/bag.ts";
import { Budget } from "../../base/budget.ts";
import { CONNECTIONS, REQUESTS, RESPONSES } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { networkOf } from "../auth/owner.ts";
import { boundChunks, leaveRest } from "./parser-limits.ts";

export interface ConnectionLimits {
	/** Connections at a time. */
	readonly connections: number;
	/** A response of which the client read nothing for this long is broken off, milliseconds. */
	readonly stallMs: number;
	/** A response that the client did not read within this time is broken off, milliseconds. */
	readonly readMs: number;
	/** A connection on which nothing happened for this long is closed, milliseconds. Not for trusted proxies. */
	readonly idleMs: number;
	/** How often to look for slow and idle clients, milliseconds. */
	readonly checkMs: number;
	/** A header that did not come whole within this time is not waited for, milliseconds. */
	readonly headerMs: number;
	/** The same for a whole request. */
	readonly requestMs: number;
	/** How long a client may take to send a request or to read a response while the API closes, milliseconds. */
	readonly endMs: number;
}

export interface ConnectionsOptions extends Partial<ConnectionLimits> {
	readonly clock: Pick<Clock, "elapsed" | "setTimeout" | "setImmediate">;
	/** CIDRs of proxies: they speak for many, so theirs are closed last. */
	readonly trustProxy: readonly string[];
}

/** Not imported: importing `node:http` also loads all of undici, at the expense of every start. */
const { createServer } = process.getBuiltinModule("node:http");

/** A request that is worked on. */
interface Work extends Baggable {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	/** When the client was last seen to read, and how far it had read then; null while there is nothing to read. */
	unread: { readonly since: number; progressAt: number; sent: number } | null;
}

interface Connection {
	readonly socket: Socket;
	readonly network: string;
	/** When a request last started or ended, by the clock's `elapsed`, and how many bytes had come by then. */
	usedAt: number;
	received: number;
	readonly work: Bag<Work>;
	readonly waiting: (() => void)[];
}

/** The network name of proxies that are trusted. */
const PROXY = "proxy";

/**
 * Connections to the API, such that no client keeps others out or holds memory forever:
 *
 * - At the bound, connections of the network that holds most are closed for new ones: idle ones, the longest idle first;
 *   if it has none, those whose response has been unread longest. A connection is idle unless a request that has come
 *   whole is being worked on. Only networks that hold more than the new one's own give any up.
 * - Of the requests that come together on one connection (pipelining), few are worked on at a time, and each later one
 *   starts in a turn of the event loop of its own.
 * - A client that does not read its response loses the connection; so does one that sends nothing more.
 *
 * Node finds clients that are slow to send a request (`headersTimeout`, `requestTimeout`).
 */
export class Connections {
	readonly budget: Budget;
	readonly #options: ConnectionsOptions;
	readonly #limits: ConnectionLimits;
	readonly #open = new Map<Socket, Connection>();
	readonly #proxies = new BlockList();
	#check: Timer | null = null;

	constructor(options: ConnectionsOptions) {
		this.#options = options;
		this.#limits = {
			connections: CONNECTIONS.most,
			stallMs: RESPONSES.stallMs,
			readMs: RESPONSES.readMs,
			idleMs: CONNECTIONS.idleMs,
			checkMs: CONNECTIONS.checkMs,
			headerMs: REQUESTS.headerMs,
			requestMs: REQUESTS.requestMs,
			endMs: CONNECTIONS.endMs,
			...options,
		};
		this.budget = new Budget({ name: "api_connections", limit: this.#limits.connections });
		for (const cidr of options.trustProxy) {
			const [address = "", bits] = cidr.split("/");
			this.#proxies.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
		}
	}

	/** A server whose requests go to `handle`. */
	serve(handle: RequestListener): Server {
		const { headerMs, requestMs, checkMs } = this.#limits;
		const options = {
			headersTimeout: headerMs,
			requestTimeout: requestMs,
			connectionsCheckingInterval: checkMs,
			keepAliveTimeout: CONNECTIONS.proxyIdleMs,
		};
		const admit: RequestListener = (request, response) => {
			boundChunks(request, (error) => {
				leaveRest(request.socket);
				server.emit("clientError", error, request.socket);
			});
			this.#admit(request, response, handle);
		};
		const server = createServer(options, admit)
			.on("connection", (socket: Socket) => this.#opened(socket))
			.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
				expecting.set(request, response);
				admit(request, response);
			});
		return server;
	}

	/**
	 * The API closes: whoever is slow from now on loses the connection. Node only closes connections on which nothing has
	 * come, and looks for slow clients no more.
	 */
	end(): void {
		this.#options.clock.setTimeout(() => {
			for (const connection of this.#open.values())
				if (isIdle(connection) || isUnread(connection)) connection.socket.destroy();
			if (this.#open.size > 0) this.end();
		}, this.#limits.endMs);
	}

	/** Has a request worked on as soon as its connection may. */
	#admit(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
		const connection = this.#open.get(request.socket);
		if (!connection) {
			handle(request, response);
			return;
		}
		// Node says how long it keeps those of proxies; clients go by what is said.
		if (connection.network !== PROXY)
			response.setHeader("Keep-Alive", `timeout=${Math.floor(this.#limits.idleMs / 1_000)}`);
		const start = (): void => {
			const work: Work = { request, response, unread: null, place: -1 };
			connection.work.add(work);
			this.#used(connection);
			response.once("close", () => {
				connection.work.delete(work);
				this.#used(connection);
				// It stays in the queue until it starts, so that no request that arrives meanwhile overtakes it.
				if (connection.waiting.length > 0) this.#options.clock.setImmediate(startNext);
			});
			handle(request, response);
		};
		const startNext = (): void => {
			if (connection.socket.destroyed || connection.work.size >= CONNECTIONS.requestsInWork) return;
			connection.waiting.shift()?.();
		};
		if (connection.work.size < CONNECTIONS.requestsInWork && connection.waiting.length === 0) start();
		else if (connection.waiting.length < CONNECTIONS.requestsWaiting) connection.waiting.push(start);
		else {
			leaveRest(connection.socket);
			connection.socket.destroy();
		}
	}

	#used(connection: Connection): void {
		connection.usedAt = this.#options.clock.elapsed();
		connection.received = connection.socket.bytesRead;
	}

	#opened(socket: Socket): void {
		const address = socket.remoteAddress ?? "";
		const network = this.#isProxy(address) ? PROXY : networkOf(address);
		if (this.budget.refusal(network, 1) !== null) this.#freeSome(network);
		if (this.budget.take(network, 1) !== null) {
			socket.destroy();
			return;
		}
		this.#open.set(socket, {
			socket,
			network,
			usedAt: this.#options.clock.elapsed(),
			received: 0,
			work: new Bag(),
			waiting: [],
		});
		socket.once("close", () => this.#forget(socket));
		this.#lingerIfRefused(socket);
		if (this.#check === null) this.#checkLater();
	}

	/**
	 * Closing a connection that still has something to say resets it, and the client may lose the answer that says why. So
	 * where a request was answered before it had come whole, reading stops, and the connection goes a moment later.
	 */
	#lingerIfRefused(socket: Socket): void {
		const destroySoon = socket.destroySoon.bind(socket);
		socket.destroySoon = () => {
			const refused = (this.#open.get(socket)?.work.toArray() ?? []).some(({ request }) => !request.complete);
			if (!refused) return destroySoon();
			// Node has just begun to read on, to throw away what comes.
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
	 * Closes connections for a new one of this network: of the network that holds most and has any that may be closed, if it
	 * holds more than the new one's; else of its own. Those of proxies are closed last.
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

	#isProxy(address: string): boolean {
		const mapped = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
		return this.#proxies.check(mapped, isIPv6(mapped) ? "ipv6" : "ipv4");
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

	/** Whether nothing has happened for long. Node looks after requests that have begun to come. */
	#isForgotten({ socket, network, work, waiting, usedAt, received }: Connection, now: number): boolean {
		const isQuiet = work.size === 0 && waiting.length === 0 && socket.bytesRead === received;
		return isQuiet && network !== PROXY && now - usedAt >= this.#limits.idleMs;
	}

	/** Whether the client has long not read what was sent to it. */
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

/** Requests whose clients wait to be told before they send the body, with their responses. */
const expecting = new WeakMap<IncomingMessage, ServerResponse>();

/** Tells a client that waits for it (`Expect: 100-continue`) to send the body: call it where the body is wanted. */
export function letContinue(request: IncomingMessage): void {
	expecting.get(request)?.writeContinue();
	expecting.delete(request);
}

/** Whether no request that has come whole is worked on. */
const isIdle = ({ work }: Connection): boolean => !work.toArray().some(({ request }) => request.complete);

/** Whether the client has yet to read what was sent to it. */
const isUnread = ({ socket, work }: Connection): boolean =>
	socket.writableLength > 0 && work.toArray().some(({ response }) => response.headersSent);

/** Since when the client has not read; of an idle connection, since when it is idle. */
const unreadSince = ({ usedAt, work }: Connection): number =>
	Math.min(usedAt, ...work.toArray().map(({ unread }) => unread?.progressAt ?? usedAt));

/** Ends a connection once the client has read why, or has had time to: one that never closes its side would stay. */
export function closeAfter(socket: Socket, clock: Pick<Clock, "setTimeout">, text = ""): void {
	socket.end(text);
	clock.setTimeout(() => socket.destroy(), CONNECTIONS.lingerMs);
}
