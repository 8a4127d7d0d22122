import { EVENT_TYPES, type EventType, type EventTypeEntry, isoTime } from "@posthorn/protocol";
import type { FastifyRequest } from "fastify";
import { endOfRights } from "../../../accounts/index.ts";
import { REQUESTS, WAITERS } from "../../../base/budgets.ts";
import { EVENT_ID } from "../../../base/ids.ts";
import type { Pause } from "../../../base/turns.ts";
import type { PublishedEvent as Published, PublishResult } from "../../../engine/engine.ts";
import type { WaitEnd } from "../../changes.ts";
import { forgetBody } from "../../http/body.ts";
import {
	found,
	invalid,
	LOG_PROBLEMS,
	notFound,
	notWritten,
	Problem,
	RETRY_S,
	retryLater,
} from "../../http/problem.ts";
import { type ApiParts, type Call, RawResponse, type Route, routeIn } from "../../route.ts";
import {
	Cursor,
	closed,
	component,
	decodeCursor,
	EventTypeName,
	encodeCursor,
	givenTime,
	id,
	Limit,
	NextCursor,
	PAGE_LIMIT,
	request,
	Time,
	Type,
	text,
} from "../../schema.ts";
import { dataSchema, titleOf } from "./event-types.ts";
import { checkPosition, type LogPage, type LogPosition, readPage } from "./log-page.ts";
import { MAX_BATCH, readNewEvents } from "./new-events.ts";

const route = routeIn("Events");

export const EventId = Type.String({
	pattern: EVENT_ID.source,
	description: "The event's identifier. Receivers deduplicate by it.",
	examples: ["evt_01kbjh6mrxe3q8z1v2t4w5y6a7"],
});
const DATA_RULES =
	"`data` is delivered character for character. The schemas of `purchase.completed` and `purchase.refunded` are enforced: an event is also refused if an integer has a fraction, an exponent or an absolute value above 2^53 - 1, if a field that the schema names appears twice, or if `currency` isn't in ISO 4217. For the other types any object is accepted, and the schema says what receivers expect.";

const Data = Type.Object(
	{},
	{
		additionalProperties: true,
		description: "The event's own data. Its schema depends on the type: `GET /v1/event-types`.",
	},
);

export const Envelope = component("Envelope", { description: "The body that a webhook receives, byte for byte." })({
	id: EventId,
	type: EventTypeName,
	created_at: Time,
	project_id: id("proj", "project"),
	data: Data,
});
/** The form of an epoch's name. */
export const EPOCH = "^[0-9]{1,15}\\.[0-9a-f]{8}$";

export const EventPage = Type.Object({
	data: Type.Array(Envelope, { description: "The envelopes, each with exactly the bytes that webhooks receive." }),
	next_cursor: NextCursor,
	last_seq: Type.Integer({
		description: "The last `seq` that was read. Pass it as `after` later to get the events since.",
	}),
	epoch: Type.String({
		pattern: EPOCH,
		description: "Identifies the history of the log. Store it with `last_seq`, and pass both.",
		examples: ["1.9f86d081"],
	}),
});
const newEventOf = (entry: EventTypeEntry) =>
	Type.Object(
		{
			type: Type.Unknown({ type: "string", const: entry.type }),
			data: dataSchema(entry),
			id: Type.Optional(EventId),
			created_at: Type.Optional(
				givenTime("When the event happened; the time of the call by default. At most 5 minutes in the future."),
			),
		},
		{ ...closed, title: `New${titleOf(entry.type)}`, examples: [{ type: entry.type, data: entry.sample }] },
	);

export const NewEvent = Type.Unknown({
	title: "NewEvent",
	description: `An event to publish. ${DATA_RULES}`,
	oneOf: EVENT_TYPES.map(newEventOf),
	discriminator: {
		propertyName: "type",
		mapping: Object.fromEntries(EVENT_TYPES.map(({ type }) => [type, `#/components/schemas/New${titleOf(type)}`])),
	},
	examples: [{ type: "delivery.success", data: { order_id: "ord_10482" } }],
});
export const NewEvents = Type.Union([
	NewEvent,
	request("NewEventBatch")({ events: Type.Array(NewEvent, { minItems: 1, maxItems: MAX_BATCH }) }),
]);
export const PublishedEvent = component("PublishedEvent")({
	id: EventId,
	seq: Type.Integer({ description: "Its sequence number in the project's log." }),
	type: EventTypeName,
	created_at: Time,
	project_id: id("proj", "project"),
});
const PublishedEvents = Type.Union([
	PublishedEvent,
	component("PublishedEventBatch")({ events: Type.Array(PublishedEvent) }),
]);

