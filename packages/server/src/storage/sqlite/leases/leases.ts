import { type HandedOver, type Lease, type Params, QUARANTINE, type Renewal } from "../../port.ts";
import { QUEUE_CODE } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import type { UnpackedSettlement } from "../connection/wire.ts";
import { ringForChange } from "../lanes/lanes.ts";
import { settleAttempts } from "../lanes/settle.ts";

/** On the node's clock at the time of the call: the time, and when a lease acquired or renewed by this call expires. */
export interface LeaseTime {
	readonly now: number;
	readonly until: number;
}

interface Free {
	readonly no: number;
	readonly id: string;
	readonly generation: number;
}

const isInQuarantine = (c: Connection): boolean =>
	c.sql("SELECT 1 FROM settings WHERE name = ?").get(QUARANTINE) !== undefined;

const COLUMNS = "no, id, lease_generation AS generation";

export function acquireLeases(
	c: Connection,
	{ holder, limit, projectIds }: Params<"acquireLeases">,
	{ now, until }: LeaseTime,
): Lease[] {
	if (isInQuarantine(c)) return [];
	const free = projectIds === undefined ? findRung(c, limit, now) : findFree(c, projectIds, limit, now);
	return free.map(({ no, id, generation }) => {
		c.sql(
			"UPDATE projects SET wake_at = NULL, lease_holder = ?, lease_generation = ?, lease_until = ? WHERE no = ?",
		).run(holder, generation + 1, until, no);
		return { projectId: id, generation: generation + 1, expiresAt: until };
	});
}

/**
 * Where the next call continues if more projects were due than requested: after which project, and whose turn it is.
 */
const turns = new WeakMap<Connection, { readonly behind: number; readonly overdueFirst: boolean }>();

/**
 * Alternates between two queues: projects with news, taking turns by number; and overdue ones (a retry is due, or a
 * lease expired), longest overdue first.
 */
function findRung(c: Connection, limit: number, now: number): Free[] {
	const { behind: from, overdueFirst } = turns.get(c) ?? { behind: 0, overdueFirst: false };
	const next = c.sql(`SELECT ${COLUMNS} FROM projects WHERE wake_at = 0 AND no > ? ORDER BY no LIMIT ?`);
	const news = next.all(from, limit);
	if (from > 0 && news.length < limit)
		for (const row of next.all(0, limit - news.length)) if ((row.no as number) <= from) news.push(row);
	const due = c
		.sql(
			`SELECT ${COLUMNS}, wake_at AS since FROM projects WHERE wake_at > 0 AND wake_at <= ? ORDER BY wake_at LIMIT ?`,
		)
		.all(now, limit);
	const ended = c
		.sql(`SELECT ${COLUMNS}, lease_until AS since FROM projects WHERE lease_until <= ? ORDER BY lease_until LIMIT ?`)
		.all(now, limit);
	const past = [...due, ...ended].sort((a, b) => (a.since as number) - (b.since as number));
	const lines = overdueFirst ? [past, news] : [news, past];
	const rung: Record<string, unknown>[] = [];
	for (let i = 0; i < limit && rung.length < limit; i++)
		for (const { [i]: row } of lines) if (row !== undefined && rung.length < limit) rung.push(row);
	const last = rung.findLast((row) => row.since === undefined)?.no ?? from;
	if (rung.length === limit) turns.set(c, { behind: last as number, overdueFirst: !overdueFirst });
	else turns.delete(c);
	return rung.map(toFree);
}

function findFree(c: Connection, projectIds: readonly string[], limit: number, now: number): Free[] {
	const found: Free[] = [];
	for (const id of new Set(projectIds)) {
		if (found.length >= limit) break;
		const row = c
			.sql(`SELECT ${COLUMNS} FROM projects WHERE id = ? AND (lease_until IS NULL OR lease_until <= ?)`)
			.get(id, now);
		if (row !== undefined) found.push(toFree(row));
	}
	return found;
}

const toFree = (row: Record<string, unknown>): Free => ({
	no: row.no as number,
	id: row.id as string,
	generation: row.generation as number,
});

