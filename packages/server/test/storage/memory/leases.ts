/**
 * Leases and alarms use only the database's clock. A node's times are converted to offsets from its current time when
 * stored, and back when read.
 */
import { HINTED_MS, type Lease, type Params, QUARANTINE, type Renewal } from "../../../src/storage/port.ts";
import { FIRST_TURN } from "./due-turn.ts";
import { areLeasesOpen } from "./epochs.ts";
import { handOver } from "./handover.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import type { LeaseRow } from "./rows.ts";

const END = Number.POSITIVE_INFINITY;
/** Sorts after every project. */
const LAST = { projectNo: END };

export function acquireLeases(
	node: MemoryNode,
	{ holder, limit, projectIds, heldBefore = false, onLocked = () => undefined }: Params<"acquireLeases">,
): Lease[] {
	if (node.database.cold.setting(QUARANTINE) !== null) return [];
	if (projectIds) return acquireNamed(node, holder, limit, projectIds, heldBefore, onLocked);
	return acquireDue(node, holder, limit);
}

/** Acquires leases of due projects. */
function acquireDue(node: MemoryNode, holder: string, limit: number): Lease[] {
	const due = findDue(node, limit);
	const over = due.filter(({ until }) => until !== null).length;
	if (over > 0) node.observer.takenOver?.(over);
	return due.map((lease) => takeLease(node, lease, holder));
}

/**
 * Alternates between two queues: projects with news, taking turns by number; and overdue ones (a retry is due, or a
 * lease expired), longest overdue first.
 */
function findDue(node: MemoryNode, limit: number): LeaseRow[] {
	const { database, tables, dueTurn } = node;
	const now = database.clock.now();
	if (!areLeasesOpen(database, now)) return [];
	const { news: byNews, alarm, end } = tables.leases.by;
	const free = (walk: Iterable<LeaseRow>): LeaseRow[] => take(unlocked(node, walk), limit);
	const after = { projectNo: dueTurn.after + 1 };
	const news = [...free(byNews.ascending(after, LAST)), ...free(byNews.ascending({ projectNo: 0 }, after))].slice(
		0,
		limit,
	);
	const until = { projectNo: END };
	const due = free(alarm.ascending({ wakeAt: 1, projectNo: 0 }, { wakeAt: now, ...until }));
	const ended = free(end.ascending({ until: 0, projectNo: 0 }, { until: now, ...until }));
	const since = (lease: LeaseRow): number => lease.wakeAt ?? lease.until!;
	const past = [...due, ...ended].sort((a, b) => since(a) - since(b));
	const lines = dueTurn.overdueFirst ? [past, news] : [news, past];
	const chosen: LeaseRow[] = [];
	for (let i = 0; i < limit && chosen.length < limit; i++)
		for (const { [i]: row } of lines) if (row !== undefined && chosen.length < limit) chosen.push(row);
	const last = chosen.findLast(({ wakeAt }) => wakeAt === 0)?.projectNo ?? dueTurn.after;
	node.dueTurn = chosen.length < limit ? FIRST_TURN : { after: last, overdueFirst: !dueTurn.overdueFirst };
	return chosen;
}

function* unlocked({ database }: MemoryNode, walk: Iterable<LeaseRow>): Generator<LeaseRow> {
	for (const lease of walk) if (!database.locks.has(lease.projectNo)) yield lease;
}

/**
 * Acquires the free leases of these projects. With `heldBefore`, the caller held them until the current epoch began, so
 * those that no one has taken since are its own.
 */
function acquireNamed(
	node: MemoryNode,
	holder: string,
	limit: number,
	projectIds: readonly string[],
	heldBefore: boolean,
	onLocked: (projectIds: readonly string[]) => void,
): Lease[] {
	const { database, tables } = node;
	const now = database.clock.now();
	const isOpen = heldBefore || areLeasesOpen(database, now);
	const taken: Lease[] = [];
	const locked: string[] = [];
	let over = 0;
	for (const projectId of new Set(projectIds)) {
		if (taken.length >= limit || !isOpen) break;
		const project = database.project(projectId);
		const lease = project && tables.leases.get(project.no);
		if (lease === undefined) continue;
		const isOwn = heldBefore && (lease.holder ?? holder) === holder;
		if (lease.until !== null && lease.until > now && !isOwn) continue;
		if (database.locks.has(lease.projectNo)) {
			locked.push(projectId);
			continue;
		}
		if (lease.until !== null && !heldBefore) over += 1;
		taken.push(takeLease(node, lease, holder));
	}
	if (over > 0) node.observer.takenOver?.(over);
	if (locked.length > 0) onLocked(locked);
	return taken;
}

