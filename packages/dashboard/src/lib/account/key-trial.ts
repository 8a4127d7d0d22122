import { type EventType, eventTypeEntry } from "@posthorn/protocol";
import { quote } from "../attempts/curl.ts";
import type { KeyScope } from "./key-scopes.ts";

interface NewKey {
	readonly key: string;
	readonly scopes: readonly KeyScope[];
	/** When it was created, milliseconds since 1970. */
	readonly at: number;
}

/** A way to try a new API key. */
export interface KeyTrial {
	/** What the command does, in sentences. */
	readonly words: string;
	/** For a POSIX shell. */
	readonly command: string;
}

/** The shortest sample, and no receiver does much with it. */
const TYPE: EventType = "delivery.success";

/**
 * A command that uses a new key within its scopes: it lists the project's webhooks, or publishes an event if the key may
 * not read. By the event's id receivers can tell that it's a sample, and running the command again doesn't publish
 * another one. Null if the key may do neither.
 */
export function keyTrial(origin: string, projectId: string, { key, scopes, at }: NewKey): KeyTrial | null {
	const project = `${origin}/v1/projects/${projectId}`;
	const header = (text: string) => `-H ${quote(text)}`;
	const call = (path: string, ...words: string[]) =>
		[`curl ${quote(`${project}/${path}`)}`, header(`Authorization: Bearer ${key}`), ...words].join(" \\\n  ");
	if (scopes.includes("read")) return { words: "Try it by listing the project's webhooks.", command: call("webhooks") };
	if (!scopes.includes("publish")) return null;
	const event = { id: `evt_sample_${at.toString(36)}`, type: TYPE, data: eventTypeEntry(TYPE).sample };
	return {
		words: `Try it by publishing a sample event. Webhooks that receive ${TYPE} get it.`,
		command: call("events", header("Content-Type: application/json"), `-d ${quote(JSON.stringify(event))}`),
	};
}