/** The longest wait for events, seconds; shorter than the idle timeouts of proxies. */
const MAX_WAIT_S = 30;
/** Queries accept whole numbers of up to 15 digits. */
const MAX_SEQ = 999_999_999_999_999;
/** The last `seq` of a page and the log's epoch, which earlier versions left out. */
const POSITION = /^(\d{1,15})(?:@(\d{1,15}\.[0-9a-f]{8}))?$/;

const EventQuery = Type.Object(
	{
		after: Type.Optional(
			Type.Integer({
				minimum: 0,
				maximum: MAX_SEQ,
				default: 0,
				description: "Events after this `seq`. Not together with `cursor`.",
			}),
		),
		epoch: Type.Optional(
			Type.String({
				pattern: EPOCH,
				errorMessage: "must be the epoch from an earlier response, unchanged",
				description:
					"The `epoch` that came with `after`. If events up to `after` have been lost since, the response is 409 instead of other events with the same numbers. Not together with `cursor`, which contains it.",
			}),
		),
		type: Type.Optional(
			Type.Array(EventTypeName, {
				description: "Only these types. Repeat the parameter or separate values with commas.",
			}),
		),
		wait: Type.Optional(
			Type.Integer({
				minimum: 0,
				maximum: MAX_WAIT_S,
				default: 0,
				description: "How many seconds to wait if there is no event yet.",
			}),
		),
		limit: Limit,
		cursor: Cursor,
	},
	closed,
);

export const NewListener = request("NewListener")({
	target: Type.String({
		...text,
		minLength: 1,
		maxLength: 300,
		description: "Where the events go, without secrets.",
		examples: ["localhost:3000"],
	}),
	types: Type.Optional(
		Type.Array(EventTypeName, { minItems: 1, uniqueItems: true, description: "By default, all types." }),
	),
});

