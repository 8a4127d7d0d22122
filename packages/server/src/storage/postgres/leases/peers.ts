import type { Acknowledgement, AlarmMark, PeerStorage, Share } from "../../port.ts";
import { newestLog } from "../connection/hot-rows.ts";
import { findProject } from "../connection/names.ts";
import { numberArray, type Session, sql, textArray } from "../connection/session.ts";
import type { PostgresNode } from "../node.ts";
import { compareClocks, LEASES_OPEN, type LeaseTime, NOW } from "./leases.ts";
import type { Wakes } from "./wake.ts";

const MARKS = sql(`
	SELECT p.no, p.id, g.last_seq, g.revision
	FROM posthorn.projects p CROSS JOIN LATERAL (SELECT last_seq, revision ${newestLog("p.no")}) g
	WHERE p.id = ANY ($1::text[])`);

async function readMarks(c: Session, projectIds: readonly string[]): Promise<Map<string, AlarmMark>> {
	const rows = await c.rows<{ no: number; id: string; last_seq: number; revision: number }>(
		MARKS,
		textArray(projectIds),
	);
	for (const { no, last_seq } of rows) c.ends.set(no, last_seq);
	return new Map(rows.map(({ id, last_seq, revision }) => [id, { lastSeq: last_seq, revision }]));
}

/** Returns those whose row another session has locked. */
const ACKNOWLEDGE = sql(`
	WITH mine AS MATERIALIZED (
		SELECT l.project_no
		FROM unnest($1::bigint[], $2::bigint[]) AS mine (project_no, generation)
			JOIN posthorn.leases l ON l.project_no = mine.project_no
		WHERE l.generation = mine.generation AND l.until IS NOT NULL
	), held AS MATERIALIZED (
		SELECT l.project_no, mine.revision
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS mine (project_no, generation, revision)
			JOIN posthorn.leases l ON l.project_no = mine.project_no
		WHERE l.generation = mine.generation AND l.until IS NOT NULL
		ORDER BY l.project_no FOR NO KEY UPDATE OF l SKIP LOCKED
	), done AS (
		UPDATE posthorn.leases l SET acknowledged = greatest(l.acknowledged, held.revision)
		FROM held WHERE l.project_no = held.project_no
	)
	SELECT project_no FROM mine WHERE project_no NOT IN (SELECT project_no FROM held)`);

async function acknowledge(c: Session, acknowledgements: readonly Acknowledgement[]): Promise<Acknowledgement[]> {
	const projects: number[] = [];
	for (const { lease } of acknowledgements) projects.push((await findProject(c, lease.projectId)) ?? 0);
	const rows = await c.rows<{ project_no: number }>(
		ACKNOWLEDGE,
		numberArray(projects),
		numberArray(acknowledgements.map(({ lease }) => c.storedGeneration(lease.generation))),
		numberArray(acknowledgements.map(({ revision }) => revision)),
	);
	const locked = new Set(rows.map(({ project_no }) => project_no));
	return acknowledgements.filter((_, i) => locked.has(projects[i]!));
}

/**
 * `acknowledged` belongs to the current lease: a new holder has acknowledged nothing yet. Soon after an epoch has
 * begun, a lost lease may still be in use.
 */
const IS_BEHIND = sql(`
	SELECT FROM posthorn.leases
	WHERE project_no = $project AND coalesce(acknowledged, -1) < $revision
		AND (until > ${NOW} OR NOT ${LEASES_OPEN})`);

async function isInForce(c: Session, time: LeaseTime, projectId: string, revision: number): Promise<boolean> {
	const project = await findProject(c, projectId);
	return project === null || (await c.row(IS_BEHIND, { now: time.database, project, revision })) === undefined;
}

/**
 * A report, which then deletes nodes that were killed, but skips one that is currently reporting, without waiting for it:
 * in the other order, two nodes could wait for each other. A single statement, because a node that freezes within a
 * transaction would keep others from reporting.
 */
