import type { DueBasket, LogEvent, Params } from "../../../src/storage/port.ts";
import { appendOfFact } from "./facts.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import { factKey } from "./tables-facts.ts";

const END = { dueAt: Number.POSITIVE_INFINITY, no: Number.POSITIVE_INFINITY };
const BEGIN = { dueAt: Number.NEGATIVE_INFINITY, no: 0 };

export function touchBasket(
	{ database, tables, offset }: MemoryNode,
	{ projectId, touch: { basketId, at, dueAt, data } }: Params<"touchBasket">,
): "touched" | "bought" | "no_project" {
	const project = database.project(projectId);
	if (project === undefined) return "no_project";
	const key = factKey(project.no, basketId);
	if (tables.boughtBaskets.get(key) !== undefined) return "bought";
	const before = tables.baskets.by.key.get(key);
	tables.baskets.put({
		...{ no: before?.no ?? database.nextNo(), key, projectNo: project.no, basketId },
		// Two touches always have different times, even within a millisecond or if the clock steps back.
		touchedAt: before === undefined ? at : Math.max(at, before.touchedAt + 1),
		...{ dueAt: offset.toDatabase(dueAt), data },
	});
	return "touched";
}

export function removeBasket(
	{ database, tables }: MemoryNode,
	{ projectId, basketId }: Params<"removeBasket">,
): "removed" | "absent" | "no_project" {
	const project = database.project(projectId);
	if (project === undefined) return "no_project";
	const row = tables.baskets.by.key.get(factKey(project.no, basketId));
	return row !== undefined && tables.baskets.delete(row.no) ? "removed" : "absent";
}

export function takeDueBaskets(
	{ tables, offset }: MemoryNode,
	{ now, until, limit, except = [] }: Params<"takeDueBaskets">,
): DueBasket[] {
	const due = tables.baskets.by.due.ascending(BEGIN, { ...END, dueAt: offset.toDatabase(now) });
	const projectOf = ({ projectNo }: { readonly projectNo: number }) => tables.projects.get(projectNo)!.id;
	const others = Iterator.from(due).filter((row) => !except.includes(projectOf(row)));
	return take(others, limit).map((row) => {
		tables.baskets.put({ ...row, dueAt: offset.toDatabase(until) });
		const { basketId, touchedAt, data } = row;
		return { projectId: projectOf(row), basketId, touchedAt, data };
	});
}

export function nextBasketDue({ tables, offset }: MemoryNode): number | null {
	const next = tables.baskets.by.due.first(BEGIN, END);
	return next === undefined ? null : offset.toNode(next.dueAt);
}

export function abandonBaskets(node: MemoryNode, { projectId, baskets, at }: Params<"abandonBaskets">): LogEvent[] {
	const { baskets: table } = node.tables;
	const project = node.database.project(projectId);
	if (project === undefined) return [];
	const ended = baskets.filter(({ basketId, touchedAt }) => {
		const row = table.by.key.get(factKey(project.no, basketId));
		return row?.touchedAt === touchedAt && table.delete(row.no);
	});
	const events = ended.map(({ event }) => event);
	return events.length === 0 ? [] : appendOfFact(node, project, at, events);
}
