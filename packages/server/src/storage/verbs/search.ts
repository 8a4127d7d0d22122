/**
 * Finding events by what is in them: the index of references, and the search in bodies. References are indexed after
 * publishing, in steps that any node may take, so that publishing costs the same. Test events aren't indexed.
 *
 * `reference_ranges` says which part of each log is indexed: the events after `after_seq` through `through_seq`. It grows
 * upward as events are published, and downward over those that were published before there was an index. An entry
 * of `event_references` begins with its bucket, so that a step changes neighboring pages; a lookup visits all buckets.
 */
import type {
	EventReference,
	EventSummary,
	FoundText,
	IndexCoverage,
	LogEvent,
	ReadLimit,
	ReferencedEvents,
	TextStep,
	UnindexedPart,
} from "../port/log.ts";
import type { ProjectRef } from "../port/registry.ts";
import { BUCKET, orderIdIn, referenceNumber, referencesIn, textFinder, withinBytes } from "../shared/bodies.ts";
import { Fragment, forUpdate, fragment, joinByKey, least, type Query, rowsOf, sql } from "./sql.ts";
import { row, rows, type Steps, together } from "./verb.ts";

interface Range {
	readonly after: number;
	readonly through: number;
	/** References of events before this one have been deleted. */
	readonly kept: number;
}

/** Objects as rows `g (no, seq)`. */
const given = rowsOf("no", "seq");

/** As a range with its order, so that PostgreSQL takes the primary key, however few events it expects of a project. */
const GIVEN_EVENT = new Fragment({
	postgres: `CROSS JOIN LATERAL (
		SELECT * FROM posthorn.events WHERE project_no = g.no AND seq BETWEEN g.seq AND g.seq ORDER BY seq LIMIT 1
	) e`,
	sqlite: "CROSS JOIN events e ON e.project_no = g.no AND e.seq = g.seq",
});
/** The body of an event `e`. */
const BODY_TEXT = new Fragment({ postgres: "convert_from(e.body, 'UTF8')", sqlite: "CAST(e.body AS TEXT)" });
const ITS_TYPE = joinByKey("event_types t", "t.code = e.type");

const PER_BUCKET = fragment(String(BUCKET));
/** Buckets visited per statement at most. */
const BUCKETS = 256;
const bucketOf = (seq: number): number => Math.floor(seq / BUCKET);

const RANGE = fragment("after_seq AS after, through_seq AS through, kept_from AS kept");
const rangeOf = (project: number): Query<Range> => sql`
	SELECT ${RANGE} FROM posthorn.reference_ranges WHERE project_no = ${project}`;
/** The same, locked against changes until the transaction ends. */
const holdRange = (project: number): Query<Range> => sql`
	SELECT ${RANGE} FROM posthorn.reference_ranges WHERE project_no = ${project}${forUpdate}`;

/** The numbers of the oldest and the newest event. */
const endsOf = (project: number): Query<{ first: number | null; last: number | null }> => sql`
	SELECT (SELECT seq FROM posthorn.events WHERE project_no = ${project} AND seq > 0 ORDER BY seq LIMIT 1) AS first,
		(SELECT seq FROM posthorn.events WHERE project_no = ${project} AND seq > 0 ORDER BY seq DESC LIMIT 1) AS last`;

/**
 * The next part that isn't indexed: first what was published since, oldest first, then older events, newest first.
 * Null if there is none.
 */
export function* readUnindexed(
	project: number,
	{ projectId, limit }: ProjectRef & { readonly limit: ReadLimit },
): Steps<UnindexedPart | null> {
	const [[range], [ends]] = yield* together(rangeOf(project), endsOf(project));
	const { last } = ends!;
	if (last === null) return null;
	const { after, through } = range ?? { after: last, through: last };
	if (last > through) {
		const { seqs, isLast } = yield* fittingAfter(project, through, limit);
		return yield* partOf(projectId, project, { after: through, through: seqs.at(-1)!, isLast: isLast && after === 0 });
	}
	if (after === 0) return null;
	const { seqs, isLast } = yield* fittingBefore(project, after + 1, limit);
	return yield* partOf(projectId, project, { after: isLast ? 0 : seqs.at(-1)! - 1, through: after, isLast });
}

