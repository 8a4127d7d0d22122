import type { FactEvent, LogEvent, Recorded } from "../port.ts";

/** A fact as it was recorded. */
export type RecordedFact = { readonly digest: Uint8Array; readonly at: number; readonly events: readonly FactEvent[] };

/** The original response to a fact that was recorded before, or a conflict if its content differs; null if it is new. */
export function earlier(fact: RecordedFact | undefined, digest: Uint8Array): Recorded | null {
	if (fact === undefined) return null;
	if (Buffer.compare(fact.digest, digest) !== 0) return { kind: "conflict" };
	return { kind: "repeated", at: fact.at, events: fact.events };
}

export const recorded = (at: number, appended: readonly LogEvent[]): Recorded & { readonly kind: "recorded" } => {
	return { kind: "recorded", at, events: factEvents(appended), appended };
};

/** What is stored with a fact. */
export const factEvents = (appended: readonly LogEvent[]): FactEvent[] =>
	appended.map(({ id, seq, type, createdAt }) => ({ id, seq, type, createdAt }));
