import { typedName } from "./names.ts";

/** The kinds of things that can be opened by id. */
export type JumpTarget =
	| { readonly kind: "event" | "attempt" | "webhook" | "project"; readonly id: string }
	| { readonly kind: "unknown"; readonly id: string };

const KINDS = { evt: "event", att: "attempt", wh: "webhook", proj: "project" } as const;

/** An id shortened in the middle, keeping its kind and its end: `evt_01kb…y6a7`. */
export function shortId(id: string, { head = 4, tail = 4 }: { head?: number; tail?: number } = {}): string {
	const split = id.lastIndexOf("_") + 1;
	const rest = id.length - split;
	if (rest <= head + tail + 1) return id;
	return `${id.slice(0, split + head)}…${id.slice(-tail)}`;
}

/** What a typed or pasted id refers to. Surrounding space and quotation marks are ignored. */
export function jumpTarget(text: string): JumpTarget {
	const id = typedName(text).replace(/^["'`]+|["'`,]+$/g, "");
	const prefix = /^([a-z]+)_\S+$/.exec(id)?.[1];
	if (prefix !== undefined && Object.hasOwn(KINDS, prefix)) return { kind: KINDS[prefix as keyof typeof KINDS], id };
	return { kind: "unknown", id };
}