/** Events in the order of reading, as many as the limit allows, at least one. */
interface Fitting {
	readonly seqs: readonly number[];
	/** Whether there are no more of them. */
	readonly isLast: boolean;
}

function fitting(
	found: readonly { readonly seq: number; readonly bytes: number }[],
	{ maxEvents, maxBytes }: ReadLimit,
): Fitting {
	const fit = withinBytes(found, maxBytes, ({ bytes }) => bytes);
	return { seqs: fit.map(({ seq }) => seq), isLast: fit.length === found.length && found.length < maxEvents };
}

function* fittingAfter(project: number, after: number, limit: ReadLimit): Steps<Fitting> {
	const found = yield* rows<{ seq: number; bytes: number }>(sql`
		SELECT seq, length(body) AS bytes FROM posthorn.events WHERE project_no = ${project} AND seq > ${after}
		ORDER BY seq LIMIT ${limit.maxEvents}`);
	return fitting(found, limit);
}

function* fittingBefore(project: number, before: number, limit: ReadLimit): Steps<Fitting> {
	const found = yield* rows<{ seq: number; bytes: number }>(sql`
		SELECT seq, length(body) AS bytes FROM posthorn.events
		WHERE project_no = ${project} AND seq > 0 AND seq < ${before} ORDER BY seq DESC LIMIT ${limit.maxEvents}`);
	return fitting(found, limit);
}

function* partOf(projectId: string, project: number, part: Omit<UnindexedPart, "references">): Steps<UnindexedPart> {
	const { after, through } = part;
	const events = yield* rows<{ seq: number; body: Uint8Array }>(sql`
		SELECT seq, body FROM posthorn.events WHERE project_no = ${project} AND seq > ${after} AND seq <= ${through}
		ORDER BY seq`);
	const references = events.flatMap(({ seq, body }) => referencesIn(projectId, body).map((ref) => ({ ref, seq })));
	return { ...part, references };
}

/** Adds a part to the index, unless another node has done so. Returns whether it was added. */
export function* indexReferences(
	project: number,
	{ part: { after, through, references } }: { readonly part: UnindexedPart },
): Steps<boolean> {
	const [, [range]] = yield* together(
		// Without a row, the first part begins the range.
		sql`
			INSERT INTO posthorn.reference_ranges (project_no, after_seq, through_seq, kept_from)
			VALUES (${project}, ${through}, ${through}, 0) ON CONFLICT (project_no) DO NOTHING`,
		holdRange(project),
	);
	// Another node has added it meanwhile.
	if (range!.through !== after && range!.after !== through) return false;
	const next = range!.after === through ? { after, through: range!.through } : { after: range!.after, through };
	// In the order of the index.
	const added = references
		.toSorted((a, b) => bucketOf(a.seq) - bucketOf(b.seq) || a.ref - b.ref)
		.map(({ ref, seq }) => ({ no: ref, seq }));
	yield* together(
		sql`
			INSERT INTO posthorn.event_references (project_no, bucket, ref, seq)
			SELECT CAST(${project} AS bigint), g.seq / ${PER_BUCKET}, g.no, g.seq
			FROM ${given(added)}`,
		sql`
			UPDATE posthorn.reference_ranges SET after_seq = ${next.after}, through_seq = ${next.through}
			WHERE project_no = ${project}`,
	);
	return true;
}

