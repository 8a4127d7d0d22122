import { type EventType, isoTime, isoTimeOrNull, LOG_FILTERS } from "@posthorn/protocol";
import type { Static } from "typebox";
import { SEARCH } from "../../../base/budgets.ts";
import { DEVELOPER_APP } from "../../../registry/projects.ts";
import type { Sought } from "../../../search/references.ts";
import { searchText, type TextMatch, type TextPosition } from "../../../search/text.ts";
import type { EventSummary, Excerpt } from "../../../storage/port.ts";
import { hasLeft } from "../../http/admission.ts";
import { invalid } from "../../http/problem.ts";
import { type ApiParts, type Call, type Route, routeIn } from "../../route.ts";
import {
	component,
	count,
	cursorParts,
	decodeCursor,
	EventId,
	EventTypeName,
	encodeCursor,
	listWith,
	orNull,
	paging,
	strictObject,
	Time,
	Type,
	text,
} from "../../schema.ts";
import { AttemptSummary, presentAttemptSummary } from "./attempts.ts";
import { presentSearched, referenceFilters, SearchedEvents } from "./log-filters.ts";

const route = routeIn("Events", "project");

const EventMatch = component("EventMatch", {
	description: "An event that a search has found, by its body or by a response to it.",
})({
	id: EventId,
	seq: Type.Integer({ minimum: 1 }),
	type: EventTypeName,
	created_at: Time,
	excerpt: orNull(
		Type.Object({ before: Type.String(), match: Type.String(), after: Type.String() }),
		"With `text`: the first match in the body or response, and what is around it.",
	),
	attempt: orNull(
		AttemptSummary,
		"With `text`: the attempt whose response contains it; null if the event's body does.",
	),
});

const SearchQuery = strictObject({
	...referenceFilters,
	text: Type.Optional(
		Type.String({
			minLength: LOG_FILTERS.textLength.min,
			maxLength: LOG_FILTERS.textLength.max,
			...text,
			description:
				"Searches events' bodies and recorded responses (their first 1,024 bytes) for this text, in upper or lower case, as it is or as JSON writes it in a string.",
		}),
	),
	...paging,
});

const EventMatches = listWith(EventMatch, {
	searched_back_to: orNull(Time, "With `text`: everything from this time on has been searched."),
	events_searched: count("With `text`: how many events this call has read."),
	attempts_searched: count("With `text`: how many attempts' responses this call has read."),
	searched: Type.Optional(SearchedEvents),
});

const isPosition = (position: string) => /^[1-9][0-9]{0,15}$/.test(position);

/** The position of a search for text, in the two logs, each of which is empty at the log's end and 0 at its beginning. */
const TEXT_POSITION = /^([1-9][0-9]{0,15}|0?)\.(att_[0-9a-z]{26}|0?)$/;

const encodeTextPosition = ({ bodies, responses }: TextPosition): string =>
	encodeCursor(`${bodies === null ? 0 : (bodies ?? "")}.${responses === null ? 0 : (responses ?? "")}`);

function decodeTextPosition(cursor: string | undefined): TextPosition {
	if (cursor === undefined) return {};
	const [bodies, responses] = cursorParts(cursor, TEXT_POSITION);
	return {
		...(bodies !== "" && { bodies: bodies === "0" ? null : Number(bodies) }),
		...(responses !== "" && { responses: responses === "0" ? null : responses! }),
	};
}

export function eventSearchRoutes({ storage, references, clock }: ApiParts): Route[] {
	/** A page of the events with these order ids and customers. */
	async function findEvents(
		projectId: string,
		sought: Sought,
		limit: number,
		cursor: string | undefined,
		heavy: Call<unknown, unknown>["heavy"],
	): Promise<Static<typeof EventMatches>> {
		const position = cursor === undefined ? null : Number(decodeCursor(cursor, isPosition));
		const found = await heavy(() => references.find(projectId, sought));
		const rest = found.seqs.filter((seq) => position === null || seq < position);
		const page = rest.slice(0, limit);
		const described = await heavy(() => storage.describeEvents({ projectId, seqs: page }));
		return {
			data: described.map((event) => ({ ...presentEvent(event), excerpt: null, attempt: null })),
			next_cursor: page.length < rest.length ? encodeCursor(String(page.at(-1)!)) : null,
			searched_back_to: null,
			events_searched: 0,
			attempts_searched: 0,
			searched: presentSearched(found),
		};
	}

	return [
		route("GET", "/v1/projects/{project_id}/events/search", "searchEvents", {
			summary: "Search events",
			description: `Newest first. Search either by \`text\`, or by \`order_id\`, \`customer_email\` or both. Events are found by order id and customer e-mail in an index (the newest ${SEARCH.eventsOfReference}), and by \`text\` in their bodies and in the recorded responses to them. Responses belong to the delivery log, so they are only searched with the Developer app installed. A call with \`text\` searches for at most ${SEARCH.textMs} ms, so a page may be short or empty even if more follow. Continue until \`next_cursor\` is null, or stop whenever you like. Test events aren't searched.`,
			query: SearchQuery,
			rate: "reads",
			success: { status: 200, description: "A page of events.", schema: EventMatches },
			async handler({ params: { projectId }, query, request, reply, heavy }) {
				const { order_id: orderIds = [], customer_email: customerEmails = [], text: sought, limit, cursor } = query;
				if (orderIds.length + customerEmails.length > 0 === (sought !== undefined))
					throw invalid([
						{ pointer: "?text", detail: "search either by text, or by order_id, customer_email or both" },
					]);
				if (sought === undefined) return findEvents(projectId, { orderIds, customerEmails }, limit, cursor, heavy);
				const project = await storage.getProject({ projectId });
				const given = decodeTextPosition(cursor);
				const from = project?.apps.includes(DEVELOPER_APP) ? given : { ...given, responses: null };
				const isGone = () => hasLeft(request, reply);
				const search = { projectId, text: sought, from, limit, inTurn: heavy, isGone };
				const { found: matches, events, attempts, reached, next } = await searchText({ storage, clock }, search);
				return {
					data: matches.map(presentMatch),
					next_cursor: next === null ? null : encodeTextPosition(next),
					searched_back_to: isoTimeOrNull(reached),
					events_searched: events,
					attempts_searched: attempts,
				};
			},
		}),
	];
}

const presentEvent = ({ id, seq, type, createdAt }: EventSummary) => ({
	...{ id, seq, type: type as EventType, created_at: isoTime(createdAt) },
});

function presentMatch(found: TextMatch): Static<typeof EventMatch> {
	if (found.in === "body") return { ...presentEvent(found.match), excerpt: presentExcerpt(found.match), attempt: null };
	const { attempt, createdAt } = found.match;
	const event = { id: attempt.eventId, seq: attempt.seq, type: attempt.eventType, createdAt };
	return { ...presentEvent(event), excerpt: presentExcerpt(found.match), attempt: presentAttemptSummary(attempt) };
}

function presentExcerpt({ excerpt, matchStart, matchLength }: Excerpt) {
	const end = matchStart + matchLength;
	return { before: excerpt.slice(0, matchStart), match: excerpt.slice(matchStart, end), after: excerpt.slice(end) };
}
