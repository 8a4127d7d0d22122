import { type HandedOver, type Lease, type Params, QUARANTINE, type Renewal } from "../../port.ts";
import { QUEUE_CODE } from "../../shared/deliveries.ts";
import { earlier } from "../../shared/gauges.ts";
import type { Connection } from "../connection/connection.ts";
import type { UnpackedSettlement } from "../connection/wire.ts";
import { wakeForChange } from "../lanes/lanes.ts";
import { settleAttempts } from "../lanes/settle.ts";
import { lastSeq } from "../log/log.ts";

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
	c.row("SELECT 1 FROM settings WHERE name = ?", QUARANTINE) !== undefined;

const COLUMNS = "no, id, lease_generation AS generation";

export function acquireLeases(
	c: Connection,
	{ holder, limit, projectIds }: Params<"acquireLeases">,
	{ now, until }: LeaseTime,
): Lease[] {
	if (isInQuarantine(c)) return [];
	wakeImplausible(c, now);
	const free = projectIds === undefined ? findDue(c, limit, now) : findFree(c, projectIds, limit, now);
	return free.map(({ no, id, generation }) => {
		c.run(ACQUIRE, holder, generation + 1, until, no);
		return { projectId: id, generation: generation + 1, expiresAt: until };
	});
}

/** Alarms further ahead than this may have been set while the clock was ahead, milliseconds. */
const FAR_ALARM_MS = 86_400_000;

/** Connections that have woken such projects. */
const awakened = new WeakSet<Connection>();

/**
 * Once after each start, wakes projects whose alarm is far ahead. If it was set while the clock was ahead, their retries
 * would wait until the time that it showed. Otherwise, they are released again with the same alarm.
 */
function wakeImplausible(c: Connection, now: number): void {
	if (awakened.has(c)) return;
	awakened.add(c);
	c.run("UPDATE projects SET wake_at = 0 WHERE wake_at > ?", now + FAR_ALARM_MS);
}

const ACQUIRE =
	"UPDATE projects SET wake_at = NULL, lease_holder = ?, lease_generation = ?, lease_until = ? WHERE no = ?";

/**
 * Where the next call continues if more projects were due than requested: after which project, and whose turn it is.
 */
const turns = new WeakMap<Connection, { readonly after: number; readonly overdueFirst: boolean }>();

/**
 * Alternates between two queues: projects with news, taking turns by number; and overdue ones (a retry is due, or a
 * lease expired), longest overdue first.
 */
function findDue(c: Connection, limit: number, now: number): Free[] {
	const { after: from, overdueFirst } = turns.get(c) ?? { after: 0, overdueFirst: false };
	const news = c.rows<Due>(NEWS, from, limit);
	if (from > 0 && news.length < limit)
		news.push(...c.rows<Due>(NEWS, 0, limit - news.length).filter(({ no }) => no <= from));
	const past = [...c.rows<Due>(DUE, now, limit), ...c.rows<Due>(ENDED, now, limit)].sort((a, b) => a.since - b.since);
	const lines = overdueFirst ? [past, news] : [news, past];
	const chosen: Due[] = [];
	for (let i = 0; i < limit && chosen.length < limit; i++)
		for (const { [i]: row } of lines) if (row !== undefined && chosen.length < limit) chosen.push(row);
	const after = chosen.findLast(({ since }) => since === 0)?.no ?? from;
	if (chosen.length === limit) turns.set(c, { after, overdueFirst: !overdueFirst });
	else turns.delete(c);
	return chosen;
}

/** `since` is when a retry was due or a lease ended; 0 for a project with news. */
interface Due extends Free {
	readonly since: number;
}

const NEWS = `SELECT ${COLUMNS}, wake_at AS since FROM projects WHERE wake_at = 0 AND no > ? ORDER BY no LIMIT ?`;
const DUE = `
	SELECT ${COLUMNS}, wake_at AS since FROM projects WHERE wake_at > 0 AND wake_at <= ? ORDER BY wake_at LIMIT ?`;
const ENDED = `
	SELECT ${COLUMNS}, lease_until AS since FROM projects WHERE lease_until <= ? ORDER BY lease_until LIMIT ?`;

function findFree(c: Connection, projectIds: readonly string[], limit: number, now: number): Free[] {
	const found: Free[] = [];
	for (const id of new Set(projectIds)) {
		if (found.length >= limit) break;
		const row = c.row<Free>(FREE, id, now);
		if (row !== undefined) found.push(row);
	}
	return found;
}