/** The newest entries, as a JSON array: a row for each takes longer to receive than to find. */
const SEQS = new Fragment({ postgres: "json_agg(seq)", sqlite: "json_group_array(seq)" });
/** Such arrays in one, as text. */
const LISTS = new Fragment({
	postgres: "CAST(json_agg(seqs) FILTER (WHERE seqs IS NOT NULL) AS text)",
	sqlite: "json_group_array(json(seqs)) FILTER (WHERE seqs IS NOT NULL)",
});
/** How many entries were found up to and including a row's bucket. */
const FOUND = fragment("found + coalesce(json_array_length(seqs), 0)");
/** The oldest bucket that has entries. */
const END = new Fragment({ postgres: `greatest(after, kept) / ${BUCKET}`, sqlite: `max(after, kept) / ${BUCKET}` });

/** The range's members are null if the project has none. */
interface Entries extends Nullable<Range> {
	/** JSON: an array of numbers for each bucket that has entries. */
	readonly lists: string | null;
	/** The last bucket that was read; the one above the first if none was. */
	readonly bucket: number | null;
}
type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

/**
 * The range, with the newest entries of one bucket after the other, from `from` on downward, until there are `limit` or
 * {@link BUCKETS} were read.
 */
const entriesFrom = (project: number, ref: number, from: number, limit: number): Query<Entries> => sql`
	WITH RECURSIVE buckets (after, through, kept, bucket, seqs, found) AS (
		SELECT after_seq, through_seq, kept_from, ${least}(through_seq / ${PER_BUCKET}, ${from}) + 1, CAST(NULL AS json), 0
		FROM posthorn.reference_ranges WHERE project_no = ${project}
		UNION ALL
		SELECT after, through, kept, bucket - 1, (
			SELECT ${SEQS} FROM (
				SELECT e.seq FROM posthorn.event_references e
				WHERE e.project_no = ${project} AND e.bucket = b.bucket - 1 AND e.ref = ${ref}
				ORDER BY e.seq DESC LIMIT ${limit}
			) newest
		), ${FOUND}
		FROM buckets b WHERE bucket > ${END} AND ${FOUND} < ${limit}
	)
	SELECT max(after) AS after, max(through) AS through, max(kept) AS kept, min(bucket) AS bucket, ${LISTS} AS lists
	FROM (SELECT * FROM buckets LIMIT ${BUCKETS + 1}) read`;

export const NO_REFERENCES: ReferencedEvents = { seqs: [], capped: false, complete: true, since: null };

/** The newest events that contain the reference. */
export function* findReferences(
	project: number,
	{ projectId, reference, limit }: ProjectRef & { readonly reference: EventReference; readonly limit: number },
): Steps<ReferencedEvents> {
	const ref = referenceNumber(projectId, reference);
	// For a value that many events have, this reads only the newest buckets; for one that few have, often all of them.
	const [[newest], [ends]] = yield* together(
		entriesFrom(project, ref, Number.MAX_SAFE_INTEGER, limit + 1),
		endsOf(project),
	);
	const { first, last } = ends!;
	const range = rangeIn(newest!);
	if (range === null) return { seqs: [], capped: false, complete: last === null, since: null };
	const seqs = seqsIn(newest!);
	const end = bucketOf(Math.max(range.after, range.kept));
	for (let { bucket } = newest!; bucket! > end && seqs.length <= limit; ) {
		const [found] = yield* rows(entriesFrom(project, ref, bucket! - 1, limit + 1));
		seqs.push(...seqsIn(found!));
		({ bucket } = found!);
	}
	const coverage = yield* coverageOf(project, range, last ?? 0, first ?? 0);
	return { seqs: seqs.slice(0, limit), capped: seqs.length > limit, ...coverage };
}

const seqsIn = ({ lists }: Entries): number[] => (JSON.parse(lists ?? "[]") as number[][]).flat();
const rangeIn = ({ after, through, kept }: Entries): Range | null =>
	after === null || through === null || kept === null ? null : { after, through, kept };

