import { type EventType, isoTime, isoTimeOrNull, requestHeaders } from "@posthorn/protocol";
import type { Static } from "typebox";
import { LOG_READS, RESPONSES, SEARCH } from "../../../base/budgets.ts";
import { grouped } from "../../../base/text.ts";
import { DNS_ANSWERS } from "../../../net/errors.ts";
import { KEPT_HEADERS } from "../../../net/response-parser.ts";
import type * as port from "../../../storage/port.ts";
import { ANY_RESPONSE, type AttemptFilter } from "../../../storage/port.ts";
import { found } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	count,
	EventId,
	EventTypeName,
	id,
	listWith,
	orNull,
	paging,
	strictObject,
	Time,
	TimeOrNull,
	Type,
} from "../../schema.ts";
import {
	cursorOf,
	type GivenFilter,
	logFilter,
	logFilters,
	positionOf,
	type ResolvedFilter,
	SEVERAL,
	SearchedEvents,
	valuesOf,
} from "./log-filters.ts";

const route = routeIn("Delivery log", "developer");

export const AttemptStatusName = Type.Enum(["delivered", "retrying", "failed"], {
	description: "`failed` is dead-lettered: there are no further attempts unless it is replayed.",
});

const identity = {
	id: id("attempt"),
	webhook_id: id("webhook"),
	event_id: EventId,
	event_type: EventTypeName,
	attempt: Type.Integer({ minimum: 1, description: "Its number within its series." }),
	replay: count("0 for the first series, then 1, 2 … for each replay."),
	test: Type.Boolean({ description: "Whether the event is a test event." }),
	method: Type.Enum(["POST"]),
	url: Type.String(),
};

const response = {
	status_code: orNull(Type.Integer()),
	error_code: orNull(Type.String(), "A stable code for `error`."),
	error: orNull(Type.String(), "What went wrong, in words."),
	response_ms: Type.Integer({
		description:
			"From the attempt's start until the response or the failure. Time spent waiting for the rest of an incomplete response or for a turn to connect doesn't count.",
	}),
};

const outcome = { status: AttemptStatusName, next_retry_at: TimeOrNull, started_at: Time };

export const Attempt = component("Attempt")({
	...identity,
	request_headers: Type.Record(Type.String(), Type.String(), {
		description:
			"The headers that were sent; empty if nothing was sent, for example because the connection was refused.",
	}),
	request_body: Type.String({ description: "The exact body that was sent or would have been sent." }),
	...response,
	response_body: Type.String({ description: "The first 1,024 bytes. Anything that isn't UTF-8 appears as U+FFFD." }),
	response_truncated: Type.Boolean({
		description: "Whether the rest of the body is missing: it was longer, or didn't arrive.",
	}),
	response_headers: Type.Record(Type.String(), Type.String(), {
		description: `Some header fields of a response that isn't 2xx, names in lower case: ${[...KEPT_HEADERS].join(", ")}. No others are stored. Long values are cut off, and characters that aren't visible appear as U+FFFD.`,
	}),
	dns: orNull(
		Type.Enum([...DNS_ANSWERS]),
		"What name servers answered, if the host name could not be resolved: `nxdomain` (the name doesn't exist), `no_address` (it has no A or AAAA record), `invalid_name`, `servfail`, `refused`, `timeout`, `unusable`, `only_private` or `only_denied` (it has addresses, but none that requests may go to).",
	),
	certificate: orNull(
		Type.Object({
			subject: Type.String(),
			issuer: Type.String(),
			names: Type.Array(Type.String(), { description: "The first of the host names and addresses that it is for." }),
			valid_from: TimeOrNull,
			valid_to: TimeOrNull,
		}),
		"The receiver's certificate, if it was rejected.",
	),
	...outcome,
});

export const AttemptSummary = component("AttemptSummary", {
	description: "An attempt without its headers and bodies.",
})({ ...identity, ...response, ...outcome });

