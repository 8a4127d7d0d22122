import type {
	EventSummary,
	IndexCoverage,
	Params,
	ReadLimit,
	ReferencedEvents,
	ResponseStep,
	Result,
	TextStep,
	UnindexedPart,
} from "../../../src/storage/port.ts";
import { orderIdIn, referenceNumber, referencesIn, textFinder } from "../../../src/storage/shared/bodies.ts";
import { idRange, toAttemptId, toStoredId } from "../../../src/storage/shared/deliveries.ts";
import { toSummary } from "./attempt-rows.ts";
import { walkAttempts } from "./attempt-walk.ts";
import type { MemoryNode } from "./node.ts";
import type { EventRow } from "./rows.ts";

const END = Number.POSITIVE_INFINITY;

/** A project's log, newest first. */
const logOf = ({ tables }: MemoryNode, projectNo: number, before = END): EventRow[] => [
	...tables.events.by.seq.descending({ projectNo, seq: 1 }, { projectNo, seq: before }),
];

function within(events: readonly EventRow[], { maxEvents, maxBytes }: ReadLimit): EventRow[] {
	let bytes = 0;
	return events.slice(0, maxEvents).filter(({ body }, i) => {
		bytes += body.length;
		return i === 0 || bytes <= maxBytes;
	});
}

export function readUnindexed(node: MemoryNode, { projectId, limit }: Params<"readUnindexed">): UnindexedPart | null {
	const project = node.database.project(projectId);
	if (project === undefined) return null;
	const log = logOf(node, project.no);
	if (log.length === 0) return null;
	const { after, through } = node.tables.references.get(project.no) ?? { after: log[0]!.seq, through: log[0]!.seq };
	const newer = log.filter(({ seq }) => seq > through).reverse();
	const left = newer.length > 0 ? newer : log.filter(({ seq }) => seq <= after);
	const read = within(left, limit);
	const isAll = read.length === left.length && read.length < limit.maxEvents;
	if (newer.length === 0 && after === 0) return null;
	const references = read
		.flatMap(({ seq, body }) => referencesIn(projectId, body).map((ref) => ({ ref, seq })))
		.sort((a, b) => a.seq - b.seq);
	if (newer.length > 0) return { after: through, through: read.at(-1)!.seq, isLast: isAll && after === 0, references };
	return { after: isAll ? 0 : read.at(-1)!.seq - 1, through: after, isLast: isAll, references };
}

export function indexReferences(node: MemoryNode, { projectId, part }: Params<"indexReferences">): boolean {
	const project = node.database.project(projectId);
	if (project === undefined) return false;
	const { references } = node.tables;
	const range = references.get(project.no) ?? { projectNo: project.no, after: part.through, through: part.through };
	if (range.after === part.through) references.put({ ...range, after: part.after });
	else if (range.through === part.after) references.put({ ...range, through: part.through });
	else return false;
	return true;
}

/** The entries follow from the events, so only the range is stored. */
export function findReferences(
	node: MemoryNode,
	{ projectId, reference, limit }: Params<"findReferences">,
): ReferencedEvents {
	const project = node.database.project(projectId);
	const log = project === undefined ? [] : logOf(node, project.no);
	const range = project && node.tables.references.get(project.no);
	if (range === undefined) return { seqs: [], capped: false, complete: log.length === 0, since: null };
	const ref = referenceNumber(projectId, reference);
	const seqs = log
		.filter(({ seq, body }) => seq > range.after && seq <= range.through && referencesIn(projectId, body).includes(ref))
		.map(({ seq }) => seq);
	return { seqs: seqs.slice(0, limit), capped: seqs.length > limit, ...coverageOf(log, range) };
}

export function describeEvents(node: MemoryNode, { projectId, seqs }: Params<"describeEvents">): EventSummary[] {
	const project = node.database.project(projectId);
	return seqs.flatMap((seq) => {
		const event = project && node.tables.events.by.seq.get({ projectNo: project.no, seq });
		return event === undefined ? [] : [{ seq, id: event.id, type: event.type, createdAt: event.createdAt }];
	});
}

export function readOrderIds(
	node: MemoryNode,
	{ projectId, seqs, maxBytes }: Params<"readOrderIds">,
): Result<"readOrderIds"> {
	const project = node.database.project(projectId);
	return seqs.flatMap((seq) => {
		const event = project && node.tables.events.by.seq.get({ projectNo: project.no, seq });
		if (event === undefined || event.body.length > maxBytes) return [];
		const orderId = orderIdIn(Buffer.from(event.body).toString());
		return orderId === null ? [] : [{ seq, orderId }];
	});
}

export function hasMoreAttempts(
	node: MemoryNode,
	{ projectId, seqs, maxAttempts }: Params<"hasMoreAttempts">,
): boolean {
	const project = node.database.project(projectId);
	const begin = { projectNo: project?.no ?? 0, webhookNo: 0, replay: 0, attempt: 0 };
	const attempts = seqs.flatMap((seq) => [
		...node.tables.attempts.by.delivery.ascending({ ...begin, seq }, { ...begin, seq: seq + 1 }),
	]);
	return attempts.length > maxAttempts;
}

function coverageOf(
	log: readonly EventRow[],
	{ after, through }: { readonly after: number; readonly through: number },
): IndexCoverage {
	const isWhole = after === 0 || after < (log.at(-1)?.seq ?? 0);
	if (isWhole) return { complete: through >= (log[0]?.seq ?? 0), since: null };
	return { complete: false, since: log.findLast(({ seq }) => seq > after)?.createdAt ?? null };
}

/** There are no entries to delete. */
export const sweepReferences = (): boolean => false;

export function searchBodies(node: MemoryNode, { projectId, text, before, limit }: Params<"searchBodies">): TextStep {
	const project = node.database.project(projectId);
	const log = project === undefined ? [] : logOf(node, project.no, before ?? END);
	const read = within(log, limit);
	if (read.length === 0) return { found: [], events: 0, reached: null, next: null };
	const find = textFinder(text);
	const found = read.flatMap(({ seq, id, type, createdAt, publishedAt, body }) => {
		const match = find(body);
		return match === null ? [] : [{ seq, id, type, createdAt, publishedAt, ...match }];
	});
	const isOver = read.length === log.length && read.length < limit.maxEvents;
	return { found, events: read.length, reached: read.at(-1)!.publishedAt, next: isOver ? null : read.at(-1)!.seq };
}

export function searchResponses(
	node: MemoryNode,
	{ projectId, text, before, limit }: Params<"searchResponses">,
): ResponseStep {
	const project = node.database.project(projectId);
	const { from, to } = idRange({});
	const range = { from, to: before === null ? to : toStoredId(before) };
	const rows =
		project === undefined ? [] : walkAttempts(node, project.no, {}, range, "descending", limit.maxEvents).rows;
	let bytes = 0;
	const read = rows.filter(({ entry }, i) => {
		bytes += entry.responseBody.length;
		return i === 0 || bytes <= limit.maxBytes;
	});
	const last = read.at(-1);
	if (last === undefined) return { found: [], attempts: 0, reached: null, next: null };
	const find = textFinder(text);
	const found = read.flatMap((row) => {
		const match = row.seq < 0 ? null : find(row.entry.responseBody);
		if (match === null) return [];
		const { createdAt } = node.tables.events.by.seq.get({ projectNo: row.projectNo, seq: row.seq })!;
		return [{ attempt: toSummary(node, row), createdAt, ...match }];
	});
	const isOver = read.length === rows.length && read.length < limit.maxEvents;
	return { found, attempts: read.length, reached: last.entry.startedAt, next: isOver ? null : toAttemptId(last.id) };
}
