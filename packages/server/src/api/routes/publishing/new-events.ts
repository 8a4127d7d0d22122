import { isEventType, memberSource } from "@posthorn/protocol";
import { REQUESTS } from "../../../base/budgets.ts";
import { EVENT_ID } from "../../../base/ids.ts";
import type { Fault } from "../../../base/text.ts";
import type { DraftReader, EventDraft, EventDrafts } from "../../../engine/engine.ts";
import { JsonList } from "../../http/json-body.ts";
import { invalid, MAX_FAULTS } from "../../http/problem.ts";
import { escapePointer, isObject, parseTime } from "../../http/validate.ts";

/** Events of one publish call. */
export const MAX_BATCH = REQUESTS.batchEvents;

const FIELDS: ReadonlySet<string> = new Set(["type", "data", "id", "created_at"]);

export interface NewEvents {
	readonly drafts: EventDrafts;
	/** Whether they came as `{events: […]}`: the response then has the same form. */
	readonly batch: boolean;
}

/**
 * The events of a publish call, checked by hand because this is the busiest route, and because `data` isn't inspected
 * but cut out of the source.
 *
 * @param text the source of `body`
 * @throws Problem 422 with all faults, or with many of them if there are very many; for a batch's events, when they are
 * read
 */
export function readNewEvents(body: unknown, text: string): NewEvents {
	const faults: Fault[] = [];
	if (!isObject(body)) throw invalid([{ pointer: "", detail: "must be an object" }]);
	if (!Object.hasOwn(body, "events")) {
		const draft = readEvent(body, () => memberSource(text, "data"), "", faults);
		if (faults.length > 0) throw invalid(faults);
		return { drafts: [draft], batch: false };
	}
	for (const name of Object.keys(body).slice(0, MAX_FAULTS))
		if (name !== "events")
			faults.push({ pointer: `/${escapePointer(name)}`, detail: "is not a known field: a batch has only events" });
	const { events } = body;
	if (!(events instanceof JsonList)) throw invalid([...faults, { pointer: "/events", detail: "must be an array" }]);
	if (events.length === 0) throw invalid([...faults, { pointer: "/events", detail: "must have at least 1 item" }]);
	return { drafts: new BatchDrafts(events, faults), batch: true };
}

/** The events of a batch, parsed a few at a time. From the first fault on, they are only checked. */
class BatchDrafts implements DraftReader {
	readonly length: number;
	readonly bytes: number;
	readonly #events: JsonList;
	readonly #faults: Fault[];
	#at = 0;

	constructor(events: JsonList, faults: Fault[]) {
		this.length = events.length;
		this.bytes = events.bytes;
		this.#events = events;
		this.#faults = faults;
	}

	next(): EventDraft[] | null {
		if (this.#at === this.length || this.#faults.length > MAX_FAULTS) {
			if (this.#faults.length > 0) throw invalid(this.#faults);
			return null;
		}
		const drafts: EventDraft[] = [];
		for (const end = this.#events.groupEnd(this.#at); this.#at < end; this.#at++) {
			const draft = this.#read(this.#at);
			if (draft !== null && this.#faults.length === 0) drafts.push(draft);
		}
		this.#events.rest();
		return drafts;
	}

	#read(index: number): EventDraft | null {
		const pointer = `/events/${index}`;
		const { value, text } = this.#events.read(index);
		if (isObject(value)) return readEvent(value, () => memberSource(text, "data"), pointer, this.#faults);
		this.#faults.push({ pointer, detail: "must be an object" });
		return null;
	}
}

function readEvent(
	event: Readonly<Record<string, unknown>>,
	source: () => string | undefined,
	pointer: string,
	faults: Fault[],
): EventDraft {
	const fault = (name: string, detail: string) => faults.push({ pointer: `${pointer}/${name}`, detail });
	for (const name of Object.keys(event).slice(0, MAX_FAULTS))
		if (!FIELDS.has(name)) fault(escapePointer(name), "is not a known field");
	const { type, data, id, created_at } = event;
	if (!Object.hasOwn(event, "type")) fault("type", "is missing");
	else if (typeof type !== "string" || !isEventType(type))
		fault("type", "must be an event type; GET /v1/event-types lists them");
	if (!Object.hasOwn(event, "data")) fault("data", "is missing");
	else if (!isObject(data)) fault("data", "must be an object");
	if (id !== undefined && !(typeof id === "string" && EVENT_ID.test(id)))
		fault("id", "must be evt_ and 1 to 60 letters, digits, - or _");
	const createdAt = typeof created_at === "string" ? parseTime(created_at) : null;
	if (created_at !== undefined && createdAt === null)
		fault("created_at", "must be an ISO 8601 time with its zone, such as 2026-11-21T03:47:36.123Z");
	return {
		type: typeof type === "string" ? type : "",
		data: source() ?? "{}",
		...(typeof id === "string" && { id }),
		...(createdAt !== null && { createdAt }),
	};
}
