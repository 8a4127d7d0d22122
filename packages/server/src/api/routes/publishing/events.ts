import type { Static } from "typebox";
import { endOfRights } from "../../../accounts/index.ts";
import { RESPONSES, WAITERS } from "../../../base/budgets.ts";
import type { LogEvent, Storage } from "../../../storage/port.ts";
import type { WaitEnd } from "../../changes.ts";
import { found, invalid, Problem, RETRY_S, retryLater } from "../../http/problem.ts";
import { givenMs } from "../../http/validate.ts";
import { type ApiParts, type Call, RawResponse, type Route, routeIn } from "../../route.ts";
import {
	component,
	cursorParts,
	EventId,
	EventTypeName,
	encodeCursor,
	givenTime,
	id,
	NextCursor,
	optional,
	paging,
	request,
	soughtId,
	strictObject,
	Time,
	Type,
	text,
} from "../../schema.ts";

const route = routeIn("Events", "project");

const Envelope = component("Envelope", { description: "The body that a webhook receives, byte for byte." })({
	id: EventId,
	type: EventTypeName,
	created_at: Time,
	project_id: id("project"),
	data: Type.Object(
		{},
		{
			additionalProperties: true,
			description: "The event's own data. Its schema depends on the type: `GET /v1/event-types`.",
		},
	),
});

const EPOCH = "^[0-9]{1,15}\\.[0-9a-f]{8}$";