/** Leases are never locked: only this process uses the database. */
export function renewLeases(c: Connection, { holder, leases }: Params<"renewLeases">, { until }: LeaseTime): Renewal {
	if (isInQuarantine(c)) return { renewed: [], locked: [] };
	const renew = c.sql(`
		UPDATE projects SET lease_until = ?
		WHERE id = ? AND lease_holder = ? AND lease_generation = ? AND lease_until IS NOT NULL`);
	const renewed = leases
		.filter((lease) => renew.run(until, lease.projectId, holder, lease.generation).changes === 1)
		.map((lease) => ({ ...lease, expiresAt: until }));
	return { renewed, locked: [] };
}

/** Does nothing if another node holds the lease by now. */
export function releaseLease(c: Connection, { lease, wakeAt, seen, inFlight = [] }: Params<"releaseLease">): void {
	const released = c
		.sql(`
			UPDATE projects SET lease_holder = NULL, lease_until = NULL,
				wake_at = CASE WHEN last_seq > ?1 OR revision <> ?2 THEN 0 ELSE ?3 END
			WHERE id = ?4 AND lease_generation = ?5 AND lease_until IS NOT NULL RETURNING no`)
		.get(seen.lastSeq, seen.revision, wakeAt, lease.projectId, lease.generation);
	if (released !== undefined) handOver(c, released.no as number, lease, inFlight);
}

/** Earlier processes are gone, because this one has the file's lock. Their projects are free and due. */
export function freeAllLeases(c: Connection): void {
	c.sql(`
		UPDATE projects SET wake_at = 0, lease_holder = NULL, lease_until = NULL
		WHERE lease_until IS NOT NULL OR no IN (SELECT project_no FROM handed_over)`).run();
	c.sql("DELETE FROM handed_over").run();
}

export function nextAlarm(c: Connection, _: unknown, { now }: LeaseTime): number | null {
	const alarm = c.sql("SELECT min(wake_at) AS at FROM projects WHERE wake_at IS NOT NULL").get()!.at as number | null;
	const ended = c.sql("SELECT min(lease_until) AS at FROM projects WHERE lease_until <= ?").get(now)!.at as
		| number
		| null;
	if (alarm === null || ended === null) return alarm ?? ended;
	return Math.min(alarm, ended);
}

/** Records what is in flight with a lease that is being released. */
export function handOver(c: Connection, projectNo: number, lease: Lease, attempts: readonly HandedOver[]): void {
	for (const { webhookId, seq, replay, queue, until } of attempts) {
		const webhook = c.names.webhook(projectNo, webhookId);
		if (webhook === null) continue;
		c.sql(`
			INSERT INTO handed_over (project_no, webhook_no, seq, replay, queue, generation, until)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`).run(
			projectNo,
			webhook,
			seq,
			replay,
			queue === null ? null : QUEUE_CODE[queue],
			lease.generation,
			until,
		);
	}
}

export function settleHandedOver(
	c: Connection,
	handedOver: HandedOver,
	settlement: UnpackedSettlement,
): "settled" | "stale" {
	const project = c.names.project(settlement.projectId);
	const webhook = project === null ? null : c.names.webhook(project, handedOver.webhookId);
	if (project === null || webhook === null) return "stale";
	const { last_seq } = c.sql("SELECT last_seq FROM projects WHERE no = ?").get(project)!;
	if (settlement.lanes.some(({ position }) => position > (last_seq as number))) return "stale";
	const taken = c
		.sql(
			"DELETE FROM handed_over WHERE project_no = ? AND webhook_no = ? AND seq = ? AND replay = ? AND generation = ?",
		)
		.run(project, webhook, handedOver.seq, handedOver.replay, settlement.generation);
	if (taken.changes === 0) return "stale";
	const verdict = settleAttempts(c, project, settlement);
	ringForChange(c, project);
	return verdict;
}

export function forgetHandedOver(c: Connection, { projectId }: Params<"forgetHandedOver">, { now }: LeaseTime): void {
	const project = c.names.project(projectId);
	if (project !== null) c.sql("DELETE FROM handed_over WHERE project_no = ? AND until <= ?").run(project, now);
}
