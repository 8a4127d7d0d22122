import { EVENT_TYPES, type EventTypeEntry, isEventType } from "@posthorn/protocol";
import { UsageError } from "../command-error.ts";

const known = (): string => EVENT_TYPES.map(({ type }) => type).join(", ");

/**
 * Event types of a flag that may be repeated, or list several with commas.
 *
 * @throws UsageError if one doesn't exist, or there are none
 */
export function parseTypes(given: readonly string[]): EventTypeEntry["type"][] {
	const names = given.flatMap((text) => text.split(",").map((name) => name.trim())).filter((name) => name !== "");
	if (names.length === 0) throw new UsageError([`Which types? Known types: ${known()}.`]);
	const unknown = names.filter((name) => !isEventType(name));
	if (unknown.length > 0) throw new UsageError([`Unknown event type: ${unknown.join(", ")}. Known types: ${known()}.`]);
	return names as EventTypeEntry["type"][];
}

/** The same, each once. The word `all` stands for every type. */
export function parseTypesOrAll(given: readonly string[]): EventTypeEntry["type"][] {
	const all = EVENT_TYPES.map(({ type }) => type);
	const names = given.flatMap((text) => text.split(",")).flatMap((name) => (name.trim() === "all" ? all : [name]));
	return [...new Set(parseTypes(names))];
}

/** @throws UsageError unless it is exactly one type that exists */
export function parseType(type: string | undefined): EventTypeEntry {
	if (type === undefined) throw new UsageError([`Which type? ${known()}`]);
	const [name, ...others] = parseTypes([type]);
	if (others.length > 0) throw new UsageError([`Choose one type: ${name} or ${others.join(" or ")}.`]);
	return EVENT_TYPES.find((entry) => entry.type === name)!;
}
