import type { Acknowledgement, AlarmMark, PeerStorage, Share } from "../../../src/storage/port.ts";
import { areLeasesOpen } from "./epochs.ts";
import { findHeld } from "./leases.ts";
import type { MemoryNode } from "./node.ts";

const END = Number.POSITIVE_INFINITY;

export function peersOf(node: MemoryNode): PeerStorage {
	return {
		readMarks: ({ projectIds }) => node.run(() => readMarks(node, projectIds)),
		acknowledge: ({ acknowledgements }) => node.run(() => acknowledge(node, acknowledgements)),
		isInForce: ({ projectId, revision }) => node.run(() => isInForce(node, projectId, revision)),
		share: ({ holder }) => node.run(() => share(node, holder)),
		nextEnd: () => node.run(() => nextEnd(node)),
		leave: ({ holder }) =>
			node.run(() => {
				node.tables.nodes.delete(holder);
			}),
		takeSweep: (p) => node.run(() => takeSweep(node, p)),
		endSweep: (p) => node.run(() => endSweep(node, p)),
		onEpoch(listener, keeper) {
			node.epochListeners.add(listener);
			if (keeper) node.epochKeepers.add(keeper);
			return () => {
				node.epochListeners.delete(listener);
				if (keeper) node.epochKeepers.delete(keeper);
			};
		},
		subscribe(listener) {
			node.hintListeners.add(listener);
			return () => {
				node.hintListeners.delete(listener);
			};
		},
	};
}

function readMarks(node: MemoryNode, projectIds: readonly string[]): Map<string, AlarmMark> {
	const marks = new Map<string, AlarmMark>();
	for (const id of projectIds) {
		const project = node.database.project(id);
		if (project === undefined) continue;
		const { lastSeq, revision } = node.tables.logs.get(project.no)!;
		node.ends.set(id, lastSeq);
		marks.set(id, { lastSeq, revision });
	}
	return marks;
}

function acknowledge(node: MemoryNode, acknowledgements: readonly Acknowledgement[]): Acknowledgement[] {
	return acknowledgements.filter(({ lease, revision }) => {
		const held = findHeld(node, lease);
		if (held === null) return false;
		if (node.database.locks.has(held.projectNo)) return true;
		node.tables.leases.put({ ...held, acknowledged: Math.max(held.acknowledged ?? revision, revision) });
		return false;
	});
}

/** Soon after an epoch has begun, a lost lease may still be in use. */
function isInForce({ database, tables }: MemoryNode, projectId: string, revision: number): boolean {
	const project = database.project(projectId);
	if (project === undefined) return true;
	const { until, acknowledged } = tables.leases.get(project.no)!;
	if (acknowledged !== null && acknowledged >= revision) return true;
	const now = database.clock.now();
	return (until === null || until <= now) && areLeasesOpen(database, now);
}

/** A node counts as alive for a lease duration after its last report. */
function share(node: MemoryNode, holder: string): Share {
	node.compareClocks();
	const { nodes, leases } = node.tables;
	const time = node.time();
	nodes.put({ holder, seenAt: time.database });
	for (const other of [...nodes.values()])
		if (other.seenAt < time.database - node.leaseTermMs) nodes.delete(other.holder);
	const { alarm, end } = leases.by;
	const begin = { wakeAt: 0, until: 0, projectNo: 0 };
	const last = { wakeAt: END, until: END, projectNo: END };
	const due = [...alarm.ascending(begin, { ...last, wakeAt: time.database })];
	const onNode = (at: number | null | undefined) => (at == null ? null : at - time.database + time.node);
	return {
		nodes: nodes.size,
		projects: end.size + due.length,
		nextAlarm: onNode(alarm.first(begin, last)?.wakeAt),
		nextEnd: onNode(end.first(begin, last)?.until),
	};
}

function nextEnd(node: MemoryNode): number | null {
	const time = node.time();
	for (const { until } of node.tables.leases.by.end.ascending(
		{ until: 0, projectNo: 0 },
		{ until: END, projectNo: END },
	))
		if (until! > time.database) return until! - time.database + time.node;
	return null;
}

function takeSweep(
	{ database }: MemoryNode,
	{ holder, termMs, early }: Parameters<PeerStorage["takeSweep"]>[0],
): boolean {
	const now = database.clock.now();
	const { sweeper } = database;
	if (sweeper.holder !== holder && sweeper.until > now && !(sweeper.holder === null && early)) return false;
	database.sweeper = { holder, until: now + termMs };
	return true;
}

function endSweep({ database }: MemoryNode, { holder, restMs }: Parameters<PeerStorage["endSweep"]>[0]): void {
	if (database.sweeper.holder === holder) database.sweeper = { holder: null, until: database.clock.now() + restMs };
}
