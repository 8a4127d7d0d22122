/**
 * Compares what a node knows about its projects with a database that may have lost its last commits. Servers lose
 * commits from the end: if a commit is present, so are all before it. So three witnesses are enough for a whole
 * project. The lease, acknowledged up to the revision that the node applies, covers the lanes as they were loaded and
 * every later change of webhooks and replays. The last event that the node knows covers the log up to it, even though
 * numbers may have been reused. The last attempt that it committed covers all earlier outcomes, retries and positions.
 */
import type { ClientBase } from "pg";
import type { Claim } from "../../port/peers.ts";
import { QUARANTINE } from "../../port.ts";
import { toStoredId } from "../../shared/deliveries.ts";
import { storedGeneration } from "../../shared/leases.ts";
import { numberArray, textArray } from "../connection/session.ts";

const KEPT = `
	SELECT c.nth
	FROM unnest(
		$1::integer[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
		$9::text[], $10::bigint[], $11::integer[], $12::integer[], $13::text[]
	) AS c (
		nth, project, holder, generation, revision, last_seq, event_seq, event_id, webhook, seq, replay, attempt, attempt_id
	)
		JOIN posthorn.projects p ON p.id = c.project
		JOIN posthorn.leases l ON l.project_no = p.no
		JOIN posthorn.logs g ON g.project_no = p.no
	WHERE l.generation = c.generation AND l.holder = c.holder AND l.until IS NOT NULL AND l.acknowledged >= c.revision
		AND g.last_seq >= c.last_seq
		AND (c.event_id IS NULL OR EXISTS (
			SELECT FROM posthorn.events e WHERE e.project_no = p.no AND e.seq = c.event_seq AND e.id = c.event_id
		))
		AND (c.attempt_id IS NULL OR EXISTS (
			SELECT FROM posthorn.webhooks w JOIN posthorn.attempts a ON a.project_no = w.project_no AND a.webhook_no = w.no
			WHERE w.project_no = p.no AND w.id = c.webhook AND a.seq = c.seq AND a.replay = c.replay
				AND a.attempt = c.attempt AND a.id = c.attempt_id
		))
		AND NOT EXISTS (SELECT FROM posthorn.settings WHERE name = '${QUARANTINE}')`;

/**
 * @param epoch in which the claims' leases were taken, among those of this node
 * @returns the claims that hold: those whose evidence is all in the database. None does in quarantine
 */
export async function keptClaims(client: ClientBase, epoch: number, claims: readonly Claim[]): Promise<Claim[]> {
	if (claims.length === 0) return [];
	const numbers = (each: (claim: Claim) => number | null) => numberArray(claims.map(each));
	const texts = (each: (claim: Claim) => string | null) => textArray(claims.map(each));
	const { rows } = await client.query<{ nth: number }>(KEPT, [
		numberArray(claims.map((_, nth) => nth)),
		texts(({ lease }) => lease.projectId),
		texts(({ holder }) => holder),
		numbers(({ lease }) => storedGeneration(epoch, lease.generation)),
		numbers(({ revision }) => revision),
		numbers(({ lastSeq }) => lastSeq),
		numbers(({ event }) => event?.seq ?? null),
		texts(({ event }) => event?.id ?? null),
		texts(({ attempt }) => attempt?.webhookId ?? null),
		numbers(({ attempt }) => attempt?.seq ?? null),
		numbers(({ attempt }) => attempt?.replay ?? null),
		numbers(({ attempt }) => attempt?.attempt ?? null),
		texts(({ attempt }) => attempt && toStoredId(attempt.id)),
	]);
	return rows.map(({ nth }) => claims[nth]!);
}
