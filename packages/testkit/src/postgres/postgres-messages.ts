/**
 * The part of PostgreSQL's protocol (https://www.postgresql.org/docs/current/protocol-message-formats.html) needed to
 * distinguish messages and to see transactions begin and end, on connections without TLS.
 */

/** Splits a stream into messages, however it arrives. */
export class MessageReader {
	#rest: Buffer = Buffer.alloc(0);
	/** A client's first message has no type: only its length and content. */
	#untyped: boolean;

	constructor(side: "client" | "server") {
		this.#untyped = side === "client";
	}

	/** The messages that are now complete. */
	read(chunk: Buffer): Buffer[] {
		this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
		const messages: Buffer[] = [];
		for (;;) {
			const type = this.#untyped ? 0 : 1;
			if (this.#rest.length < type + 4) return messages;
			const length = type + this.#rest.readInt32BE(type);
			if (this.#rest.length < length) return messages;
			messages.push(this.#rest.subarray(0, length));
			this.#rest = this.#rest.subarray(length);
			this.#untyped = false;
		}
	}
}

/** The strings at the start of a message, after its type and length. */
function strings(message: Buffer, count: number): string[] {
	const found: string[] = [];
	for (let at = 5; found.length < count; ) {
		const end = message.indexOf(0, at);
		if (end < 0) break;
		found.push(message.toString("utf8", at, end));
		at = end + 1;
	}
	return found;
}

const typeOf = (message: Buffer): string => String.fromCharCode(message[0]!);

/** Follows what a client sends: which statements its transaction has run so far. */
export class ClientTransaction {
	/** The texts of the statements since the last `BEGIN`. */
	statements: string[] = [];
	readonly #prepared = new Map<string, string>();

	/** @returns whether this message ends the transaction with a `COMMIT` */
	follow(message: Buffer): boolean {
		switch (typeOf(message)) {
			case "P": {
				const [name = "", text = ""] = strings(message, 2);
				this.#prepared.set(name, text);
				return false;
			}
			case "B": {
				const [, name = ""] = strings(message, 2);
				this.statements.push(this.#prepared.get(name) ?? "");
				return false;
			}
			case "Q": {
				const [text = ""] = strings(message, 1);
				if (text.startsWith("BEGIN")) this.statements = [];
				return text === "COMMIT";
			}
			default:
				return false;
		}
	}
}

/** Whether a client's message requests execution: the part of its traffic that costs the server work. */
export const isStatement = (message: Buffer): boolean => typeOf(message) === "E" || typeOf(message) === "Q";

/** Whether the server reports that a transaction has ended, committed or (if a statement failed) rolled back. */
export function endsTransaction(message: Buffer): boolean {
	return typeOf(message) === "C" && /^(COMMIT|ROLLBACK)$/.test(strings(message, 1)[0] ?? "");
}
