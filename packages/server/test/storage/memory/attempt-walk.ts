import { fitsResponse } from "../../../src/storage/port.ts";
import {
	type AttemptKind,
	type IdRange,
	STATUS_CODE,
	STATUSES,
	statusesOf,
} from "../../../src/storage/shared/deliveries.ts";
import type { MemoryNode } from "./node.ts";
import { compareText, merged } from "./ordered.ts";
import type { AttemptRow } from "./rows.ts";
import { eventKey } from "./tables.ts";

export type Order = "ascending" | "descending";

/** What a walk through the log found. */
export interface Walk {
	readonly rows: AttemptRow[];
	/** The id at which it stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

export const ALL_STATUSES = STATUSES.map((status) => STATUS_CODE[status]);

/** Matching attempts in the order of their ids, `limit` at most. */
export function walkAttempts(
	node: MemoryNode,
	projectNo: number,
	kind: AttemptKind,
	range: IdRange,
	order: Order,
	limit: number,
): Walk {
	const { response } = kind;
	const rows: AttemptRow[] = [];
	let scanned = 0;
	if (limit <= 0) return { rows, end: null };
	for (const row of matching(node, projectNo, kind, range, order)) {
		scanned++;
		if (response === undefined || fitsResponse(response, row.entry)) rows.push(row);
		if (rows.length === limit) break;
		if (scanned === response?.maxScanned) return { rows, end: row.id };
	}
	return { rows, end: null };
}

/** Attempts that match, with any response. */
function matching(
	node: MemoryNode,
	projectNo: number,
	kind: AttemptKind,
	range: IdRange,
	order: Order,
): Iterable<AttemptRow> {
	const { database, tables } = node;
	const { webhookIds, types, eventId } = kind;
	const webhooks = webhookIds && new Set(webhookIds.flatMap((id) => database.webhook(projectNo, id)?.no ?? []));
	const statuses = statusesOf(kind);
	const isOfType = (row: AttemptRow): boolean => types === undefined || types.includes(row.entry.eventType);
	if (eventId === undefined && kind.seqs === undefined) {
		const walks = [...(webhooks ?? [null])].flatMap((no) =>
			statuses.map((status) => walkStatus(node, projectNo, no, status, range, order)),
		);
		const sign = order === "ascending" ? 1 : -1;
		return filtered(
			merged(walks, (a, b) => sign * compareText(a.id, b.id)),
			isOfType,
		);
	}
	const event = eventId === undefined ? undefined : tables.events.by.id.get(eventKey(projectNo, eventId));
	const named = eventId === undefined ? kind.seqs! : event === undefined ? [] : [event.seq];
	const seqs = new Set(named.filter((seq) => kind.seqs?.includes(seq) !== false));
	const begin = { projectNo, webhookNo: 0, replay: 0, attempt: 0 };
	const rows = [...seqs]
		.flatMap((seq) =>
			[...tables.attempts.by.delivery.ascending({ ...begin, seq }, { ...begin, seq: seq + 1 })].reverse(),
		)
		.slice(0, kind.maxAttempts)
		.filter(
			(row) =>
				(webhooks === undefined || webhooks.has(row.webhookNo)) &&
				statuses.includes(row.status) &&
				isOfType(row) &&
				row.id >= range.from &&
				row.id < range.to,
		);
	rows.sort((a, b) => compareText(a.id, b.id));
	return order === "ascending" ? rows : rows.reverse();
}

/** A project's attempts, or a webhook's, of one status. */
function walkStatus(
	{ tables: { attempts } }: MemoryNode,
	projectNo: number,
	webhookNo: number | null,
	status: number,
	{ from, to }: IdRange,
	order: Order,
): Iterator<AttemptRow> & Iterable<AttemptRow> {
	if (webhookNo === null)
		return attempts.by.project[order]({ projectNo, status, id: from }, { projectNo, status, id: to });
	return attempts.by.webhook[order]({ webhookNo, status, id: from }, { webhookNo, status, id: to });
}

function* filtered<Row>(rows: Iterable<Row>, fits: (row: Row) => boolean): Generator<Row> {
	for (const row of rows) if (fits(row)) yield row;
}
