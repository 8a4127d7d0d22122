import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const HEAD_END = "\r\n\r\n";

/**
 * Posts over persistent connections, one request at a time on each, with as little code as possible between the call
 * and the network: at light load a client's code is always cold, and would be measured with the service. It only
 * accepts responses with a content-length.
 */
export class PacedClient {
	readonly #open: () => Promise<Connection>;
	readonly #headBegin: string;
	#idle: Connection[] = [];
	/** Callers that wait for a connection, the longest waiting first. */
	readonly #queue: ((connection: Connection) => void)[] = [];

	private constructor(open: () => Promise<Connection>, headBegin: string) {
		this.#open = open;
		this.#headBegin = headBegin;
	}

	/**
	 * @param origin http or https, with a port
	 * @param ca the authority of an https origin's certificate, PEM; null for a public one
	 */
	static async connect(
		origin: string,
		ca: Buffer | null,
		path: string,
		headers: Readonly<Record<string, string>>,
		connections: number,
	): Promise<PacedClient> {
		const { protocol, hostname, port, host } = new URL(origin);
		const open = async () => {
			const address = { host: hostname, port: Number(port), noDelay: true };
			const secure = protocol === "https:";
			const socket = secure ? connectTls({ ...address, ...(ca && { ca }) }) : connectPlain(address);
			await new Promise((resolve, reject) =>
				socket.once(secure ? "secureConnect" : "connect", resolve).once("error", reject),
			);
			return new Connection(socket);
		};
		const fields = Object.entries({ host, ...headers, "content-type": "application/json" });
		const lines = [`POST ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), "content-length: "];
		const client = new PacedClient(open, lines.join("\r\n"));
		client.#idle = await Promise.all(Array.from({ length: connections }, open));
		return client;
	}

	/** Waits for a free connection. Rejects unless the response is a success. */
	async post(body: string): Promise<void> {
		let connection = this.#idle.pop() ?? (await new Promise<Connection>((resolve) => this.#queue.push(resolve)));
		try {
			// The server closes connections that were idle for long.
			if (connection.isClosed) connection = await this.#open();
			const text = await connection.exchange(`${this.#headBegin}${Buffer.byteLength(body)}${HEAD_END}${body}`);
			if (!text.startsWith("HTTP/1.1 2")) throw new Error(`A request got ${text}`);
		} finally {
			const next = this.#queue.shift();
			if (next === undefined) this.#idle.push(connection);
			else next(connection);
		}
	}

	/** Call only when no request is in progress. */
	close(): void {
		for (const connection of this.#idle) connection.close();
	}
}

/** A request waiting for its response. */
interface Waiting {
	readonly resolve: (answer: string) => void;
	readonly reject: (error: Error) => void;
}

class Connection {
	readonly #socket: Socket;
	#answer = "";
	#waiting: Waiting | null = null;

	constructor(socket: Socket) {
		this.#socket = socket.setEncoding("latin1");
		socket.on("data", (chunk: string) => this.#received(chunk));
		socket.on("error", (error) => this.#waiting?.reject(error));
		socket.on("close", () => this.#waiting?.reject(new Error("A connection was closed before the response.")));
	}

	get isClosed(): boolean {
		return !this.#socket.writable;
	}

	/** The response to a request, head and body. */
	exchange(request: string): Promise<string> {
		return new Promise((resolve, reject) => {
			this.#waiting = { resolve, reject };
			this.#socket.write(request);
		});
	}

	close(): void {
		this.#socket.end();
	}

	#received(chunk: string): void {
		this.#answer += chunk;
		const headEnd = this.#answer.indexOf(HEAD_END);
		if (headEnd === -1) return;
		const length = /\r\ncontent-length: *(\d+)/i.exec(this.#answer)?.[1];
		if (length === undefined) this.#waiting?.reject(new Error(`A response has no content-length: ${this.#answer}`));
		else if (this.#answer.length < headEnd + HEAD_END.length + Number(length)) return;
		const answer = this.#answer;
		this.#answer = "";
		this.#waiting?.resolve(answer);
		this.#waiting = null;
	}
}
