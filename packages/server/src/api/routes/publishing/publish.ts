import { type EventType, isEventType, isoTime, memberSource } from "@posthorn/protocol";
import type { FastifyRequest } from "fastify";
import { REQUESTS, RESPONSES } from "../../../base/budgets.ts";
import { rowsOf } from "../../../base/collections.ts";
import { EVENT_ID } from "../../../base/ids.ts";
import type { Fault } from "../../../base/text.ts";
import type { Pause } from "../../../base/turns.ts";
import type {
	DraftReader,
	EventDraft,
	EventDrafts,
	PublishedEvent as Published,
	PublishResult,
} from "../../../engine/engine.ts";
import { dataFaults } from "../../../engine/publish/check.ts";
import { forgetBody } from "../../http/body.ts";
import { JsonList } from "../../http/json-body.ts";
import { invalid, LOG_PROBLEMS, MAX_FAULTS, notFound, notWritten, Problem } from "../../http/problem.ts";
import { escapePointer, isObject, parseTime } from "../../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, count, EventId, EventTypeName, givenTime, id, request, Time, Type } from "../../schema.ts";
import { oneOfTypes } from "./event-types.ts";

const route = routeIn("Events", "project");

const MAX_BATCH = REQUESTS.batchEvents;

/** What the schema of enforced data can't say. */
const ALSO_REFUSED =
	"is also refused if an integer has a fraction, an exponent or an absolute value above 2^53 - 1, if a field that the schema names appears twice, or if `currency` isn't in ISO 4217";

const NewEvent = Type.Unknown({
	title: "NewEvent",
	description: `An event to publish. \`data\` is delivered character for character. The schemas of \`purchase.completed\` and \`purchase.refunded\` are enforced: an event ${ALSO_REFUSED}. For the other types any object is accepted, and the schema says what receivers expect.`,
	...oneOfTypes("New", {
		id: Type.Optional(EventId),
		created_at: Type.Optional(
			givenTime("When the event happened; the time of the call by default. At most 5 minutes in the future."),
		),
	}),
	examples: [{ type: "delivery.success", data: { order_id: "ord_10482" } }],
});
const NewEvents = Type.Union([
	NewEvent,
	request("NewEventBatch")({ events: Type.Array(NewEvent, { minItems: 1, maxItems: MAX_BATCH }) }),
]);
export const PublishedEvent = component("PublishedEvent")({
	id: EventId,
	seq: Type.Integer({ description: "Its sequence number in the project's log." }),
	type: EventTypeName,
	created_at: Time,
	project_id: id("project"),
});
const PublishedEvents = Type.Union([
	PublishedEvent,
	component("PublishedEventBatch")({ events: Type.Array(PublishedEvent) }),
]);

/** What the ids of sample events begin with, so that receivers and the log can tell them from others. */
const SAMPLE_PREFIX = "evt_sample_";

const SampleRequest = Type.Unknown({
	title: "SampleRequest",
	description: `A sample event. Its data must match its type's schema, even for types whose schema isn't enforced when publishing. It ${ALSO_REFUSED}.`,
	...oneOfTypes(
		"Sample",
		{
			webhooks: count(
				"How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents.",
			),
		},
		{ webhooks: 1 },
	),
	examples: [{ type: "delivery.success", data: { order_id: "ord_10482" }, webhooks: 1 }],
});

export function publishRoutes({ storage, engine, config, ids }: ApiParts): Route[] {
	const eventBytes = config.maxEventBytes + REQUESTS.envelopeBytes;

	/** Nothing here may keep the body in memory while waiting for the commit. */
	function begin(projectId: string, request: FastifyRequest, pause: Pause) {
		const { drafts, batch } = readNewEvents(request.body, request.bodyText);
		const onEncoded = () => forgetBody(request);
		return { publishing: engine.publish(projectId, drafts, { pause, onEncoded }), batch };
	}

	async function countSubscribers(projectId: string, type: string): Promise<number> {
		let count = 0;
		for await (const { events } of rowsOf((page) => storage.listWebhooks({ projectId, ...page })))
			if (events.includes(type)) count++;
		return count;
	}

	return [
		route("POST", "/v1/projects/{project_id}/events", "publishEvents", {
			summary: "Publish one event or up to 1,000",
			description:
				"Responds once the events are committed to the log, all of them or none. `data` is sent to receivers character for character. A repeated `id` with the same content gets the first response, and nothing is sent twice.",
			scope: "publish",
			rate: "none",
			body: NewEvents,
			checksOwnBody: true,
			bodyLimit: Math.max(config.maxBatchBytes, eventBytes),
			list: { member: "events", items: MAX_BATCH, itemBytes: eventBytes },
			resultBytes: RESPONSES.publishedBytes,
			success: { status: 202, description: "The events with their sequence numbers.", schema: PublishedEvents },
			problems: { ...LOG_PROBLEMS, conflict: "An id belongs to an event with different content." },
			async handler({ params: { projectId }, request, pause }) {
				const { publishing, batch } = begin(projectId, request, pause);
				const result = await publishing;
				if (result.kind !== "published") throw refused(result, batch);
				const events = result.events.map((event) => presentPublished(projectId, event));
				return batch ? { events } : events[0]!;
			},
		}),
		route("POST", "/v1/projects/{project_id}/samples", "publishSample", {
			summary: "Publish a sample event",
			description:
				"Publishes an event whose id begins with `evt_sample_`, by which receivers and the log can recognize it. Otherwise it's an event like any other: it goes to every subscribed webhook, in order and with retries, and counts in statistics. To try out a single webhook, send it a test event instead.",
			rate: "testEvents",
			scope: "publish",
			body: SampleRequest,
			checksOwnBody: true,
			success: { status: 202, description: "The event is published.", schema: PublishedEvent },
			problems: { conflict: "The type has more or fewer subscribed webhooks than `webhooks` says." },
			async handler({ params: { projectId }, request, audit }) {
				const { type, data, webhooks } = readSample(request.body, request.bodyText);
				const subscribers = await countSubscribers(projectId, type);
				if (subscribers !== webhooks)
					throw new Problem(
						"conflict",
						`${type} has ${subscribers} subscribed webhooks, not ${webhooks}. Nothing was published.`,
					);
				const id = `${SAMPLE_PREFIX}${ids.next("event").slice("evt_".length)}`;
				const result = await engine.publish(projectId, [{ id, type, data }]);
				if (result.kind !== "published") throw refused(result, false);
				const target = { kind: "event", id, name: id };
				audit({ projectId, action: "sample.published", target, detail: { type, webhooks } });
				return presentPublished(projectId, result.events[0]!);
			},
		}),
	];
}