function takeLease(node: MemoryNode, lease: LeaseRow, holder: string): Lease {
	const { tables, leaseTermMs } = node;
	const time = node.time();
	const generation = lease.generation + 1;
	const until = time.database + leaseTermMs;
	tables.leases.put({ ...lease, wakeAt: null, holder, generation, until, acknowledged: null });
	const projectId = tables.projects.get(lease.projectNo)!.id;
	return { projectId, generation: node.toGeneration(generation), expiresAt: time.node + leaseTermMs };
}

/** The stored lease if it still holds: no other node has taken it. */
export function findHeld(node: MemoryNode, { projectId, generation }: Lease): LeaseRow | null {
	const project = node.database.project(projectId);
	const lease = project && node.tables.leases.get(project.no);
	if (lease === undefined || lease.until === null) return null;
	return lease.generation === node.storedGeneration(generation) ? lease : null;
}

export function renewLeases(node: MemoryNode, { holder, leases }: Params<"renewLeases">): Renewal {
	if (node.database.cold.setting(QUARANTINE) !== null) return { renewed: [], locked: [] };
	const time = node.time();
	const renewed: Lease[] = [];
	const locked: Lease[] = [];
	for (const lease of leases) {
		const held = findHeld(node, lease);
		if (held?.holder !== holder) continue;
		if (node.database.locks.has(held.projectNo)) {
			locked.push(lease);
			continue;
		}
		node.tables.leases.put({ ...held, until: time.database + node.leaseTermMs });
		renewed.push({ ...lease, expiresAt: time.node + node.leaseTermMs });
	}
	return { renewed, locked };
}

/** Does nothing if another node holds the lease by now. */
export function releaseLease(node: MemoryNode, { lease, wakeAt, seen, inFlight = [] }: Params<"releaseLease">): void {
	const held = findHeld(node, lease);
	if (held === null) return;
	const time = node.time();
	const { lastSeq, revision } = node.tables.logs.get(held.projectNo)!;
	const hasNews = lastSeq > seen.lastSeq || revision !== seen.revision;
	const later = wakeAt === null ? null : Math.max(0, time.database + Math.ceil(wakeAt - time.node));
	const next = hasNews ? 0 : later;
	node.tables.leases.put({ ...held, holder: null, until: null, wakeAt: next });
	handOver(node, held, inFlight);
	if (next !== null && next <= time.database + HINTED_MS) node.changed(lease.projectId, true);
}

/** An alarm further ahead than this may have been set while the clock was ahead, milliseconds. */
const FAR_ALARM_MS = 86_400_000;

/**
 * Frees projects that earlier processes held, which are gone if one process owns the database, and wakes those whose
 * alarm may be wrong.
 */
export function freeAllLeases({ database, tables: { leases, handedOver } }: MemoryNode): void {
	const far = database.clock.now() + FAR_ALARM_MS;
	const worked = new Set([...handedOver.values()].map(({ projectNo }) => projectNo));
	for (const lease of [...leases.values()])
		if (lease.until !== null || worked.has(lease.projectNo) || (lease.wakeAt ?? 0) > far)
			leases.put({ ...lease, wakeAt: 0, holder: null, until: null });
	for (const { webhookNo, seq } of [...handedOver.values()]) handedOver.delete(`${webhookNo}/${seq}`);
}

export function nextAlarm(node: MemoryNode): number | null {
	node.compareClocks();
	const time = node.time();
	const { alarm, end } = node.tables.leases.by;
	const rings = alarm.first({ wakeAt: 0, projectNo: 0 }, { wakeAt: END, projectNo: END })?.wakeAt;
	const ended = end.first({ until: 0, projectNo: 0 }, { until: time.database, projectNo: END })?.until;
	const next = Math.min(rings ?? END, ended ?? END);
	return next === END ? null : next - time.database + time.node;
}
