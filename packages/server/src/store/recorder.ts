import { createHash } from "node:crypto";
import { type EventType, encodeEnvelope } from "@posthorn/protocol";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Busy, Engine } from "../engine/engine.ts";
import type { FactEvent, FactStorage, NewEvent, Recorded } from "../storage/port.ts";

/** A fault in one field of a report. */
export interface FactFault {
	/** A JSON Pointer (RFC 6901) into the report. */
	readonly pointer: string;
	/** Reads on from the field's name. */
	readonly detail: string;
}

interface Told<K extends string> {
	readonly kind: K;
	/** Milliseconds since the Unix epoch. */
	readonly at: number;
	readonly events: readonly FactEvent[];
}

/** A fact as recorded, now or before: a repeated report returns the same. */
export type FactRecorded = Told<"recorded"> | Told<"repeated">;

/** Why nothing was recorded. */
export type FactRefused =
	| { readonly kind: "invalid"; readonly faults: readonly FactFault[] }
	/** The event's data would exceed the limit, bytes. */
	| { readonly kind: "too_large"; readonly bytes: number; readonly limit: number }
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

	/** Whether the data of an event would be too large; null if not. */
	sizeFault(data: string): Extract<FactRefused, { kind: "too_large" }> | null {
		const limit = this.#options.maxEventBytes;
		const bytes = Buffer.byteLength(data);
		return bytes > limit ? { kind: "too_large", bytes, limit } : null;
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