const FIELDS: ReadonlySet<string> = new Set(["type", "data", "id", "created_at"]);

/**
 * The events of a publish call, checked by hand because this is the busiest route, and because `data` isn't inspected
 * but cut out of the source.
 *
 * @param text the source of `body`
 * @returns also whether they came as `{events: […]}`: the response then has the same form
 * @throws Problem 422 with all faults, or with many of them if there are very many; for a batch's events, when they are
 * read
 */
export function readNewEvents(body: unknown, text: string): { drafts: EventDrafts; batch: boolean } {
	const faults: Fault[] = [];
	if (!isObject(body)) throw invalid([{ pointer: "", detail: "must be an object" }]);
	if (!Object.hasOwn(body, "events")) {
		const draft = readEvent(body, text, "", faults);
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
		if (isObject(value)) return readEvent(value, text, pointer, this.#faults);
		this.#faults.push({ pointer, detail: "must be an object" });
		return null;
	}
}

/** @param text the event's source */
function readEvent(
	event: Readonly<Record<string, unknown>>,
	text: string,
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
		data: memberSource(text, "data") ?? "{}",
		...(typeof id === "string" && { id }),
		...(createdAt !== null && { createdAt }),
	};
}

const SAMPLE_FIELDS: ReadonlySet<string> = new Set(["type", "data", "webhooks"]);

/**
 * @param source of `body`
 * @throws Problem 422 with all faults
 */
function readSample(body: unknown, source: string) {
	if (!isObject(body)) throw invalid([{ pointer: "", detail: "must be an object" }]);
	const { type, data, webhooks } = body;
	const faults: Fault[] = Object.keys(body)
		.filter((name) => !SAMPLE_FIELDS.has(name))
		.slice(0, MAX_FAULTS)
		.map((name) => ({ pointer: `/${escapePointer(name)}`, detail: "is not a known field" }));
	if (typeof type !== "string" || !isEventType(type))
		throw invalid([...faults, { pointer: "/type", detail: "must be an event type; GET /v1/event-types lists them" }]);
	if (!isObject(data)) throw invalid([...faults, { pointer: "/data", detail: "must be an object" }]);
	if (!Number.isSafeInteger(webhooks) || (webhooks as number) < 0)
		faults.push({ pointer: "/webhooks", detail: "must be a whole number from 0" });
	const text = memberSource(source, "data")!;
	faults.push(...dataFaults(type, text));
	if (faults.length > 0) throw invalid(faults);
	return { type, data: text, webhooks: webhooks as number };
}

export function presentPublished(projectId: string, { id, seq, type, createdAt }: Published) {
	return { id, seq, type: type as EventType, created_at: isoTime(createdAt), project_id: projectId };
}

function refused(result: Exclude<PublishResult, { kind: "published" }>, batch: boolean): Problem {
	const pointerOf = (index: number, pointer: string) => (batch ? `/events/${index}${pointer}` : pointer);
	switch (result.kind) {
		case "invalid":
			return invalid(
				result.faults.map(({ index, pointer, detail }) => ({ pointer: pointerOf(index, pointer), detail })),
			);
		case "too_large":
			return new Problem(
				"too-large",
				`The event's data has ${result.bytes} bytes; ${result.limit} are allowed. Send less, such as a reference to the rest.`,
				{ errors: [{ pointer: pointerOf(result.index, "/data"), detail: `must have at most ${result.limit} bytes` }] },
			);
		case "conflict":
			return new Problem(
				"conflict",
				`An event with this id and different content ${batch ? "was published before, or comes earlier in this batch" : "was published before"}. Nothing was published now.`,
				{
					errors: result.indexes.map((index) => ({
						pointer: pointerOf(index, "/id"),
						detail: "already belongs to different content",
					})),
				},
			);
		case "no_project":
			return notFound("project");
		case "busy":
		case "locked":
			return notWritten(result);
	}
}