/** Events by their numbers, in the same order, without those that don't exist. */
export function* describeEvents(
	project: number,
	{ seqs }: { readonly seqs: readonly number[] },
): Steps<EventSummary[]> {
	if (seqs.length === 0) return [];
	const found = yield* rows<EventSummary>(sql`
		SELECT e.seq, e.id, t.name AS type, e.created_at AS "createdAt"
		FROM ${given(seqs.map((seq) => ({ no: project, seq })))} ${GIVEN_EVENT} ${ITS_TYPE}`);
	const events = new Map(found.map((event) => [event.seq, event]));
	return seqs.flatMap((seq) => events.get(seq) ?? []);
}

/** The order ids of those of these events that have one, in any order. Events of more bytes are left out. */
export function* readOrderIds(
	project: number,
	{ seqs, maxBytes }: { readonly seqs: readonly number[]; readonly maxBytes: number },
): Steps<{ seq: number; orderId: string }[]> {
	if (seqs.length === 0) return [];
	const found = yield* rows<{ seq: number; body: string }>(sql`
		SELECT e.seq, ${BODY_TEXT} AS body FROM ${given(seqs.map((seq) => ({ no: project, seq })))} ${GIVEN_EVENT}
		WHERE length(e.body) <= ${maxBytes}`);
	return found.flatMap(({ seq, body }) => {
		const orderId = orderIdIn(body);
		return orderId === null ? [] : [{ seq, orderId }];
	});
}

function* coverageOf(project: number, { after, through }: Range, last: number, first: number): Steps<IndexCoverage> {
	const isWhole = after < first || after === 0;
	if (isWhole) return { complete: through >= last, since: null };
	const event = yield* row<{ at: number }>(sql`
		SELECT created_at AS at FROM posthorn.events WHERE project_no = ${project} AND seq > ${after} ORDER BY seq LIMIT 1`);
	return { complete: false, since: event?.at ?? null };
}

/**
 * Deletes references of events that retention has deleted: at most one bucket's. Returns whether more are left.
 */
export function* sweepReferences(project: number): Steps<boolean> {
	const [[range], [ends], [entry]] = yield* together(
		holdRange(project),
		endsOf(project),
		sql<{ bucket: number }>`
			SELECT bucket FROM posthorn.event_references WHERE project_no = ${project}
			ORDER BY project_no, bucket, ref, seq LIMIT 1`,
	);
	if (range === undefined) return false;
	const from = ends!.first ?? range.through + 1;
	if (from === range.kept) return false;
	const isOver = entry === undefined || entry.bucket >= bucketOf(from);
	if (entry !== undefined)
		yield* rows(sql`
			DELETE FROM posthorn.event_references
			WHERE project_no = ${project} AND bucket = ${entry.bucket} AND seq < ${from}`);
	if (isOver) yield* rows(sql`UPDATE posthorn.reference_ranges SET kept_from = ${from} WHERE project_no = ${project}`);
	return !isOver;
}

export const NOTHING_FOUND: TextStep = { found: [], events: 0, reached: null, next: null };

/** Searches bodies for a text, from before the number `before` (or from the end) backwards. */
export function* searchBodies(
	project: number,
	{ text, before, limit }: { text: string; before: number | null; limit: ReadLimit },
): Steps<TextStep> {
	const { seqs, isLast } = yield* fittingBefore(project, before ?? Number.MAX_SAFE_INTEGER, limit);
	const [first, end] = [seqs[0], seqs.at(-1)];
	if (first === undefined || end === undefined) return NOTHING_FOUND;
	const events = yield* rows<LogEvent>(sql`
		SELECT e.seq, e.id, t.name AS type, e.created_at AS "createdAt", e.published_at AS "publishedAt", e.body
		FROM posthorn.events e ${ITS_TYPE}
		WHERE e.project_no = ${project} AND e.seq >= ${end} AND e.seq <= ${first}
		ORDER BY e.seq DESC`);
	const find = textFinder(text);
	const found = events.flatMap(({ body, ...event }): FoundText[] => {
		const match = find(body);
		return match === null ? [] : [{ ...event, ...match }];
	});
	return { found, events: seqs.length, reached: events.at(-1)?.publishedAt ?? null, next: isLast ? null : end };
}
