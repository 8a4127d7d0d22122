/**
 * Appending takes one transaction and one round trip for all requests of a call if every event is new. A project with
 * an event that isn't new is left out, and its requests are compared with the log one by one in a second transaction.
 *
 * A project whose rows another session has locked is skipped (`locked`). After that, the next call first checks whether
 * it's free, in its own round trip, before it sends any event of its batch.
 *
 * If a connection breaks, it's unknown whether the transaction was committed. Then the call compares all requests with
 * the log: events of its own that it finds there are the ones that it appended before.
 */

import { sameContent } from "@posthorn/protocol";
import type { AppendedEvent, AppendRequest, AppendResult, LogEvent, Params } from "../../port.ts";
import type { FactEvents } from "../../verbs/verb.ts";
import type { Connections } from "../connection/connections.ts";
import { isConnectionLost, isLocked } from "../connection/errors.ts";
import { lockedLog, newestLog, stretchOf } from "../connection/hot-rows.ts";
import { findProject, internTypes, typeCode } from "../connection/names.ts";
import { lockingSql, numberArray, pack, type Row, type Session, sql, textArray } from "../connection/session.ts";
import { identified, lastOfType } from "./log.ts";

/** An event on its way into its project's log. */
interface NewRow {
	readonly projectNo: number;
	readonly id: string;
	readonly type: number;
	readonly createdAt: number;
	readonly publishedAt: number;
	readonly body: Uint8Array;
}

interface Resolved {
	readonly request: AppendRequest;
	readonly projectNo: number;
	readonly rows: readonly NewRow[];
}

export async function appendEvents(
	connections: Connections,
	{ requests, waits = false }: Params<"appendEvents">,
): Promise<AppendResult[]> {
	const resolved = await resolve(connections, requests);
	const known = resolved.filter((one) => one !== null);
	const fresh = known.filter(({ rows }) => rows.length > 0);
	const results = new Map<Resolved, AppendResult>();
	/** Whether a connection broke, so that the log may have the events. */
	let isLost = false;
	try {
		isLost = await appendNew(connections, withoutRepeats(fresh), waits, results);
		const left = fresh.filter((one) => !results.has(one));
		if (left.length > 0) {
			const compared = await connections.holding("publish", waits, (c) => appendAgainstLog(c, left, waits, isLost));
			for (const [i, one] of left.entries()) results.set(one, compared[i]!);
		}
	} catch (error) {
		// Only a call for one project waits.
		if (!waits || !isLocked(error)) throw error;
		for (const one of known) results.set(one, lockedResult(one, isLost));
	}
	return resolved.map((one) => {
		if (one === null) return { kind: "no_project" };
		return results.get(one) ?? { kind: "appended", events: [] };
	});
}

async function resolve(connections: Connections, requests: readonly AppendRequest[]): Promise<(Resolved | null)[]> {
	const unknownProject = requests.some(({ projectId }) => !connections.names.projects.has(projectId));
	const types = new Set(requests.flatMap(({ events }) => events.map(({ type }) => type)));
	const unknownType = [...types].some((type) => !connections.names.types.has(type));
	if (!unknownProject && !unknownType) return toResolved(connections, requests, connections.names.projects);
	return connections.read("publish", async (c) => {
		await internTypes(c, types);
		// Not read from the cache, which may drop one project for another of this call.
		const projects = new Map<string, number>();
		for (const projectId of new Set(requests.map((request) => request.projectId))) {
			const projectNo = await findProject(c, projectId);
			if (projectNo !== null) projects.set(projectId, projectNo);
		}
		return toResolved(connections, requests, projects);
	});
}

function toResolved(
	{ names }: Connections,
	requests: readonly AppendRequest[],
	projects: ReadonlyMap<string, number>,
): (Resolved | null)[] {
	return requests.map((request) => {
		const projectNo = projects.get(request.projectId);
		if (projectNo === undefined) return null;
		const rows = request.events.map(({ id, type, createdAt, body }) => {
			return { projectNo, id, type: typeCode(names, type), createdAt, publishedAt: request.publishedAt, body };
		});
		return { request, projectNo, rows };
	});
}

/** Without the projects whose requests repeat an id. */
function withoutRepeats(all: readonly Resolved[]): Resolved[] {
	const idsOf = new Map<number, Set<string>>();
	const repeating = new Set<number>();
	for (const { projectNo, rows } of all) {
		const ids = idsOf.get(projectNo) ?? new Set();
		idsOf.set(projectNo, ids);
		const before = ids.size;
		for (const { id } of rows) ids.add(id);
		if (ids.size < before + rows.length) repeating.add(projectNo);
	}
	return all.filter(({ projectNo }) => !repeating.has(projectNo));
}

