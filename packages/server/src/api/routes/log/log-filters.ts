/** The filters that the lists of attempts and of deliveries have in common, and replays by filter. */

import { isoTimeOrNull, LOG_FILTERS } from "@posthorn/protocol";
import type { Static, TObject } from "typebox";
import { LOG_READS, SEARCH } from "../../../base/budgets.ts";
import { isId } from "../../../base/ids.ts";
import type { FoundEvents } from "../../../search/references.ts";
import type { AttemptFilter, CodeRange, DeliveryKey } from "../../../storage/port.ts";
import { invalid } from "../../http/problem.ts";
import { givenMs, onlyRepeated } from "../../http/validate.ts";
import type { ApiParts } from "../../route.ts";
import {
	component,
	decodeCursor,
	EventTypeName,
	encodeCursor,
	givenTime,
	optional,
	orNull,
	soughtId,
	Time,
	Type,
	text,
} from "../../schema.ts";

export const SEVERAL = "Repeat the parameter or separate values with commas.";
const COMBINATIONS = `Webhooks × types × states can be at most ${LOG_FILTERS.combinations}.`;
const REPEATED = "Repeat the parameter for several.";

const listOf = <T extends Parameters<typeof Type.Array>[0]>(item: T, maxItems: number, description: string) =>
	Type.Array(item, { minItems: 1, maxItems, description });

const StatusCode = Type.String({
	pattern: "^([1-9][0-9]{2}|[1-9]xx|none)$",
	errorMessage: "must be a status code such as 503, a class such as 5xx, or none",
});
const ErrorCode = Type.String({
	pattern: "^[a-z_]{1,40}$",
	errorMessage: "must be the error_code of an attempt, such as timeout",
});
const Reference = Type.String({ minLength: 1, maxLength: LOG_FILTERS.referenceLength, ...text });
const STATUS_CODES = "A status code (`503`), a class (`5xx`), or `none` for attempts without a response.";
const ERRORS = "The `error_code` of the attempt, such as `timeout`. With `status_code`, either matches.";

/** Filters by what an event contains. */
export const referenceFilters = {
	order_id: onlyRepeated(
		Type.Optional(
			listOf(Reference, LOG_FILTERS.values, `Events with one of these as their data's \`order_id\`. ${REPEATED}`),
		),
	),
	customer_email: onlyRepeated(
		Type.Optional(
			listOf(
				Reference,
				LOG_FILTERS.values,
				`Events with one of these as their data's \`customer_email\`, in upper or lower case. ${REPEATED}`,
			),
		),
	),
};

/** @param of what the filters are applied to: "Attempts" or "Deliveries" */
export const logFilters = (of: string) => ({
	...optional({
		webhook_id: listOf(
			soughtId("A webhook, even if it was deleted."),
			LOG_FILTERS.webhooks,
			`${of} to any of these webhooks. ${SEVERAL}`,
		),
		type: listOf(EventTypeName, LOG_FILTERS.values, `Events of any of these types. ${SEVERAL} ${COMBINATIONS}`),
		status_code: listOf(StatusCode, LOG_FILTERS.values, `${STATUS_CODES} ${SEVERAL}`),
		error: listOf(ErrorCode, LOG_FILTERS.values, `${ERRORS} ${SEVERAL}`),
		event_id: soughtId(`${of} of this event.`),
	}),
	...referenceFilters,
	since: Type.Optional(givenTime("Started at this time or later.")),
	until: Type.Optional(givenTime("Started before this time.")),
});

const oneOrMore = <T extends Parameters<typeof Type.Array>[0]>(item: T, maxItems: number, description: string) =>
	Type.Union([item, Type.Array(item, { minItems: 1, maxItems })], { description });

/** The same filters in a request's body. */
export const bodyFilters = optional({
	webhook_id: oneOrMore(soughtId("A webhook."), LOG_FILTERS.webhooks, "Attempts to any of these webhooks."),
	type: oneOrMore(EventTypeName, LOG_FILTERS.values, `Events of any of these types. ${COMBINATIONS}`),
	status_code: listOf(StatusCode, LOG_FILTERS.values, `${STATUS_CODES} Any of them matches.`),
	error: listOf(ErrorCode, LOG_FILTERS.values, ERRORS),
	event_id: soughtId("Attempts of this event."),
	order_id: listOf(Reference, LOG_FILTERS.values, "Events with one of these as their data's `order_id`."),
	customer_email: listOf(Reference, LOG_FILTERS.values, "Events with one of these as their data's `customer_email`."),
	since: givenTime("Attempts that started at this time or later."),
	until: givenTime("Attempts that started before this time."),
});

/** The attempt id in a cursor that was given at `pointer`. @throws Problem 422 if it contains none */
export const positionOf = (cursor: string | undefined, pointer?: string): string | undefined =>
	cursor === undefined ? undefined : decodeCursor(cursor, (text) => isId("attempt", text), pointer);