const SHARE = sql(`
	WITH report AS (
		INSERT INTO posthorn.nodes (holder, seen_at) VALUES ($holder, ${NOW})
		ON CONFLICT (holder) DO UPDATE SET seen_at = excluded.seen_at RETURNING holder
	), forget AS (
		DELETE FROM posthorn.nodes WHERE holder = ANY (ARRAY(
			SELECT holder FROM posthorn.nodes
			WHERE (SELECT count(*) FROM report) = 1 AND seen_at < ${NOW} - $termMs AND holder <> $holder FOR UPDATE SKIP LOCKED
		))
	)
	SELECT
		1 + (SELECT count(*) FROM posthorn.nodes WHERE seen_at >= ${NOW} - $termMs AND holder <> $holder)::bigint AS nodes,
		(SELECT count(*) FROM posthorn.leases WHERE until IS NOT NULL)::bigint
			+ (SELECT count(*) FROM posthorn.leases WHERE wake_at <= ${NOW})::bigint AS projects,
		(SELECT wake_at FROM posthorn.leases WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1) - ${NOW} AS alarm,
		(SELECT until FROM posthorn.leases WHERE until IS NOT NULL ORDER BY until LIMIT 1) - ${NOW} AS ends,
		${NOW} AS now`);

type ShareRow = {
	readonly nodes: number;
	readonly projects: number;
	readonly alarm: number | null;
	readonly ends: number | null;
	readonly now: number;
};

/** A node counts as alive for a lease's duration after its last report. */
async function share(c: Session, node: PostgresNode, holder: string): Promise<Share> {
	const time = node.time();
	const row = await c.row<ShareRow>(SHARE, { now: time.database, holder, termMs: node.leaseTermMs });
	compareClocks(c, node, time, row!.now);
	const { nodes, projects, alarm, ends } = row!;
	const at = (delay: number | null) => (delay === null ? null : time.node + delay);
	return { nodes, projects, nextAlarm: at(alarm), nextEnd: at(ends) };
}

const NEXT_END = sql(`
	SELECT until - ${NOW} AS delay, ${NOW} AS now FROM posthorn.leases WHERE until > ${NOW} ORDER BY until LIMIT 1`);

async function nextEnd(c: Session, node: PostgresNode): Promise<number | null> {
	const time = node.time();
	const row = await c.row<{ delay: number; now: number }>(NEXT_END, { now: time.database });
	if (row === undefined) return null;
	compareClocks(c, node, time, row.now);
	return time.node + row.delay;
}

const LEAVE = sql("DELETE FROM posthorn.nodes WHERE holder = $1");

async function leave(c: Session, holder: string): Promise<void> {
	await c.run(LEAVE, holder);
}

/** A later end was written while the database's clock was ahead, milliseconds. */
const LONGEST_MS = 86_400_000;

const TAKE = sql(`
	INSERT INTO posthorn.sweeper AS s (one, holder, until) VALUES (true, $holder, ${NOW} + $termMs)
	ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until
	WHERE s.holder = $holder OR s.until <= ${NOW} OR s.until > ${NOW} + ${LONGEST_MS} OR (s.holder IS NULL AND $early)`);

const END = sql(`UPDATE posthorn.sweeper SET holder = NULL, until = ${NOW} + $restMs WHERE holder = $holder`);

/**
 * One node sweeps at a time, so that the work is done once. Only that depends on it: steps of several nodes at once (those
 * of the previous release don't ask) delete nothing twice and nothing that is needed.
 */
async function takeSweep(c: Session, time: LeaseTime, p: Parameters<PeerStorage["takeSweep"]>[0]): Promise<boolean> {
	return (await c.run(TAKE, { now: time.database, ...p })) > 0;
}

async function endSweep(c: Session, time: LeaseTime, p: Parameters<PeerStorage["endSweep"]>[0]): Promise<void> {
	await c.run(END, { now: time.database, ...p });
}

export function peersOf(node: PostgresNode, wakes: Wakes): PeerStorage {
	return {
		readMarks: ({ projectIds }) => node.read((c) => readMarks(c, projectIds), "engine"),
		acknowledge: ({ acknowledgements }) => node.write((c) => acknowledge(c, acknowledgements), "engine"),
		isInForce: ({ projectId, revision }) => node.read((c) => isInForce(c, node.time(), projectId, revision), "engine"),
		nextEnd: () => node.read((c) => nextEnd(c, node), "engine"),
		leave: ({ holder }) => node.write((c) => leave(c, holder), "engine"),
		// Not in a transaction that a node could leave open while it is frozen.
		share: ({ holder }) => node.read((c) => share(c, node, holder), "engine"),
		takeSweep: (p) => node.read((c) => takeSweep(c, node.time(), p), "engine"),
		endSweep: (p) => node.read((c) => endSweep(c, node.time(), p), "engine"),
		onEpoch: (listener, keeper) => node.database.onEpoch(listener, keeper),
		subscribe: (listener) => wakes.subscribe(listener),
	};
}
