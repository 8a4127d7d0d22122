import { connect, createServer, type Server, type Socket } from "node:net";
import { Connections } from "../connections.ts";
import { ClientTransaction, endsTransaction, isStatement, MessageReader } from "./postgres-messages.ts";

/** How to treat a `COMMIT`. */
export type CommitFate =
	| "pass"
	/** The connection breaks before the server receives it. */
	| "lose"
	/** The server commits; the connection breaks before the client gets the response. */
	| "lose_answer"
	/** The response, and everything after it, arrives this much later. */
	| { readonly delayMs: number };

/** Between client and server. */
type Way =
	| "open"
	/** Connections break, and new ones break immediately. */
	| "broken"
	/** Nothing passes. Data sent meanwhile arrives once the proxy is healed, as after a short network outage. */
	| "held"
	/** Nothing passes, and these connections stay dead permanently, as when a firewall has forgotten them. */
	| "swallowing";

/** A TCP proxy in front of a PostgreSQL server (without TLS) that fails in the ways in which networks do. */
export class PostgresProxy {
	readonly #server: Server;
	readonly #connections: Connections;
	readonly #pairs = new Set<Pair>();
	#port = 0;
	#target: Address;
	#way: Way = "open";
	#statements = 0;
	/** Decides on each `COMMIT` by the texts of the statements of its transaction. */
	onCommit: (statements: readonly string[]) => CommitFate = () => "pass";

	private constructor(target: Address) {
		this.#target = target;
		this.#server = createServer((socket) => this.#accepted(socket));
		this.#connections = new Connections(this.#server, false);
	}

	/** @param url any URL of the server */
	static async start(url: string): Promise<PostgresProxy> {
		const proxy = new PostgresProxy(addressOf(url));
		proxy.#port = await proxy.#connections.listen(0, "127.0.0.1");
		return proxy;
	}

	/** A database's URL, through this proxy. */
	url(databaseUrl: string): string {
		const url = new URL(databaseUrl);
		url.host = `127.0.0.1:${this.#port}`;
		return url.href;
	}

	/** Connection attempts, including refused ones. */
	get accepted(): number {
		return this.#connections.accepted;
	}

	/** Statements that clients have sent. */
	get statements(): number {
		return this.#statements;
	}

	/** Sends new connections to another server; existing ones stay. */
	retarget(url: string): void {
		this.#target = addressOf(url);
	}

	cut(way: Exclude<Way, "open">): void {
		this.#way = way;
		for (const pair of this.#pairs) this.#apply(pair);
	}

	heal(): void {
		const was = this.#way;
		this.#way = "open";
		if (was === "held") for (const pair of this.#pairs) pair.hold(false);
	}

	async close(): Promise<void> {
		for (const pair of this.#pairs) pair.break();
		await this.#connections.close();
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#accepted(client: Socket): void {
		if (this.#way === "broken") {
			client.resetAndDestroy();
			return;
		}
		const pair = new Pair(client, connect(this.#target), {
			fateOf: (statements) => this.onCommit(statements),
			stated: () => this.#statements++,
			over: () => this.#pairs.delete(pair),
		});
		this.#pairs.add(pair);
		this.#apply(pair);
	}

	#apply(pair: Pair): void {
		if (this.#way === "broken") pair.break();
		else if (this.#way === "held") pair.hold(true);
		else if (this.#way === "swallowing") pair.swallow();
	}
}

interface PairOptions {
	readonly fateOf: (statements: readonly string[]) => CommitFate;
	readonly stated: () => void;
	readonly over: () => void;
}

/** A client's connection, and the server connection opened for it. */
class Pair {
	readonly #client: Socket;
	readonly #server: Socket;
	readonly #options: PairOptions;
	readonly #toServer: Flow;
	readonly #toClient: Flow;
	readonly #transaction = new ClientTransaction();
	/** The fates of commits with pending responses. */
	readonly #awaited: CommitFate[] = [];
	#swallows = false;

	constructor(client: Socket, server: Socket, options: PairOptions) {
		this.#client = client;
		this.#server = server;
		this.#options = options;
		this.#toServer = new Flow(server);
		this.#toClient = new Flow(client);
		const [fromClient, fromServer] = [new MessageReader("client"), new MessageReader("server")];
		client.on("data", (chunk: Buffer) => {
			if (this.#swallows) return;
			for (const message of fromClient.read(chunk)) if (!this.#sent(message)) return;
		});
		server.on("data", (chunk: Buffer) => {
			if (this.#swallows) return;
			for (const message of fromServer.read(chunk)) if (!this.#answered(message)) return;
		});
		for (const socket of [client, server]) {
			// `close` follows and ends both.
			socket.on("error", () => undefined);
			socket.once("close", () => this.#closed(socket));
		}
	}

	/** Breaks both connections. */
	break(): void {
		this.#client.resetAndDestroy();
		this.#server.resetAndDestroy();
	}

	hold(held: boolean): void {
		this.#toServer.hold(held);
		this.#toClient.hold(held);
	}

	swallow(): void {
		this.#swallows = true;
	}

	/** Closes the other side after its remaining data; never if the connection is dead. */
	#closed(socket: Socket): void {
		if (this.#client.destroyed && this.#server.destroyed) this.#options.over();
		else if (this.#swallows) return;
		else if (socket === this.#client) this.#toServer.end();
		else this.#toClient.end();
	}

	/** @returns whether the connection continues */
	#sent(message: Buffer): boolean {
		if (isStatement(message)) this.#options.stated();
		if (this.#transaction.follow(message)) {
			const fate = this.#options.fateOf(this.#transaction.statements);
			if (fate === "lose") {
				this.break();
				return false;
			}
			this.#awaited.push(fate);
		}
		this.#toServer.write(message);
		return true;
	}

	#answered(message: Buffer): boolean {
		const fate = endsTransaction(message) ? this.#awaited.shift() : undefined;
		if (fate === "lose_answer") {
			this.break();
			return false;
		}
		if (typeof fate === "object") this.#toClient.delay(fate.delayMs);
		this.#toClient.write(message);
		return true;
	}
}

/** One direction: data that has arrived and may be forwarded, in order. */
class Flow {
	readonly #to: Socket;
	readonly #waiting: Buffer[] = [];
	#held = false;
	#delays = 0;
	#ends = false;

	constructor(to: Socket) {
		this.#to = to;
	}

	write(message: Buffer): void {
		this.#waiting.push(message);
		this.#pass();
	}

	hold(held: boolean): void {
		this.#held = held;
		this.#pass();
	}

	/** Holds all data for a while. */
	delay(ms: number): void {
		this.#delays++;
		setTimeout(() => {
			this.#delays--;
			this.#pass();
		}, ms);
	}

	/** Nothing more comes in. */
	end(): void {
		this.#ends = true;
		this.#pass();
	}

	#pass(): void {
		if (this.#held || this.#delays > 0) return;
		for (const message of this.#waiting.splice(0)) this.#to.write(message);
		if (this.#ends) this.#to.end();
	}
}

interface Address {
	readonly host: string;
	readonly port: number;
}

function addressOf(url: string): Address {
	const { hostname, port } = new URL(url);
	return { host: hostname, port: Number(port) };
}
