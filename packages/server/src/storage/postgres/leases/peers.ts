import type { Acknowledgement, AlarmMark, PeerStorage, Share } from "../../port.ts";
import { numberArray, textArray } from "../connection/literals.ts";
import { findProject } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import type { PostgresNode } from "../node.ts";
import { LEASES_OPEN, type LeaseTime, NOW } from "./leases.ts";
import type { Wakes } from "./wake.ts";

const MARKS = sql(`
	SELECT p.no, p.id, g.last_seq, g.revision
	FROM posthorn.projects p JOIN posthorn.logs g ON g.project_no = p.no WHERE p.id = ANY ($1::text[])`);

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
	WHERE project_no = $2 AND coalesce(acknowledged, -1) < $3
		AND (until > ${NOW} OR NOT ${LEASES_OPEN})`);

async function isInForce(c: Session, time: LeaseTime, projectId: string, revision: number): Promise<boolean> {
	const project = await findProject(c, projectId);
	return project === null || (await c.row(IS_BEHIND, time.database, project, revision)) === undefined;
}

const REPORT = sql(`
	INSERT INTO posthorn.nodes (holder, seen_at) VALUES ($2, ${NOW})
	ON CONFLICT (holder) DO UPDATE SET seen_at = excluded.seen_at`);
/** Deletes nodes that were killed. Skips one that is currently reporting, without waiting for it. */
const FORGET = sql(`
	DELETE FROM posthorn.nodes WHERE holder = ANY (ARRAY(
		SELECT holder FROM posthorn.nodes WHERE seen_at < ${NOW} - $2 FOR UPDATE SKIP LOCKED
	))`);
const SHARE = sql(`
	SELECT
		(SELECT count(*) FROM posthorn.nodes WHERE seen_at >= ${NOW} - $2)::bigint AS nodes,
		(SELECT count(*) FROM posthorn.leases WHERE until IS NOT NULL)::bigint
			+ (SELECT count(*) FROM posthorn.leases WHERE wake_at <= ${NOW})::bigint AS projects`);

/** @param livesMs how long after its last report a node counts as alive */
async function share(c: Session, time: LeaseTime, holder: string, livesMs: number): Promise<Share> {
	await c.run(REPORT, time.database, holder);
	await c.run(FORGET, time.database, livesMs);
	const row = await c.row<{ nodes: number; projects: number }>(SHARE, time.database, livesMs);
	return { nodes: row!.nodes, projects: row!.projects };
}

const LEAVE = sql("DELETE FROM posthorn.nodes WHERE holder = $1");

async function leave(c: Session, holder: string): Promise<void> {
	await c.run(LEAVE, holder);
}

export function peersOf(node: PostgresNode, wakes: Wakes): PeerStorage {
	return {
		readMarks: ({ projectIds }) => node.read((c) => readMarks(c, projectIds), "engine"),
		acknowledge: ({ acknowledgements }) => node.write((c) => acknowledge(c, acknowledgements), "engine"),
		isInForce: ({ projectId, revision }) => node.read((c) => isInForce(c, node.time(), projectId, revision), "engine"),
		share: ({ holder }) => node.write((c) => share(c, node.time(), holder, node.leaseTermMs), "engine"),
		leave: ({ holder }) => node.write((c) => leave(c, holder), "engine"),
		onEpoch: (listener, keeper) => node.database.onEpoch(listener, keeper),
		subscribe: (listener) => wakes.subscribe(listener),
	};
}