/**
 * Appends new events in one round trip, or two if a project was recently locked. Requests of projects with an event that
 * isn't new get no result.
 *
 * @returns whether the connection broke, so that it's unknown whether all were appended or none; none has a result then
 */
async function appendNew(
	connections: Connections,
	all: readonly Resolved[],
	waits: boolean,
	results: Map<Resolved, AppendResult>,
): Promise<boolean> {
	if (all.length === 0) return false;
	const { suspects } = connections;
	const projects = new Set(all.map(({ projectNo }) => projectNo));
	const looksFirst = waits || [...projects].some((projectNo) => suspects.has(projectNo));
	const append = async (c: Session) => {
		const holding = holdLogs(c, projects, waits);
		const free = looksFirst ? await holding : projects;
		const rows = all.filter(({ projectNo }) => free.has(projectNo)).flatMap((one) => one.rows);
		const [held, appended] = await Promise.all([holding, appendRows(c, rows, waits), c.commit()]);
		return { held, ...appended };
	};
	try {
		const { held, ends, known } = await connections.holding("publish", waits, append);
		for (const projectNo of projects) {
			if (!held.has(projectNo)) suspects.add(projectNo);
			else if (looksFirst) suspects.delete(projectNo);
		}
		for (const one of all) {
			const before = ends.get(one.projectNo);
			if (before !== undefined) {
				const events = one.rows.map(({ createdAt }, i) => ({ seq: before + i + 1, createdAt, repeated: false }));
				results.set(one, { kind: "appended", events });
				ends.set(one.projectNo, before + events.length);
			} else if (!known.has(one.projectNo)) results.set(one, lockedResult(one, false));
		}
		return false;
	} catch (error) {
		if (isConnectionLost((error as Error).cause)) return true;
		throw error;
	}
}

/** What an event's id already refers to: an event in the log, or (without a `seq` yet) in an earlier request. */
interface There extends Pick<LogEvent, "createdAt" | "publishedAt" | "body"> {
	readonly seq: number | null;
	/** Its position among the project's new events, from 1; 0 if it is in the log. */
	readonly nth: number;
}

/** @param lost whether an earlier call broke, so that it may have been written */
function lockedResult({ request }: Pick<Resolved, "request">, lost: boolean): AppendResult {
	return lost || request.maybeWritten ? { kind: "locked", maybeWritten: true } : { kind: "locked" };
}

const FIND = sql(`
	SELECT e.project_no, e.id, e.seq, 0 AS nth, e.created_at AS "createdAt", e.published_at AS "publishedAt", e.body
	FROM unnest($1::bigint[], $2::text[]) AS g (project_no, id) CROSS JOIN LATERAL (
		SELECT * FROM posthorn.events ${identified("g.project_no", "g.id")}
	) e`);

/**
 * Appends requests in order, each atomically, comparing them with the log, in a transaction. `maybeOurs`: the same call
 * was made before with an unknown result, so an identical event isn't a repeated one.
 */
async function appendAgainstLog(
	c: Session,
	all: readonly Resolved[],
	waits: boolean,
	maybeOurs: boolean,
): Promise<AppendResult[]> {
	const held = await holdLogs(c, new Set(all.map(({ projectNo }) => projectNo)), waits);
	const mine = all.filter(({ projectNo }) => held.has(projectNo));
	const there = await findThere(c, mine);
	const fresh: NewRow[] = [];
	const outcomes = new Map(
		mine.map((one) => [one, decide(one, there, fresh, maybeOurs || one.request.maybeWritten === true)]),
	);
	const { ends } = await appendRows(c, fresh, waits);
	const refused = new Set(fresh.map(({ projectNo }) => projectNo).filter((projectNo) => !ends.has(projectNo)));
	return all.map((one): AppendResult => {
		const outcome = outcomes.get(one);
		if (outcome === undefined || refused.has(one.projectNo)) return lockedResult(one, maybeOurs);
		if (outcome.kind === "conflict") return outcome;
		const seqOf = (nth: number) => ends.get(one.projectNo)! + nth;
		const events = outcome.events.map(({ seq, nth, createdAt, repeated }): AppendedEvent => {
			return { seq: seq ?? seqOf(nth), createdAt, repeated };
		});
		return { kind: "appended", events };
	});
}

async function findThere(c: Session, all: readonly Resolved[]): Promise<Map<string, There>> {
	const rows = all.flatMap((one) => one.rows);
	const found = await c.rows<There & Row>(
		FIND,
		numberArray(rows.map((row) => row.projectNo)),
		textArray(rows.map((row) => row.id)),
	);
	return new Map(found.map((there) => [`${there.project_no}/${there.id}`, there]));
}