export function eventRoutes({ storage, engine, config, longPolls, clock }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/events";
	const eventBytes = config.maxEventBytes + REQUESTS.envelopeBytes;
	return [
		route("POST", path, "publishEvents", {
			summary: "Publish one event or up to 1,000",
			description:
				"Responds once the events are committed to the log, all of them or none. `data` is sent to receivers character for character. A repeated `id` with the same content gets the first response, and nothing is sent twice.",
			access: "project",
			scope: "publish",
			rate: "none",
			body: NewEvents,
			checksOwnBody: true,
			bodyLimit: Math.max(config.maxBatchBytes, eventBytes),
			list: { member: "events", items: MAX_BATCH, itemBytes: eventBytes },
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
		route("GET", path, "listEvents", {
			summary: "Read the event log",
			description:
				"In log order: polling as an alternative to webhooks. Each item is an envelope with exactly the bytes that webhooks receive. A page has at most 4 MiB, so it may be shorter than `limit`: follow `next_cursor`. At the end, store `last_seq` and `epoch`, and pass them as `after` and `epoch` next time, with `wait` to get new events immediately.",
			access: "project",
			query: EventQuery,
			rate: "reads",
			success: { status: 200, description: "A page of envelopes.", schema: EventPage },
			problems: {
				"log-behind":
					"The log ends before `after`, or events up to it were lost since `epoch`. `continue_after` and `epoch` say where to continue.",
				"too-many-requests": "Too many calls wait for this project's events.",
			},
			async handler(call) {
				const { params, query, heavy } = call;
				const { cursor, type, wait = 0, limit = PAGE_LIMIT.default } = query;
				for (const name of ["after", "epoch"] as const)
					if (query[name] !== undefined && cursor !== undefined)
						throw invalid([{ pointer: `?${name}`, detail: "must be omitted if there is a cursor" }]);
				const position = cursor === undefined ? { after: query.after ?? 0, epoch: query.epoch } : positionOf(cursor);
				if (wait > 0) await waitFor(position, type, wait * 1_000, call);
				return heavy(async () => encodePage(await readPage(storage, params.projectId, position, limit, type)));
			},
		}),
		route("GET", `${path}/{event_id}`, "getEvent", {
			summary: "Get an event",
			description: "The body is the envelope, byte for byte as webhooks receive it. Test events are included.",
			access: "project",
			success: {
				status: 200,
				description: "The envelope.",
				schema: Envelope,
				headers: { "X-Posthorn-Seq": "Its sequence number in the project's log; negative for test events." },
			},
			async handler({ params: { projectId, eventId } }) {
				const event = found("event", await storage.findEvent({ projectId, eventId }));
				return new RawResponse(event.body, "application/json", { "X-Posthorn-Seq": String(event.seq) });
			},
		}),
		route("POST", "/v1/projects/{project_id}/listeners", "recordListener", {
			summary: "Record who listens to the log",
			description:
				"For programs that show the project's events to a person, or forward them to another machine, as `posthorn listen` does. It adds an entry to the audit log, and changes nothing else.",
			access: "project",
			role: "viewer",
			scope: "read",
			rate: "recordedReads",
			body: NewListener,
			success: { status: 204, description: "The audit log has the entry." },
			async handler({ params: { projectId }, body, audit }) {
				const { name } = found("project", await storage.getProject({ projectId }));
				const target = { kind: "project", id: projectId, name };
				audit({ projectId, action: "project.listened", target, detail: body });
			},
		}),
	];

	/** Nothing here may keep the body in memory while waiting for the commit. */
	function begin(projectId: string, request: FastifyRequest, pause: Pause) {
		const { drafts, batch } = readNewEvents(request.body, request.bodyText);
		const onEncoded = () => forgetBody(request);
		return { publishing: engine.publish(projectId, drafts, { pause, onEncoded }), batch };
	}

	/** Returns when there is an event after the position, time is up, or the caller has left. */
	async function waitFor(
		position: LogPosition,
		types: string[] | undefined,
		ms: number,
		{ params, request, principal, authorizeAgain }: Waiting,
	): Promise<void> {
		const { projectId } = params;
		const { raw, method } = request;
		const account = principal.kind === "person" ? principal.account.id : null;
		if (method === "HEAD") return;
		const until = clock.elapsed() + ms;
		let end: WaitEnd;
		do {
			const left = Math.min(until - clock.elapsed(), endOfRights(principal) - clock.now());
			const wait = longPolls.wait(projectId, types, Math.max(0, left), account);
			if (wait === null) {
				const most = account !== null ? `${WAITERS.callsOfPeople} calls of signed-in users` : `${WAITERS.calls} calls`;
				throw retryLater("own", `${most} are already waiting for this project's events.`, RETRY_S.later);
			}
			raw.socket.once("close", wait.cancel);
			try {
				const window = { maxEvents: 1, maxBytes: 1 };
				const rows = await storage.readLog({ projectId, after: position.after, window, types });
				if (rows.length > 0) return;
				await checkPosition(storage, projectId, position);
				end = await wait.end;
				// The right to read may have ended meanwhile.
				await authorizeAgain();
			} finally {
				wait.cancel();
				raw.socket.off("close", wait.cancel);
			}
		} while (end === "recheck" && !raw.socket.destroyed);
	}
}

type Waiting = Pick<Call<unknown, unknown>, "params" | "request" | "principal" | "authorizeAgain">;

/** Encoded by hand, so that each envelope keeps its exact bytes. */
function encodePage({ events, lastSeq, epoch, hasMore }: LogPage): RawResponse {
	const cursor = JSON.stringify(hasMore ? encodeCursor(`${lastSeq}@${epoch}`) : null);
	const parts: Uint8Array[] = [Buffer.from('{"data":[')];
	for (const [index, { body }] of events.entries()) parts.push(...(index > 0 ? [COMMA] : []), body);
	parts.push(Buffer.from(`],"next_cursor":${cursor},"last_seq":${lastSeq},"epoch":"${epoch}"}`));
	return new RawResponse(Buffer.concat(parts), "application/json");
}

function positionOf(cursor: string): LogPosition {
	const [, after, epoch] = POSITION.exec(decodeCursor(cursor, (text) => POSITION.test(text)))!;
	return { after: Number(after), epoch };
}

const COMMA = Buffer.from(",");

export function presentPublished(projectId: string, { id, seq, type, createdAt }: Published) {
	return { id, seq, type: type as EventType, created_at: isoTime(createdAt), project_id: projectId };
}

export function refused(result: Exclude<PublishResult, { kind: "published" }>, batch: boolean): Problem {
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