export const OrderId = orNull(
	Type.String(),
	`The \`order_id\` in the event's data. Null if there is none, for test events, and for events of more than ${SEARCH.orderIdBytes / 1_024} KiB.`,
);

const ListedAttempt = component("ListedAttempt", {
	description: "An attempt with its event's order id, without headers and bodies.",
})({
	...identity,
	order_id: OrderId,
	...response,
	...outcome,
	followed: Type.Boolean({
		description:
			"Whether the log has a later attempt of the delivery, so that a `retrying` one has been retried. Always false for a delivered one.",
	}),
});

/** Added to the response of a list or a count. */
export const searchedOf = { searched: Type.Optional(SearchedEvents) };

const AttemptCount = component("AttemptCount")({
	count: count("How many match, up to 10,000."),
	capped: Type.Boolean({
		description:
			"Whether counting stopped early, because more than 10,000 match or because a call with `status_code` or `error` examined as many attempts as it may.",
	}),
	...searchedOf,
});

const attemptFilters = {
	...logFilters("Attempts"),
	status: Type.Optional(Type.Array(AttemptStatusName, { minItems: 1, maxItems: 3, description: SEVERAL })),
	test: Type.Optional(Type.Enum(["false"], { description: "`false` leaves out test events, as statistics do." })),
};

export const AttemptCountQuery = strictObject(attemptFilters);

const AttemptQuery = strictObject({ ...attemptFilters, ...paging });

type Status = NonNullable<AttemptFilter["statuses"]>[number];

/** @param given filters that passed their schema */
export async function attemptFilter(
	references: ApiParts["references"],
	projectId: string,
	given: GivenFilter & { readonly status?: Status | readonly Status[]; readonly test?: "false" },
	pointer?: string,
): Promise<ResolvedFilter<AttemptFilter>> {
	const statuses = valuesOf(given.status);
	const { filter, searched } = await logFilter(references, projectId, given, statuses?.length ?? 1, pointer);
	const { response = { codes: ANY_RESPONSE, maxScanned: LOG_READS.attemptsScanned } } = filter;
	return {
		filter: {
			...filter,
			statuses,
			...(given.test === "false" && { response: { ...response, withoutTests: true } }),
		},
		searched,
	};
}

/** Bytes that are not UTF-8 become U+FFFD, and a byte order mark stays. */
const text = new TextDecoder("utf-8", { ignoreBOM: true });

export function presentAttempt(attempt: port.Attempt): Static<typeof Attempt> {
	const { sent, eventType, eventId } = attempt;
	const { headers = {}, dns, certificate = null } = attempt.details ?? {};
	return {
		...presentAttemptSummary(attempt),
		request_headers: sent ? requestHeaders({ ...sent, eventType, eventId }) : {},
		request_body: text.decode(attempt.requestBody),
		response_body: text.decode(attempt.responseBody),
		response_truncated: attempt.responseTruncated,
		response_headers: { ...headers },
		dns: DNS_ANSWERS.find((each) => each === dns) ?? null,
		certificate: certificate && {
			subject: certificate.subject,
			issuer: certificate.issuer,
			names: [...certificate.names],
			valid_from: isoTimeOrNull(certificate.validFrom),
			valid_to: isoTimeOrNull(certificate.validTo),
		},
	};
}

export function presentAttemptSummary(attempt: port.AttemptSummary): Static<typeof AttemptSummary> {
	return {
		id: attempt.id,
		webhook_id: attempt.webhookId,
		event_id: attempt.eventId,
		event_type: attempt.eventType as EventType,
		attempt: attempt.attempt,
		replay: attempt.replay,
		test: attempt.seq < 0,
		method: "POST",
		url: attempt.url,
		status_code: attempt.statusCode,
		error_code: attempt.errorCode,
		error: attempt.error,
		response_ms: attempt.responseMs,
		status: attempt.status,
		next_retry_at: isoTimeOrNull(attempt.nextRetryAt),
		started_at: isoTime(attempt.startedAt),
	};
}

