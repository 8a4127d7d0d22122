import { randomBytes } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Connections } from "../connections.ts";
import { MessageReader } from "./postgres-messages.ts";

/** The startup settings that pools accept and track. */
const TAKEN = ["user", "database", "application_name", "client_encoding"];
/** Protocol 3.0. */
const PROTOCOL = 196_608;

export interface PoolOptions {
	/** How to treat other startup parameters. */
	readonly startup: "refuse" | "drop";
	/** Whether a client keeps its session until it leaves, or for one transaction. */
	readonly mode: "session" | "transaction";
	/** Idle sessions are reused in the order in which they became idle, or the last one first. */
	readonly order?: "circle" | "last";
}

interface ServerSession {
	readonly socket: Socket;
	/** The server's messages until it was ready, without its process id. */
	greeting: Buffer;
	client: PoolClient | null;
}

/**
 * A pool in front of a PostgreSQL server (without TLS, any user trusted) that behaves like pgbouncer, as far as clients
 * can see.
 */
export class PostgresPool {
	readonly #server: Server;
	readonly #connections: Connections;
	readonly #options: PoolOptions;
	#mode: PoolOptions["mode"];
	readonly #target: URL;
	readonly #sessions = new Set<ServerSession>();
	readonly #idle: ServerSession[] = [];
	#port = 0;

	private constructor(databaseUrl: string, options: PoolOptions) {
		this.#target = new URL(databaseUrl);
		this.#options = options;
		this.#mode = options.mode;
		this.#server = createServer({ noDelay: true }, (socket) => new PoolClient(socket, this));
		this.#connections = new Connections(this.#server, false);
	}

	/** @param databaseUrl the only database that it connects to */
	static async start(databaseUrl: string, options: PoolOptions): Promise<PostgresPool> {
		const pool = new PostgresPool(databaseUrl, options);
		pool.#port = await pool.#connections.listen(0, "127.0.0.1");
		return pool;
	}

	/** The database's URL, through this pool. */
	get url(): string {
		const url = new URL(this.#target);
		url.port = String(this.#port);
		return url.href;
	}

	async close(): Promise<void> {
		for (const { socket } of this.#sessions) socket.destroy();
		await this.#connections.close();
	}

	get keepsSessions(): boolean {
		return this.#mode === "session";
	}

	/** Assigns sessions per transaction from now on, even to connected clients. */
	share(): void {
		this.#mode = "transaction";
	}

	/** The parameter that a client may not send, if there is one. */
	refused(parameters: readonly string[]): string | undefined {
		return this.#options.startup === "refuse" ? parameters.find((name) => !TAKEN.includes(name)) : undefined;
	}

	/** An idle session, or a new one. */
	async take(client: PoolClient): Promise<ServerSession> {
		const { order = "last" } = this.#options;
		const session = (order === "last" ? this.#idle.pop() : this.#idle.shift()) ?? (await this.#open());
		session.client = client;
		return session;
	}

	giveBack(session: ServerSession): void {
		session.client = null;
		if (this.keepsSessions) session.socket.destroy();
		else this.#idle.push(session);
	}

	#open(): Promise<ServerSession> {
		const socket = connect({ host: this.#target.hostname, port: Number(this.#target.port), noDelay: true });
		const session: ServerSession = { socket, greeting: Buffer.alloc(0), client: null };
		this.#sessions.add(session);
		// `close` follows.
		socket.on("error", () => undefined);
		const reader = new MessageReader("server");
		const user = decodeURIComponent(this.#target.username);
		socket.write(startup({ user, database: this.#target.pathname.slice(1) }));
		return new Promise((resolve, reject) => {
			let isReady = false;
			socket.once("close", () => {
				this.#sessions.delete(session);
				session.client?.end();
				reject(new Error("The server closed the connection."));
			});
			socket.on("data", (chunk: Buffer) => {
				for (const message of reader.read(chunk)) {
					if (isReady) {
						session.client?.answered(session, message);
						continue;
					}
					if (typeOf(message) !== "K") session.greeting = Buffer.concat([session.greeting, message]);
					isReady = typeOf(message) === "Z";
					if (isReady) resolve(session);
				}
			});
		});
	}
}

class PoolClient {
	readonly #socket: Socket;
	readonly #pool: PostgresPool;
	#session: ServerSession | null = null;
	/** Responses that must arrive before the session may go to another client. */
	#unanswered = 0;
	/** Messages are handled one after the other. */
	#work = Promise.resolve();

	constructor(socket: Socket, pool: PostgresPool) {
		this.#socket = socket;
		this.#pool = pool;
		const reader = new MessageReader("client");
		let isFirst = true;
		// `close` follows.
		socket.on("error", () => undefined);
		socket.on("data", (chunk: Buffer) => {
			for (const message of reader.read(chunk)) {
				const handle = isFirst ? () => this.#start(message) : () => this.#forward(message);
				isFirst = false;
				this.#work = this.#work.then(handle).catch(() => this.end());
			}
		});
		socket.once("close", () => {
			const session = this.#session;
			this.#session = null;
			if (session === null) return;
			// A session left in the middle of a transaction can't be reused.
			if (this.#unanswered > 0) session.socket.destroy();
			else this.#pool.giveBack(session);
		});
	}

	end(): void {
		this.#socket.destroy();
	}

	async #start(message: Buffer): Promise<void> {
		const words = message.toString("utf8", 8).split("\0");
		const refused = this.#pool.refused(words.filter((word, i) => i % 2 === 0 && word !== ""));
		if (refused !== undefined) {
			this.#socket.end(fatal("08P01", `unsupported startup parameter: ${refused}`));
			return;
		}
		const session = await this.#pool.take(this);
		const ready = session.greeting.subarray(-6);
		const key = typed("K", randomBytes(8));
		this.#socket.write(Buffer.concat([session.greeting.subarray(0, -ready.length), key, ready]));
		if (this.#pool.keepsSessions) this.#session = session;
		else this.#pool.giveBack(session);
	}

	async #forward(message: Buffer): Promise<void> {
		if (typeOf(message) === "X") {
			this.#socket.end();
			return;
		}
		this.#session ??= await this.#pool.take(this);
		if (typeOf(message) === "Q" || typeOf(message) === "S") this.#unanswered++;
		this.#session.socket.write(message);
	}

	answered(session: ServerSession, message: Buffer): void {
		this.#socket.write(message);
		if (typeOf(message) !== "Z" || --this.#unanswered > 0 || this.#pool.keepsSessions) return;
		const isIdle = String.fromCharCode(message[5]!) === "I";
		if (!isIdle) return;
		this.#session = null;
		this.#pool.giveBack(session);
	}
}

const typeOf = (message: Buffer): string => String.fromCharCode(message[0]!);

function typed(type: string, body: Buffer): Buffer {
	const head = Buffer.from(`${type}\0\0\0\0`);
	head.writeInt32BE(4 + body.length, 1);
	return Buffer.concat([head, body]);
}

const fatal = (code: string, text: string): Buffer => typed("E", Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));

function startup(parameters: Readonly<Record<string, string>>): Buffer {
	const body = Buffer.from(`${Object.entries(parameters).flat().join("\0")}\0\0`);
	const head = Buffer.alloc(8);
	head.writeInt32BE(head.length + body.length, 0);
	head.writeInt32BE(PROTOCOL, 4);
	return Buffer.concat([head, body]);
}
