import type { LogEvent } from "../../storage/port.ts";

/** An event as a lane sees it. */
export type LaneEvent = Omit<LogEvent, "createdAt">;

/** A record begins with these numbers; the id, which is ASCII, and the body follow. */
const SEQ = 0;
const PUBLISHED_AT = 8;
const TYPE = 16;
const ID_LENGTH = 20;
const HEADER_BYTES = 24;
/** What a record takes in the list of their ends. */
const END_BYTES = 8;

const NOTHING = Buffer.alloc(0);

/**
 * Events packed into one piece of memory. Each is an object only while a lane looks at it. If all were objects until the
 * last lane has passed them, V8 would move them to its old generation, and keep them there until its next full
 * collection. The memory is freed immediately.
 */
export class PackedEvents {
	#memory = NOTHING;
	/** Where each record ends. */
	#ends: number[] = [];
	/** The distinct types. */
	readonly #types: string[] = [];

	constructor(events: readonly LaneEvent[] = []) {
		this.#reserve(events.reduce((sum, event) => sum + recordBytes(event), 0));
		for (const event of events) this.add(event);
	}

	get length(): number {
		return this.#ends.length;
	}

	/** How much memory they take, bytes. */
	get bytes(): number {
		return this.#memory.length + END_BYTES * this.length;
	}

	add(event: LaneEvent): void {
		const { seq, id, type, publishedAt, body } = event;
		const start = this.#ends.at(-1) ?? 0;
		const end = start + recordBytes(event);
		if (end > this.#memory.length) this.#reserve(Math.max(end, 2 * this.#memory.length));
		const memory = this.#memory;
		memory.writeDoubleLE(seq, start + SEQ);
		memory.writeDoubleLE(publishedAt, start + PUBLISHED_AT);
		memory.writeUInt32LE(this.#typeIndex(type), start + TYPE);
		memory.writeUInt32LE(id.length, start + ID_LENGTH);
		memory.write(id, start + HEADER_BYTES, "latin1");
		memory.set(body, start + HEADER_BYTES + id.length);
		this.#ends.push(end);
	}

	/** The event at this index. Its body is part of this memory, so it ends with it. */
	at(index: number): LaneEvent {
		const start = this.#start(index);
		const memory = this.#memory;
		const bodyAt = start + HEADER_BYTES + memory.readUInt32LE(start + ID_LENGTH);
		return {
			seq: memory.readDoubleLE(start + SEQ),
			id: memory.toString("latin1", start + HEADER_BYTES, bodyAt),
			type: this.#types[memory.readUInt32LE(start + TYPE)]!,
			publishedAt: memory.readDoubleLE(start + PUBLISHED_AT),
			body: memory.subarray(bodyAt, this.#ends[index]),
		};
	}

	seqAt(index: number): number {
		return this.#memory.readDoubleLE(this.#start(index) + SEQ);
	}

	/** The event with this number, if it is one of them. */
	find(seq: number): LaneEvent | undefined {
		for (let index = 0; index < this.length; index++) if (this.seqAt(index) === seq) return this.at(index);
		return undefined;
	}

	/** Removes all events, and frees their memory. */
	free(): void {
		this.#ends = [];
		this.#replace(NOTHING);
	}

	#start(index: number): number {
		return index === 0 ? 0 : this.#ends[index - 1]!;
	}

	#typeIndex(type: string): number {
		const index = this.#types.indexOf(type);
		return index >= 0 ? index : this.#types.push(type) - 1;
	}

	/** Moves the records to as much memory as this. */
	#reserve(bytes: number): void {
		const memory = Buffer.allocUnsafeSlow(bytes);
		memory.set(this.#memory);
		this.#replace(memory);
	}

	#replace(memory: Buffer<ArrayBuffer>): void {
		// V8 itself would free it only once it found that nothing refers to it.
		if (this.#memory !== NOTHING) this.#memory.buffer.transfer(0);
		this.#memory = memory;
	}
}

/** How much a record takes of the memory, bytes. */
export function recordBytes({ id, body }: LaneEvent): number {
	return HEADER_BYTES + id.length + body.length;
}