type Outcome =
	| { readonly kind: "conflict"; readonly indexes: readonly number[] }
	| { readonly kind: "appended"; readonly events: readonly (There & { readonly repeated: boolean })[] };

/** Adds what a request appends to `there` and `fresh`, or nothing if one of its events conflicts. */
function decide(
	{ request, projectNo, rows }: Resolved,
	there: Map<string, There>,
	fresh: NewRow[],
	maybeOurs: boolean,
): Outcome {
	const before = fresh.filter((row) => row.projectNo === projectNo).length;
	const news: NewRow[] = [];
	const added = new Map<string, There>();
	const conflicts: number[] = [];
	const events: (There & { repeated: boolean })[] = [];
	for (const [index, row] of rows.entries()) {
		const key = `${projectNo}/${row.id}`;
		const found = added.get(key) ?? there.get(key);
		if (found === undefined) {
			news.push(row);
			const { createdAt, publishedAt, body } = row;
			const one = { seq: null, nth: before + news.length, createdAt, publishedAt, body };
			added.set(key, one);
			events.push({ ...one, repeated: false });
			continue;
		}
		const { type, createdAtGiven } = request.events[index]!;
		if (sameContent(row.id, type, found.body, row.body, createdAtGiven))
			events.push({ ...found, repeated: !(maybeOurs && isOurs(found, row)) });
		else conflicts.push(index);
	}
	if (conflicts.length > 0) return { kind: "conflict", indexes: conflicts };
	for (const [key, one] of added) there.set(key, one);
	fresh.push(...news);
	return { kind: "appended", events };
}

const isOurs = (there: There, row: NewRow): boolean =>
	there.seq !== null && there.createdAt === row.createdAt && there.publishedAt === row.publishedAt;

/** Where a transaction stores the numbers of the projects whose logs it holds, for statements sent without waiting. */
const HELD = "posthorn.held_logs";
const HOLD = lockingSql(
	(mode) => `
	SELECT set_config('${HELD}', coalesce(array_agg(held.project_no), '{}')::text, true) AS held
	FROM (SELECT no FROM unnest($1::bigint[]) AS no ORDER BY no) wanted
		CROSS JOIN LATERAL (SELECT project_no ${lockedLog("wanted.no", mode)}) held`,
);

/**
 * Locks the logs that no other session holds until the transaction ends, without waiting unless `waits`. {@link
 * appendRows} appends only to these, even if it was sent before this returns.
 *
 * @returns the projects whose logs are held
 */
export async function holdLogs(c: Session, projectNos: Iterable<number>, waits = false): Promise<Set<number>> {
	const row = await c.row<{ held: string }>(HOLD(waits), numberArray([...projectNos]));
	return new Set(row!.held.slice(1, -1).split(",").filter(Boolean).map(Number));
}

/** Free leases whose alarm must be set. */
const ALARM = `
	SELECT project_no FROM posthorn.leases
	WHERE project_no = ANY (current_setting('${HELD}', true)::bigint[]) AND until IS NULL AND wake_at IS DISTINCT FROM 0
	ORDER BY project_no FOR NO KEY UPDATE`;

/**
 * Appends events to the held logs, numbers them from each log's end, and sets the alarms of free leases. A project gets
 * none of its events if one of their ids exists already: it's returned without an end.
 *
 * @param alarm locks the leases whose alarm to set
 * @param ready the projects to append to
 */
