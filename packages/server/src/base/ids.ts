import { randomBytes } from "node:crypto";
import type { Clock } from "./clock.ts";

export const ID_PREFIX = {
	project: "proj",
	event: "evt",
	webhook: "wh",
	attempt: "att",
	apiKey: "key",
	account: "acc",
	session: "ses",
	invitation: "inv",
	audit: "aud",
	node: "node",
} as const;

export type IdKind = keyof typeof ID_PREFIX;

/** Crockford's base32 in lower case, as TypeID 0.3 prescribes. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGITS = Buffer.from(ALPHABET);
const SUFFIX = "[0-7][0-9a-hjkmnp-tv-z]{25}";
const SUFFIX_LENGTH = 26;

/** Buffers in which the ids of each kind are written after their prefix, so that one call creates the whole string. */
const TEXTS = Object.fromEntries(
	Object.entries(ID_PREFIX).map(([kind, prefix]) => [kind, Buffer.from(`${prefix}_`.padEnd(prefix.length + 27))]),
) as Record<IdKind, Buffer>;

/** How far ids may run ahead of the clock, milliseconds. If they are further ahead, the clock was wrong earlier. */
const MAX_AHEAD_MS = 10_000;

/** Random bytes are drawn in blocks, so that one system call serves many ids. */
const POOL_BYTES = 8192;

/**
 * Makes TypeIDs: a type prefix, `_`, and a UUIDv7 (RFC 9562) in base32, 26 characters. Ids of one source strictly
 * increase, even within a millisecond and if the clock steps back by seconds, because the 12 bits after the time are a
 * counter (RFC 9562, 6.2, method 1). After a larger step back they contain the current time again, because bounds on
 * time are bounds on ids.
 */
export class IdSource {
	readonly #clock: Pick<Clock, "now">;
	readonly #random: (bytes: number) => Buffer;
	#pool: Buffer = Buffer.alloc(0);
	#poolAt = 0;
	#lastMs = 0;
	#counter = 0;

	constructor(clock: Pick<Clock, "now">, random: (bytes: number) => Buffer = randomBytes) {
		this.#clock = clock;
		this.#random = random;
	}

	/** @param now the time on the clock, if it was just read */
	next(kind: IdKind, now = this.#clock.now()): string {
		if (now > this.#lastMs || now < this.#lastMs - MAX_AHEAD_MS) {
			this.#lastMs = now;
			this.#counter = 0;
		} else if (++this.#counter > 0xfff) {
			this.#lastMs += 1;
			this.#counter = 0;
		}
		if (this.#poolAt + 8 > this.#pool.length) {
			this.#pool = this.#random(POOL_BYTES);
			this.#poolAt = 0;
		}
		const high = this.#pool.readUInt32BE(this.#poolAt);
		const low = this.#pool.readUInt32BE(this.#poolAt + 4);
		this.#poolAt += 8;
		const text = TEXTS[kind];
		writeSuffix(text, this.#lastMs, this.#counter, high, low);
		return text.toString("latin1");
	}
}

/** Writes the 128 bits of a UUIDv7 to the end of `text`, cut into 26 characters of 5 bits (the first carries 3). */
function writeSuffix(text: Buffer, ms: number, count: number, high: number, low: number): void {
	const msHigh = Math.floor(ms / 0x400000); // the upper 26 bits of the 48
	const msLow = ms % 0x400000; // the lower 22 bits
	// 130 bits are written, the first two of them zero.
	const first = Math.floor(msHigh / 8); // 2 + 23 bits: chars 0–4
	const second = ((msHigh & 7) * 0x400000 + msLow) >>> 0; // 3 + 22 bits: chars 5–9
	const version = 0x7000 | count; // 16 bits
	const variant = (0x80000000 | (high & 0x3fffffff)) >>> 0; // 2 bits of variant, 30 random
	// Left: 16 + 32 + 32 = 80 bits: chars 10–25.
	const a = version * 16 + (variant >>> 28); // 20 bits: chars 10–13
	const b = (variant & 0x0fffffff) >>> 8; // 20 bits: chars 14–17
	const c = ((variant & 0xff) * 0x1000 + (low >>> 20)) >>> 0; // 20 bits: chars 18–21
	const d = low & 0xfffff; // 20 bits: chars 22–25
	const start = text.length - SUFFIX_LENGTH;
	writeDigits(text, start, 5, first);
	writeDigits(text, start + 5, 5, second);
	writeDigits(text, start + 10, 4, a);
	writeDigits(text, start + 14, 4, b);
	writeDigits(text, start + 18, 4, c);
	writeDigits(text, start + 22, 4, d);
}

/** Writes the last 5 × `count` bits of `bits`, most significant first. */
function writeDigits(text: Buffer, at: number, count: number, bits: number): void {
	for (let i = count - 1, rest = bits; i >= 0; i--, rest >>>= 5) text[at + i] = DIGITS[rest & 31]!;
}

/** The form of ids of this kind, as a JSON Schema pattern. */
export const idPattern = (kind: IdKind) => `^${ID_PREFIX[kind]}_${SUFFIX}$`;

const FORMS = Object.fromEntries(
	Object.keys(ID_PREFIX).map((kind) => [kind, new RegExp(idPattern(kind as IdKind))]),
) as Record<IdKind, RegExp>;

export function isId(kind: IdKind, text: string): boolean {
	return FORMS[kind].test(text);
}

/** The form of events' ids, which publishers may choose. */
export const EVENT_ID = /^evt_[A-Za-z0-9_-]{1,60}$/;

/** How many of a suffix's characters carry its time. */
const TIME_LENGTH = 10;

function timeText(ms: number): string {
	const at = Math.max(0, Math.min(ms, 0xffffffffffff));
	const text = Buffer.alloc(SUFFIX_LENGTH);
	writeSuffix(text, at, 0, 0, 0);
	return text.toString("latin1", 0, TIME_LENGTH);
}

/** The lowest suffix that an id made at `ms` or later can have: a bound for ranges by time. */
export const lowestSuffixAt = (ms: number): string => timeText(ms) + "0".repeat(SUFFIX_LENGTH - TIME_LENGTH);

/** The same id with another time. */
export const withTime = (id: string, ms: number): string =>
	id.slice(0, -SUFFIX_LENGTH) + timeText(ms) + id.slice(TIME_LENGTH - SUFFIX_LENGTH);
