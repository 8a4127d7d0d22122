import type { Busy } from "../engine/engine.ts";
import type { FactEvent } from "../storage/port.ts";

/** What is wrong with one field of what was reported. */
export interface FactFault {
	/** A JSON Pointer (RFC 6901) into the report. */
	readonly pointer: string;
	/** Read after the field's name. */
	readonly detail: string;
}

interface Told<K extends string> {
	readonly kind: K;
	/** Milliseconds since the Unix epoch. */
	readonly at: number;
	readonly events: readonly FactEvent[];
}

/** A fact as it was recorded, now or before: the same answer for the same report. */
export type FactRecorded = Told<"recorded"> | Told<"repeated">;

/** Why nothing was recorded. */
export type FactRefused =
	| { readonly kind: "invalid"; readonly faults: readonly FactFault[] }
	/** The event's data would be larger than is allowed, bytes. */
	| { readonly kind: "too_large"; readonly bytes: number; readonly limit: number }
	/** The same id was recorded with other content. */
	| { readonly kind: "conflict" }
	| { readonly kind: "no_project" }
	| Busy;

export type FactResult = FactRecorded | FactRefused;
/** Of facts about an order, which must have been recorded before. */
export type OrderFactResult = FactResult | { readonly kind: "no_order" };
