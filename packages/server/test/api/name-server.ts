import { createSocket, type Socket } from "node:dgram";
import { EventEmitter, once } from "node:events";

const TYPE_A = 1;
const SERVFAIL = 2;
const NXDOMAIN = 3;

/** A name server on loopback that knows IPv4 addresses by name, and no other names (RFC 1035, 4). */
export class NameServer extends EventEmitter<{ asked: [name: string] }> {
	readonly addresses: Record<string, string> = {};
	/** Names for which it returns an error. */
	readonly failing = new Set<string>();
	/** Names for which it returns nothing. */
	readonly silent = new Set<string>();
	readonly #socket: Socket = createSocket("udp4");

	/** Returns its address, `address:port`. */
	async listen(): Promise<string> {
		this.#socket.on("message", (query, from) => {
			const answer = this.#answer(query);
			if (answer) this.#socket.send(answer, from.port, from.address);
		});
		this.#socket.bind(0, "127.0.0.1");
		await once(this.#socket, "listening");
		return `127.0.0.1:${this.#socket.address().port}`;
	}

	async close(): Promise<void> {
		this.#socket.close();
		await once(this.#socket, "close");
	}

	#answer(query: Buffer): Buffer | null {
		const labels: string[] = [];
		let at = 12;
		for (let length = query[at]!; length > 0; length = query[at]!) {
			labels.push(query.toString("latin1", at + 1, at + 1 + length));
			at += 1 + length;
		}
		const name = labels.join(".");
		this.emit("asked", name);
		if (this.silent.has(name)) return null;
		const address = this.addresses[name];
		const found = address !== undefined && query.readUInt16BE(at + 1) === TYPE_A;
		const head = Buffer.alloc(12);
		query.copy(head, 0, 0, 2);
		const code = this.failing.has(name) ? SERVFAIL : address === undefined ? NXDOMAIN : 0;
		head.writeUInt16BE(0x8180 | code, 2);
		head.writeUInt16BE(1, 4);
		head.writeUInt16BE(found ? 1 : 0, 6);
		const question = query.subarray(12, at + 5);
		if (!found) return Buffer.concat([head, question]);
		const record = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]);
		return Buffer.concat([head, question, record]);
	}
}
