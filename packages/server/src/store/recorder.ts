import { createHash } from "node:crypto";
import { type EventType, encodeEnvelope } from "@posthorn/protocol";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import { type Fault, type Invalid, TEXT_PATTERN } from "../base/text.ts";
import type { Busy, Engine } from "../engine/engine.ts";
import { payloadFaults } from "../engine/publish/check.ts";
import type { FactEvent, FactStorage, NewEvent, Recorded } from "../storage/port.ts";

interface Recording<K extends string> {
	readonly kind: K;
	/** Milliseconds since the Unix epoch. */
	readonly at: number;
	readonly events: readonly FactEvent[];
}

/** A fact as recorded, now or before: a repeated report returns the same. */
export type FactRecorded = Recording<"recorded"> | Recording<"repeated">;

/** The event's data would exceed the limit, bytes. */
interface TooLarge {
	readonly kind: "too_large";
	readonly bytes: number;
	readonly limit: number;
}

export type FactRefused =
	| Invalid
	| TooLarge
	/** The same id was recorded with different content. */
	| { readonly kind: "conflict" }
	| { readonly kind: "no_project" }
	| Busy;

export type FactResult = FactRecorded | FactRefused;
/** For facts about an order, which must be recorded before. */
export type OrderFactResult = FactResult | { readonly kind: "no_order" };

/** SHA-256 of the report: the same for the same values, in any order of an object's members. */
export function digestOf(report: unknown): Buffer {
	return createHash("sha256").update(canonical(report)).digest();
}

/** JSON with every object's members sorted by name, without undefined ones. */
function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	const members = Object.entries(value)
		.filter(([, member]) => member !== undefined)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
	return `{${members.join(",")}}`;
}

/** What a fact counts for in addition to its text, bytes: its candidate events' envelopes, digests and rows. */
const FACT_BYTES = 1_024;

export interface StoreOptions {
	readonly storage: FactStorage;
	readonly engine: Pick<Engine, "appended" | "queue" | "recheck">;
	readonly clock: Clock;
	readonly ids: IdSource;
	/** Maximum size of an event's `data`, bytes. */
	readonly maxEventBytes: number;
}

/** What all rules share: creating candidate events, and passing on those that storage has appended. */
export class FactRecorder {
	readonly storage: FactStorage;
	readonly #options: StoreOptions;

	constructor(options: StoreOptions) {
		this.storage = options.storage;
		this.#options = options;
	}

	now(): number {
		return this.#options.clock.now();
	}

	/** An event that storage may append. `data` is JSON text. */
	candidate(projectId: string, type: EventType, createdAt: number, data: string): NewEvent {
		const id = this.#options.ids.next("event");
		const body = encodeEnvelope({ id, type, createdAt, projectId, data });
		return { id, type, createdAt, createdAtGiven: true, body };
	}

	/** What storage records of a report that leads to an event with this data. */
	factOf(projectId: string, type: EventType, data: string, report: object) {
		const at = this.now();
		return { at, digest: digestOf(report), event: this.candidate(projectId, type, at, data) };
	}

	/**
	 * The data of an event as JSON text, or why it can't be published.
	 *
	 * @param faults found by checks that the catalogue's schema can't express; one of a field replaces the schema's
	 */
	dataOf(type: EventType, payload: object, faults: readonly Fault[] = []): string | Invalid | TooLarge {
		const known = new Set(faults.map(({ pointer }) => pointer));
		const all = [...faults, ...payloadFaults(type, payload).filter(({ pointer }) => !known.has(pointer))];
		if (all.length > 0) return { kind: "invalid", faults: all };
		const data = JSON.stringify(payload);
		const limit = this.#options.maxEventBytes;
		const bytes = Buffer.byteLength(data);
		return bytes > limit ? { kind: "too_large", bytes, limit } : data;
	}

	/**
	 * Stores one or more facts, unless the queue to the log is full. Facts share this queue with published events.
	 *
	 * @param bytes the size of their text
	 */
	async admit<T>(projectId: string, bytes: number, store: () => Promise<T>, facts = 1): Promise<T | Busy> {
		const { queue, recheck } = this.#options.engine;
		const weight = bytes + facts * FACT_BYTES;
		const whose = queue.takeWhole(projectId, weight);
		if (whose !== null) return { kind: "busy", whose };
		try {
			return await store();
		} catch (error) {
			recheck(projectId);
			throw error;
		} finally {
			queue.give(projectId, weight);
		}
	}

	/** Hands appended events to the lanes, so that they are sent immediately, and returns the rest. */
	done(projectId: string, result: Recorded): FactResult {
		if (result.kind !== "recorded") return result;
		const { kind, at, events, appended } = result;
		this.#options.engine.appended(projectId, appended);
		return { kind, at, events };
	}
}

/** Characters that an identifier may have as part of a URL: no router accepts longer ones. */
export const ID_LENGTH = 100;
/** Items nested deeper than this are refused without being walked. */
const MAX_DEPTH = 32;

/** What is wrong with one of the store platform's identifiers. */
export function idFaults(pointer: string, id: string): Fault[] {
	if (id.length === 0) return [{ pointer, detail: "must not be empty" }];
	if (id === "." || id === "..")
		return [{ pointer, detail: "must not be . or .., which have a special meaning in URLs" }];
	const faults = textFaults(pointer, id);
	if (faults.length > 0) return faults;
	if (id.length <= ID_LENGTH && encodeURIComponent(id).length <= ID_LENGTH) return [];
	return [{ pointer, detail: `must have at most ${ID_LENGTH} characters, percent-encoded as in a URL` }];
}

const TEXT = new RegExp(TEXT_PATTERN, "u");

export function textFaults(pointer: string, text: string | undefined): Fault[] {
	if (text === undefined || (TEXT.test(text) && text.isWellFormed())) return [];
	return [{ pointer, detail: "must be text without control characters" }];
}

/** Numbers that have already lost digits, and so would be another product's id; and excessive nesting. */
export function itemFaults(items: readonly unknown[]): Fault[] {
	for (const [index, item] of items.entries()) {
		const detail = inexact(item, 0);
		if (detail !== null) return [{ pointer: `/items/${index}`, detail }];
	}
	return [];
}

function inexact(value: unknown, depth: number): string | null {
	if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
		return "holds a number beyond 2^53, which JSON readers do not keep exactly: send it as a string";
	if (typeof value === "number" && !Number.isFinite(value)) return "holds a number that is too large";
	if (typeof value !== "object" || value === null) return null;
	if (depth === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
	for (const member of Object.values(value)) {
		const fault = inexact(member, depth + 1);
		if (fault !== null) return fault;
	}
	return null;
}
