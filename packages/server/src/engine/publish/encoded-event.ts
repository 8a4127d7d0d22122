import type { AppendedEvent, LogEvent, NewEvent } from "../../storage/port.ts";

/** An event from encoding until it is sent: a single object, because very many exist at once. */
export class EncodedEvent implements NewEvent, LogEvent {
	readonly id: string;
	readonly type: string;
	createdAt: number;
	readonly createdAtGiven: boolean;
	readonly body: Uint8Array;
	readonly publishedAt: number;
	/** 0 until it is appended. */
	seq = 0;

	constructor({ id, type, createdAt, createdAtGiven, body }: NewEvent, publishedAt: number) {
		this.id = id;
		this.type = type;
		this.createdAt = createdAt;
		this.createdAtGiven = createdAtGiven;
		this.body = body;
		this.publishedAt = publishedAt;
	}

	/** Records its position in the log, and its stored time, which for a repeated event is that of the first. */
	appendedAs({ seq, createdAt }: AppendedEvent): void {
		this.seq = seq;
		this.createdAt = createdAt;
	}
}
