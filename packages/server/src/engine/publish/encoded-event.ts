import type { AppendedEvent, LogEvent, NewEvent } from "../../storage/port.ts";

/** An event from when its bytes are fixed until it is sent: one object, as very many are under way at once. */
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

	/** Notes its place in the log, and its time as stored, which for a repeated event is that of the first time. */
	appendedAs({ seq, createdAt }: AppendedEvent): void {
		this.seq = seq;
		this.createdAt = createdAt;
	}
}