const append = (alarm: string, ready: string) => `
	WITH alarm AS MATERIALIZED (${alarm}), ready AS MATERIALIZED (${ready}), given AS MATERIALIZED (
		SELECT * FROM unnest(
			$projects::bigint[], $places::bigint[], $ids::text[], $types::integer[], $typePlaces::bigint[],
			$createdAt::bigint[], $publishedAt::bigint[], $starts::integer[], $lengths::integer[]
		) AS g (project_no, place, id, type, type_place, created_at, published_at, start, length)
		WHERE project_no IN (SELECT project_no FROM ready)
	), known AS MATERIALIZED (
		SELECT DISTINCT g.project_no
		FROM given g CROSS JOIN LATERAL (
			SELECT 1 FROM posthorn.events ${identified("g.project_no", "g.id")}
		) there
	), log_end AS (
		UPDATE posthorn.logs l SET last_seq = l.last_seq + new.count, stretch = ${stretchOf("l.last_seq + new.count")}
		FROM (SELECT project_no, count(*) AS count FROM given GROUP BY project_no) new
			CROSS JOIN LATERAL (SELECT ctid ${newestLog("new.project_no")}) held
		WHERE l.ctid = held.ctid AND new.project_no NOT IN (SELECT project_no FROM known)
		RETURNING l.project_no, l.last_seq - new.count AS before
	), type_end AS MATERIALIZED (
		SELECT kind.project_no, kind.type, coalesce(last.type_seq, 0) AS before
		FROM (SELECT DISTINCT project_no, type FROM given) kind LEFT JOIN LATERAL (
			SELECT type_seq FROM posthorn.events ${lastOfType("kind.project_no", "kind.type")} LIMIT 1
		) last ON true
	), appended AS (
		INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
		SELECT g.project_no, l.before + g.place, g.id, g.type, t.before + g.type_place, g.created_at, g.published_at,
			substring($bodies::bytea FROM g.start + 1 FOR g.length)
		FROM given g JOIN log_end l ON l.project_no = g.project_no
			JOIN type_end t ON t.project_no = g.project_no AND t.type = g.type
	), woken AS (
		UPDATE posthorn.leases l SET wake_at = 0
		FROM alarm JOIN log_end e ON e.project_no = alarm.project_no
		WHERE l.project_no = alarm.project_no
	)
	SELECT project_no, before FROM log_end UNION ALL SELECT project_no, NULL FROM known`;

/** Never waits: a project whose alarm must be set while another session locks its lease gets nothing. */
const APPEND_FREE = sql(
	append(
		`${ALARM} SKIP LOCKED`,
		`SELECT q.project_no FROM posthorn.leases q
		WHERE q.project_no = ANY (current_setting('${HELD}', true)::bigint[])
			AND (q.until IS NOT NULL OR q.wake_at = 0 OR q.project_no IN (SELECT project_no FROM alarm))`,
	),
);
const APPEND_ALL = sql(append(ALARM, `SELECT unnest(current_setting('${HELD}', true)::bigint[]) AS project_no`));

/** The result of a batch. For projects in neither, nothing was written: their log or lease row was locked. */
interface Appended {
	/** By project, the last `seq` before. */
	readonly ends: Map<number, number>;
	/** Projects with an event whose id exists already: nothing was written. */
	readonly known: Set<number>;
}

/** In a transaction that holds logs by {@link holdLogs}. Appends nothing to others. */
async function appendRows(c: Session, rows: readonly NewRow[], waits = false): Promise<Appended> {
	if (rows.length === 0) return { ends: new Map(), known: new Set() };
	const places = new Counter<number>();
	const typePlaces = new Counter<string>();
	const { bytes: bodies, starts, lengths } = pack(rows.map((row) => row.body));
	const numbers = (each: (row: NewRow) => number) => numberArray(rows.map(each));
	const answer = await c.rows<{ project_no: number; before: number | null }>(waits ? APPEND_ALL : APPEND_FREE, {
		projects: numbers(({ projectNo }) => projectNo),
		places: numbers(({ projectNo }) => places.next(projectNo)),
		ids: textArray(rows.map((row) => row.id)),
		types: numbers(({ type }) => type),
		typePlaces: numbers(({ projectNo, type }) => typePlaces.next(`${projectNo}/${type}`)),
		createdAt: numbers(({ createdAt }) => createdAt),
		publishedAt: numbers(({ publishedAt }) => publishedAt),
		starts: numberArray(starts),
		lengths: numberArray(lengths),
		bodies,
	});
	const ends = new Map<number, number>();
	const known = new Set<number>();
	for (const { project_no, before } of answer) {
		if (before === null) {
			known.add(project_no);
			continue;
		}
		ends.set(project_no, before);
		c.changed.add(project_no);
		c.ends.set(project_no, before + places.count(project_no));
	}
	return { ends, known };
}

/** Counts each key's calls, from 1. */
class Counter<K> {
	readonly #counts = new Map<K, number>();

	count(kind: K): number {
		return this.#counts.get(kind) ?? 0;
	}

	next(kind: K): number {
		const count = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, count);
		return count;
	}
}

/** Appends the events of facts, in the current transaction, which holds the project's log. */
export async function appendFacts(c: Session, projectNo: number, facts: readonly FactEvents[]): Promise<LogEvent[][]> {
	const rows = facts.flatMap(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => {
			return { projectNo, id, type: typeCode(c.names, type), createdAt, publishedAt: at, body };
		}),
	);
	let seq = (await appendRows(c, rows, true)).ends.get(projectNo);
	if (seq === undefined) throw new Error("The events of a fact could not be appended: one has an id that is taken.");
	return facts.map(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => ({ seq: ++seq!, id, type, createdAt, publishedAt: at, body })),
	);
}