export const cursorOf = (position: string | null): string | null => (position === null ? null : encodeCursor(position));

export type GivenFilter = Static<TObject<typeof bodyFilters>>;

/** Values of a filter, or deliveries, that the audit log keeps, and characters of each. */
const AUDITED = { values: 5, characters: 100 };

/** The first of the deliveries, as the audit log keeps them. */
export const auditedDeliveries = (deliveries: readonly DeliveryKey[]) =>
	deliveries.slice(0, AUDITED.values).map(({ webhookId, eventId }) => ({ webhook_id: webhookId, event_id: eventId }));

/** A filter as the audit log keeps it: short, and without e-mail addresses, since it outlives the events. */
export function auditedFilter({ customer_email, ...filter }: GivenFilter): Record<string, unknown> {
	// A cut may split a pair of surrogates.
	const short = Object.entries(filter).map(([name, given]) => {
		const values = [given].flat().map((value) => value.slice(0, AUDITED.characters).toWellFormed());
		const more = values.length - AUDITED.values;
		const kept = more > 0 ? [...values.slice(0, AUDITED.values), `and ${more} more`] : values;
		return [name, Array.isArray(given) ? kept : kept[0]];
	});
	return { ...Object.fromEntries(short), ...(customer_email && { customer_emails: customer_email.length }) };
}

export const SearchedEvents = component("SearchedEvents", {
	description: "With `order_id` or `customer_email`: how much of the log was searched for them.",
})({
	complete: Type.Boolean({
		description: "Whether all events were searched. Otherwise some aren't indexed yet: ask again in a moment.",
	}),
	since: orNull(Time, "If older events aren't indexed yet: only those created from this time on were searched."),
	capped: Type.Boolean({
		description: `Whether only the newest events of a value were considered. A list of events has up to ${SEARCH.eventsOfReference}. A list of deliveries or attempts considers ${SEARCH.attemptsOfReference} attempts of these, from the newest event on. If the value has more events, a page considers at most ${SEARCH.ofCommonReference.events}, and ${SEARCH.ofCommonReference.attempts} attempts of the newest of them.`,
	}),
});

export const presentSearched = ({
	complete,
	since,
	capped,
}: Omit<FoundEvents, "seqs">): Static<typeof SearchedEvents> => ({
	complete,
	since: isoTimeOrNull(since),
	capped,
});

/** A property for the response; empty without a search for order ids and e-mail addresses. */
export interface Searched {
	readonly searched?: Static<typeof SearchedEvents>;
}

/** A filter of the log, and how much of it was searched for its order ids and e-mail addresses. */
export interface ResolvedFilter<F> {
	readonly filter: F;
	/** Call it while the list is read: it may take as long. */
	readonly searched: () => Promise<Searched>;
}

/**
 * @param given filters that passed their schema
 * @param pointer to the types
 * @throws Problem 422 if they combine too many values
 */
export async function logFilter(
	references: ApiParts["references"],
	projectId: string,
	given: GivenFilter,
	statuses: number,
	pointer = "?type",
): Promise<ResolvedFilter<Omit<AttemptFilter, "statuses">>> {
	const { webhook_id, type, status_code = [], error = [], event_id, order_id = [], customer_email = [] } = given;
	const [webhookIds, types] = [valuesOf(webhook_id), valuesOf(type)];
	const ranges = (webhookIds?.length ?? 1) * (types?.length ?? 1) * statuses;
	if (ranges > LOG_FILTERS.combinations) {
		const detail = `${ranges} combinations of webhooks, types and states, at most ${LOG_FILTERS.combinations} are possible: filter by fewer`;
		throw invalid([{ pointer, detail }]);
	}
	const isSearch = order_id.length > 0 || customer_email.length > 0;
	const events = isSearch
		? await references.findAttempted(projectId, { orderIds: order_id, customerEmails: customer_email })
		: null;
	const response = { codes: status_code.map(codeRange), errors: error, maxScanned: LOG_READS.attemptsScanned };
	return {
		filter: {
			webhookIds,
			types,
			response: status_code.length + error.length > 0 ? response : undefined,
			eventId: event_id,
			seqs: events?.seqs,
			maxAttempts: events?.maxAttempts,
			since: givenMs(given.since),
			until: givenMs(given.until),
		},
		searched: async () => {
			if (events === null) return {};
			const capped = await references.isCapped(projectId, events);
			return { searched: presentSearched({ ...events, capped }) };
		},
	};
}

/** The values of a filter, each once; undefined if it isn't given. */
export const valuesOf = <T extends string>(given: T | readonly T[] | undefined): readonly T[] | undefined =>
	given === undefined ? undefined : [...new Set([given].flat() as T[])];

/** @param code a status code, a class such as `5xx`, or `none` */
function codeRange(code: string): CodeRange {
	if (code === "none") return { from: 0, to: 0 };
	return { from: Number(code.replace("xx", "00")), to: Number(code.replace("xx", "99")) };
}
