/**
 * Epochs: stretches of the database's history in which nothing was lost, as in `postgres/leases/epochs.ts`. A node's
 * knowledge belongs to one epoch. The first node that sees another history begins the next epoch: the end of each log
 * is recorded, and for a lease's duration leases stay with their holders.
 */

import type { Claim, LogEnd, LostTail, Params } from "../../../src/storage/port.ts";
import { keptClaims } from "./claims.ts";
import type { MemoryDatabase } from "./database.ts";
import type { MemoryNode } from "./node.ts";
import type { EpochRow, ForkRow } from "./rows.ts";

/** Forks without a known loss are kept for this many epochs. */
const EPOCHS_KEPT = 8;

export type Joining = { readonly termMs: number } & (
	| { readonly memory: null }
	| {
			/** The node's previous epoch. */
			readonly memory: EpochRow;
			/** By project, the last event that the node knows to be acknowledged. */
			readonly ends: ReadonlyMap<string, number>;
			readonly claims: readonly Claim[];
			readonly storedGeneration: (generation: number) => number;
	  }
);

export interface Joined {
	readonly epoch: EpochRow;
	readonly lost: readonly LostTail[];
	/** Claims with all of their evidence present. */
	readonly kept: readonly Claim[];
	/** How long another node may still use a lost lease, in milliseconds. */
	readonly opensInMs: number;
}

/** Joins the database's epoch; begins it if no node has. */
export function joinEpoch(database: MemoryDatabase, joining: Joining): Joined {
	const current = database.epoch;
	const epoch = current?.history === database.history ? current : beginEpoch(database, joining.termMs);
	const opensInMs = Math.max(0, epoch.openAt - database.clock.now());
	if (joining.memory === null) return { epoch, lost: [], kept: [], opensInMs };
	const { memory, ends, claims, storedGeneration } = joining;
	const lost = [...ends].flatMap(([projectId, seq]) => recordLost(database, memory, projectId, seq) ?? []);
	return { epoch, lost, kept: keptClaims(database, storedGeneration, claims), opensInMs };
}

/** Nothing can have been lost before the very first epoch. */
function beginEpoch(database: MemoryDatabase, termMs: number): EpochRow {
	const { tables, locks } = database;
	const no = (database.epoch?.no ?? 0) + 1;
	const openAt = no === 1 ? 0 : database.clock.now() + termMs;
	const epoch = { no, id: database.nextEpochId(), history: database.history, openAt };
	tables.epochs.put(epoch);
	if (no === 1) return epoch;
	for (const { projectNo, lastSeq } of tables.logs.values())
		tables.forks.put({ projectNo, epoch: no, kept: lastSeq, lost: null });
	for (const lease of [...tables.leases.values()])
		if (lease.until !== null && !locks.has(lease.projectNo)) tables.leases.put({ ...lease, until: openAt });
	for (const fork of [...tables.forks.values()])
		if (fork.epoch < no - EPOCHS_KEPT + 1 && fork.lost === null) tables.forks.delete(`${fork.projectNo}/${fork.epoch}`);
	return epoch;
}

/** Whether any node may take a free lease: all that were held when the epoch began have ended. */
export const areLeasesOpen = ({ epoch }: MemoryDatabase, now: number): boolean => (epoch?.openAt ?? 0) <= now;

/**
 * The forks of a log since this epoch. An epoch that isn't here was lost: it may have diverged anywhere after its
 * number and before the newest epoch.
 */
function forksSince(database: MemoryDatabase, projectNo: number, { no, id }: Pick<EpochRow, "no" | "id">): ForkRow[] {
	const last = database.epoch!.no;
	const isHere = database.tables.epochs.get(no)?.id === id;
	const forks: ForkRow[] = [];
	for (let epoch = (isHere ? no : Math.min(no, last) - 1) + 1; epoch <= last; epoch++) {
		const fork = database.tables.forks.get(`${projectNo}/${epoch}`);
		if (fork !== undefined) forks.push(fork);
	}
	return forks;
}

/** The lowest of several forks since a node's epoch is where its knowledge ends. A missing project kept nothing. */
function recordLost(database: MemoryDatabase, from: EpochRow, projectId: string, seq: number): LostTail | null {
	const project = database.project(projectId);
	if (project === undefined) return { projectId, kept: 0, lost: seq, count: seq };
	const [lowest] = forksSince(database, project.no, from).sort((a, b) => a.kept - b.kept || a.epoch - b.epoch);
	if (lowest === undefined) return null;
	const before = Math.max(lowest.kept, lowest.lost ?? 0);
	if (seq <= before) return null;
	database.tables.forks.put({ ...lowest, lost: seq });
	return { projectId, kept: lowest.kept, lost: seq, count: seq - before };
}

/** How a node identifies an epoch to readers: its number and its id. */
const EPOCH = /^(\d{1,15})\.([0-9a-f]{8})$/;

export const epochName = ({ no, id }: EpochRow): string => `${no}.${id}`;

export function readLogEnd({ database }: MemoryNode, { projectId, since }: Params<"readLogEnd">): LogEnd | null {
	const project = database.project(projectId);
	if (project === undefined) return null;
	const { lastSeq } = database.tables.logs.get(project.no)!;
	const [, no, id] = EPOCH.exec(since ?? "") ?? [];
	const forks = no === undefined ? [] : forksSince(database, project.no, { no: Number(no), id: id! });
	return { lastSeq, kept: forks.length === 0 ? null : Math.min(...forks.map(({ kept }) => kept)) };
}