const EventPage = Type.Object({
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

/** The longest wait for events, seconds; shorter than the idle timeouts of proxies. */
const MAX_WAIT_S = 30;
/** Queries accept whole numbers of up to 15 digits. */
const MAX_SEQ = 999_999_999_999_999;
/** The last `seq` of a page and the log's epoch, which earlier versions left out. */
const POSITION = /^(\d{1,15})(?:@(\d{1,15}\.[0-9a-f]{8}))?$/;

const EventQuery = strictObject({
	...optional({
		after: Type.Integer({
			minimum: 0,
			maximum: MAX_SEQ,
			default: 0,
			description: "Events after this `seq`.",
		}),
		after_event: soughtId("Events after this one. Test events aren't part of the log."),
		since: givenTime("Events published at this time or later."),
		epoch: Type.String({
			pattern: EPOCH,
			errorMessage: "must be the epoch from an earlier response, unchanged",
			description:
				"The `epoch` that came with `after`. If events up to `after` have been lost since, the response is 409 instead of other events with the same numbers. Only together with `after`: `cursor` contains it.",
		}),
		type: Type.Array(EventTypeName, {
			description: "Only these types. Repeat the parameter or separate values with commas.",
		}),
	}),
	wait: Type.Integer({
		minimum: 0,
		maximum: MAX_WAIT_S,
		default: 0,
		description: "How many seconds to wait if there is no event yet.",
	}),
	...paging,
});

const NewListener = request("NewListener")({
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

export function eventRoutes({ storage, longPolls, clock }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/events";
	return [
		route("GET", path, "listEvents", {
			summary: "Read the event log",
			description:
				"In log order: polling as an alternative to webhooks. Each item is an envelope with exactly the bytes that webhooks receive. A page has at most 4 MiB, so it may be shorter than `limit`: follow `next_cursor`. At the end, store `last_seq` and `epoch`, and pass them as `after` and `epoch` next time, with `wait` to get new events immediately. Only one of `after`, `after_event`, `since` and `cursor` can be given.",
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
				const { type, wait, limit } = query;
				const position = await startOf(query, params.projectId, heavy);
				if (wait > 0) await waitFor(position, type, wait * 1_000, call);
				return heavy(async () => encodePage(await readPage(storage, params.projectId, position, limit, type)));
			},
		}),
		route("GET", `${path}/{event_id}`, "getEvent", {
			summary: "Get an event",
			description: "The body is the envelope, byte for byte as webhooks receive it. Test events are included.",
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

	/** Where a reader starts. @throws Problem 422 if the query says it twice, 404 if there is no such event */
	async function startOf(query: Static<typeof EventQuery>, projectId: string, heavy: Waiting["heavy"]) {
		const { after = 0, after_event: eventId, since, cursor, epoch } = query;
		const [given, ...others] = STARTS.filter((name) => query[name] !== undefined);
		const unused = epoch !== undefined && given !== undefined && given !== "after" ? "epoch" : others[0];
		if (unused !== undefined)
			throw invalid([{ pointer: `?${unused}`, detail: `must be omitted if there is ${given}` }]);
		if (cursor !== undefined) return positionOf(cursor);
		if (since !== undefined) return heavy(() => positionBefore(storage, projectId, givenMs(since)!));
		if (eventId === undefined) return { after, epoch };
		const { seq } = found("event", await storage.findEvent({ projectId, eventId }));
		if (seq < 0) throw invalid([{ pointer: "?after_event", detail: "must not be a test event: the log has none" }]);
		return { after: seq, epoch: undefined };
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
		// The client may have left before, and nothing would end its wait.
		if (method === "HEAD" || raw.socket.destroyed) return;
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

type Waiting = Pick<Call<unknown, unknown>, "params" | "request" | "principal" | "authorizeAgain" | "heavy">;

/** What says where a reader starts; at the beginning if nothing does. */
const STARTS = ["cursor", "after", "after_event", "since"] as const;

/** Encoded by hand, so that each envelope keeps its exact bytes. */
function encodePage({ events, lastSeq, epoch, hasMore }: LogPage): RawResponse {
	const cursor = JSON.stringify(hasMore ? encodeCursor(`${lastSeq}@${epoch}`) : null);
	const parts: Uint8Array[] = [Buffer.from('{"data":[')];
	for (const [index, { body }] of events.entries()) parts.push(...(index > 0 ? [COMMA] : []), body);
	parts.push(Buffer.from(`],"next_cursor":${cursor},"last_seq":${lastSeq},"epoch":"${epoch}"}`));
	return new RawResponse(Buffer.concat(parts), "application/json");
}

function positionOf(cursor: string): LogPosition {
	const [after, epoch] = cursorParts(cursor, POSITION);
	return { after: Number(after), epoch };
}

const COMMA = Buffer.from(",");

/** How far a reader has read the log, and in which of its epochs, if the reader knows. */
export interface LogPosition {
	readonly after: number;
	readonly epoch: string | undefined;
}

interface LogPage {
	readonly events: readonly LogEvent[];
	/** The position after this page. */
	readonly lastSeq: number;
	readonly epoch: string;
	readonly hasMore: boolean;
}

type LogStorage = Pick<Storage, "epoch" | "readLog" | "readLogEnd">;

/** Throws 409 if the log no longer holds what was read up to this position, and 404 if there is no such project. */
async function checkPosition(storage: LogStorage, projectId: string, { after, epoch }: LogPosition): Promise<void> {
	const { lastSeq, kept } = found("project", await storage.readLogEnd({ projectId, since: epoch }));
	const continueAfter = Math.min(lastSeq, kept ?? lastSeq);
	if (after <= continueAfter) return;
	const why =
		after > lastSeq
			? `The log ends at ${lastSeq}, before ${after}`
			: `Events after ${continueAfter} were lost since epoch ${epoch}, and their numbers now belong to others`;
	throw new Problem("log-behind", `${why}. Continue with after=${continueAfter} and the epoch given here.`, {
		members: { last_seq: lastSeq, continue_after: continueAfter, epoch: storage.epoch },
	});
}

/** The position before the first event published at `since` or later, milliseconds since the Unix epoch; by bisection. */
async function positionBefore(storage: LogStorage, projectId: string, since: number): Promise<LogPosition> {
	const { lastSeq } = found("project", await storage.readLogEnd({ projectId }));
	let [low, high] = [0, lastSeq];
	while (low < high) {
		const middle = Math.floor((low + high) / 2);
		const [event] = await storage.readLog({ projectId, after: middle, window: { maxEvents: 1, maxBytes: 1 } });
		if (event === undefined || event.publishedAt >= since) high = middle;
		else low = event.seq;
	}
	return { after: low, epoch: undefined };
}

/** The next page, of at most `limit` events. Throws like {@link checkPosition}. */
export async function readPage(
	storage: LogStorage,
	projectId: string,
	position: LogPosition,
	limit: number,
	types?: readonly string[],
): Promise<LogPage> {
	const { after } = position;
	for (;;) {
		const { epoch } = storage;
		const window = { maxEvents: limit + 1, maxBytes: RESPONSES.pageBytes };
		const rows = await storage.readLog({ projectId, after, window, types });
		if (rows.length === 0 || (position.epoch !== undefined && position.epoch !== epoch))
			await checkPosition(storage, projectId, position);
		const events = rows.slice(0, limit);
		const lastSeq = events.at(-1)?.seq ?? after;
		let hasMore = rows.length > limit;
		if (!hasMore && events.length > 0) {
			// Whether the page or the log ended is unknown, so check.
			const next = { after: lastSeq, window: { maxEvents: 1, maxBytes: 1 }, types };
			hasMore = (await storage.readLog({ projectId, ...next })).length > 0;
		}
		// A read during an epoch change may have returned events of either epoch.
		if (storage.epoch === epoch) return { events, lastSeq, epoch, hasMore };
	}
}