const FREE = `SELECT ${COLUMNS} FROM projects WHERE id = ? AND (lease_until IS NULL OR lease_until <= ?)`;

/** Leases are never locked: only this process uses the database. */
export function renewLeases(c: Connection, { holder, leases }: Params<"renewLeases">, { until }: LeaseTime): Renewal {
	if (isInQuarantine(c)) return { renewed: [], locked: [] };
	const renewed = leases
		.filter((lease) => c.run(RENEW, until, lease.projectId, holder, lease.generation) === 1)
		.map((lease) => ({ ...lease, expiresAt: until }));
	return { renewed, locked: [] };
}

const RENEW = `
	UPDATE projects SET lease_until = ?
	WHERE id = ? AND lease_holder = ? AND lease_generation = ? AND lease_until IS NOT NULL`;

/** Does nothing if another node holds the lease by now. */
export function releaseLease(c: Connection, { lease, wakeAt, seen, inFlight = [] }: Params<"releaseLease">): void {
	const values = [seen.lastSeq, seen.revision, wakeAt, lease.projectId, lease.generation];
	const released = c.row<{ no: number }>(RELEASE, ...values);
	if (released !== undefined) handOver(c, released.no, lease, inFlight);
}

const RELEASE = `
	UPDATE projects SET lease_holder = NULL, lease_until = NULL,
		wake_at = CASE WHEN last_seq > ?1 OR revision <> ?2 THEN 0 ELSE ?3 END
	WHERE id = ?4 AND lease_generation = ?5 AND lease_until IS NOT NULL RETURNING no`;

/** Earlier processes are gone, because this one has the file's lock. Their projects are free and due. */
export function freeAllLeases(c: Connection): void {
	c.run(`
		UPDATE projects SET wake_at = 0, lease_holder = NULL, lease_until = NULL
		WHERE lease_until IS NOT NULL OR no IN (SELECT project_no FROM handed_over)`);
	c.run("DELETE FROM handed_over");
}

export function nextAlarm(c: Connection, _: unknown, { now }: LeaseTime): number | null {
	const alarm = c.row<Time>("SELECT min(wake_at) AS at FROM projects WHERE wake_at IS NOT NULL")!.at;
	const ended = c.row<Time>("SELECT min(lease_until) AS at FROM projects WHERE lease_until <= ?", now)!.at;
	return earlier(alarm, ended);
}

type Time = { readonly at: number | null };

/** Records what is in flight with a lease that is being released. */
function handOver(c: Connection, projectNo: number, lease: Lease, attempts: readonly HandedOver[]): void {
	for (const { webhookId, seq, replay, queue, until } of attempts) {
		const webhook = c.names.webhook(projectNo, webhookId);
		if (webhook === null) continue;
		const code = queue === null ? null : QUEUE_CODE[queue];
		c.run(HAND_OVER, projectNo, webhook, seq, replay, code, lease.generation, until);
	}
}

const HAND_OVER = `
	INSERT INTO handed_over (project_no, webhook_no, seq, replay, queue, generation, until)
	VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

export function settleHandedOver(
	c: Connection,
	handedOver: HandedOver,
	settlement: UnpackedSettlement,
): "settled" | "stale" {
	const project = c.names.project(settlement.projectId);
	const webhook = project === null ? null : c.names.webhook(project, handedOver.webhookId);
	if (project === null || webhook === null) return "stale";
	const end = lastSeq(c, project);
	if (settlement.lanes.some(({ position }) => position > end)) return "stale";
	const taken = c.run(TAKE, project, webhook, handedOver.seq, handedOver.replay, settlement.generation);
	if (taken === 0) return "stale";
	const verdict = settleAttempts(c, project, settlement);
	wakeForChange(c, project);
	return verdict;
}

const TAKE =
	"DELETE FROM handed_over WHERE project_no = ? AND webhook_no = ? AND seq = ? AND replay = ? AND generation = ?";

export function forgetHandedOver(c: Connection, { projectId }: Params<"forgetHandedOver">, { now }: LeaseTime): void {
	const project = c.names.project(projectId);
	if (project !== null) c.run("DELETE FROM handed_over WHERE project_no = ? AND until <= ?", project, now);
}
