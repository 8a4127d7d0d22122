import type { EventType } from "@posthorn/protocol";
import { SEARCH } from "../../../base/budgets.ts";
import { searchText } from "../../../search/text.ts";
import type { EventSummary, FoundText } from "../../../storage/port.ts";
import { invalid } from "../../http/problem.ts";
import { formatTime, formatTimeOrNull } from "../../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	Cursor,
	decodeCursor,
	EventTypeName,
	encodeCursor,
	Limit,
	listWith,
	PAGE_LIMIT,
	Time,
	TimeOrNull,
	Type,
	text,
} from "../../schema.ts";
import { EventId } from "../publishing/events.ts";
import { presentSearched, referenceFilters, SearchedEvents } from "./log-filters.ts";

const route = routeIn("Events");

const EventMatch = Type.Object(
	{
		id: EventId,
		seq: Type.Integer({ minimum: 1 }),
		type: EventTypeName,
		created_at: Time,
		excerpt: Type.Union(
			[
				Type.Object({
					before: Type.String(),
					match: Type.String(),
					after: Type.String(),
				}),
				Type.Null(),
			],
			{ description: "With `text`: the first match in the body, and what is around it." },
		),
	},
	{ title: "EventMatch", description: "An event that a search has found." },
);

const SearchQuery = Type.Object(
	{
		...referenceFilters,
		text: Type.Optional(
			Type.String({
				minLength: 2,
				maxLength: 200,
				...text,
				description:
					"Searches the bodies for this text, in upper or lower case, as it is or as JSON writes it in a string.",
			}),
		),
		limit: Limit,
		cursor: Cursor,
	},
	{ additionalProperties: false },
);

const EventMatches = listWith(EventMatch, {
	searched_back_to: Type.Union([TimeOrNull], {
		description: "With `text`: when the oldest event that this call has read was created.",
	}),
	events_searched: Type.Integer({ minimum: 0, description: "With `text`: how many events this call has read." }),
	searched: Type.Optional(SearchedEvents),
});

const isPosition = (position: string) => /^[1-9][0-9]{0,15}$/.test(position);

type SearchParts = Pick<ApiParts, "storage" | "references" | "clock">;

export function eventSearchRoutes({ storage, references, clock }: SearchParts): Route[] {
	return [
		route("GET", "/v1/projects/{project_id}/events/search", "searchEvents", {
			summary: "Search events",
			description: `Newest first: by order id and customer e-mail from an index (the newest ${SEARCH.eventsOfReference}), or by \`text\` in their bodies. A call with \`text\` searches for at most ${SEARCH.textMs} ms, so a page may be short or empty even if more follow. Continue until \`next_cursor\` is null, or stop whenever you like. Test events aren't searched.`,
			access: "project",
			query: SearchQuery,
			rate: "reads",
			success: { status: 200, description: "A page of events.", schema: EventMatches },
			async handler({ params: { project_id }, query, request, reply, heavy }) {
				const { order_id = [], customer_email = [], text: sought, limit = PAGE_LIMIT.default, cursor } = query;
				const position = cursor === undefined ? null : Number(decodeCursor(cursor, isPosition));
				const isByReference = order_id.length + customer_email.length > 0;
				if (isByReference === (sought !== undefined))
					throw invalid([
						{ pointer: "?text", detail: "give either text, or order_id and customer_email, but not both" },
					]);
				if (sought === undefined) {
					const found = await heavy(() =>
						references.find(project_id, { orderIds: order_id, customerEmails: customer_email }),
					);
					const rest = found.events.filter(({ seq }) => position === null || seq < position);
					const page = rest.slice(0, limit);
					return {
						data: page.map((event) => presentMatch(event, null)),
						next_cursor: page.length < rest.length ? encodeCursor(String(page.at(-1)!.seq)) : null,
						searched_back_to: null,
						events_searched: 0,
						searched: presentSearched(found),
					};
				}
				const isGone = () => reply.raw.destroyed || request.raw.socket.destroyed;
				const search = { projectId: project_id, text: sought, before: position, limit, inTurn: heavy, isGone };
				const { found, events, reached, next } = await searchText({ storage, clock }, search);
				return {
					data: found.map((event) => presentMatch(event, event)),
					next_cursor: next === null ? null : encodeCursor(String(next)),
					searched_back_to: formatTimeOrNull(reached),
					events_searched: events,
				};
			},
		}),
	];
}

function presentMatch({ id, seq, type, createdAt }: EventSummary, match: FoundText | null) {
	return {
		id,
		seq,
		type: type as EventType,
		created_at: formatTime(createdAt),
		excerpt: match && presentExcerpt(match),
	};
}

function presentExcerpt({ excerpt, matchStart, matchLength }: FoundText) {
	const end = matchStart + matchLength;
	return {
		before: excerpt.slice(0, matchStart),
		match: excerpt.slice(matchStart, end),
		after: excerpt.slice(end),
	};
}