const MAX_SCANNED = grouped(LOG_READS.attemptsScanned);
const SCANNED = `With \`status_code\` or \`error\`, a page examines at most ${MAX_SCANNED} attempts that match the other filters, so it may be short or empty even if more follow. Continue until \`next_cursor\` is null.`;

/** More precision isn't needed, and counting takes time. */
const MAX_COUNT = 10_000;

/** Leaving out tests leaves most attempts, so a count examines as many as it may count. */
const countingAll = ({ response, ...filter }: AttemptFilter): AttemptFilter =>
	response === undefined ? filter : { ...filter, response: { ...response, maxScanned: MAX_COUNT + 1 } };

export function attemptRoutes({ storage, references }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/attempts";
	return [
		route("GET", path, "listAttempts", {
			summary: "Read the delivery log",
			description: `Newest first. Filters combine. A page holds at most 4 MiB of bodies, and may be shorter than \`limit\`. ${SCANNED}`,
			query: AttemptQuery,
			heavy: true,
			success: { status: 200, description: "A page of attempts.", schema: listWith(Attempt, searchedOf) },
			async handler({ params: { projectId }, query }) {
				const page = { limit: query.limit, before: positionOf(query.cursor), maxBytes: RESPONSES.pageBytes };
				const { filter, searched } = await attemptFilter(references, projectId, query);
				const reading = storage.listAttempts({ projectId, filter, page });
				const [{ rows, next }, about] = await Promise.all([reading, searched()]);
				return { data: rows.map(presentAttempt), next_cursor: cursorOf(next), ...about };
			},
		}),
		route("GET", `${path}/summaries`, "listAttemptSummaries", {
			summary: "Read the delivery log without headers and bodies",
			description: `Newest first. Filters combine. ${SCANNED}`,
			query: AttemptQuery,
			heavy: true,
			success: { status: 200, description: "A page of attempts.", schema: listWith(ListedAttempt, searchedOf) },
			async handler({ params: { projectId }, query }) {
				const page = { limit: query.limit, before: positionOf(query.cursor), orderIdBytes: SEARCH.orderIdBytes };
				const { filter, searched } = await attemptFilter(references, projectId, query);
				const reading = storage.listFollowedAttempts({ projectId, filter, page });
				const [{ rows, next }, about] = await Promise.all([reading, searched()]);
				const data = rows.map((row) => ({
					...presentAttemptSummary(row),
					order_id: row.orderId ?? null,
					followed: row.isFollowed,
				}));
				return { data, next_cursor: cursorOf(next), ...about };
			},
		}),
		route("GET", `${path}/count`, "countAttempts", {
			summary: "Count attempts",
			description: `How many attempts match, up to 10,000. With \`status_code\` or \`error\`, only the newest ${MAX_SCANNED} attempts that match the other filters are examined; \`capped\` is true if there may be more.`,
			query: AttemptCountQuery,
			heavy: true,
			success: { status: 200, description: "The count.", schema: AttemptCount },
			async handler({ params: { projectId }, query }) {
				const { filter: asked, searched } = await attemptFilter(references, projectId, query);
				const filter = query.status_code === undefined && query.error === undefined ? countingAll(asked) : asked;
				const counting = storage.countAttempts({ projectId, filter, max: MAX_COUNT });
				const [counted, about] = await Promise.all([counting, searched()]);
				return { ...counted, ...about };
			},
		}),
		route("GET", `${path}/{attempt_id}`, "getAttempt", {
			summary: "Get an attempt",
			success: { status: 200, description: "The attempt.", schema: Attempt },
			async handler({ params: { projectId, attemptId } }) {
				return presentAttempt(found("attempt", await storage.getAttempt({ projectId, attemptId })));
			},
		}),
	];
}
