import type { DueBasket, LogEvent, Params } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendOfFact } from "./record.ts";

export function touchBasket(
	c: Connection,
	{ projectId, touch: { basketId, at, dueAt, data } }: Params<"touchBasket">,
): "touched" | "bought" | "no_project" {
	const project = c.names.project(projectId);
	if (project === null) return "no_project";
	const order = c
		.sql("SELECT 1 FROM store_orders WHERE project_no = ? AND basket_id = ? LIMIT 1")
		.get(project, basketId);
	if (order !== undefined) return "bought";
	// Two touches always have different times, even within a millisecond or if the clock steps back.
	c.sql(`
		INSERT INTO store_baskets (project_no, basket_id, touched_at, due_at, data) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (project_no, basket_id) DO UPDATE SET
			touched_at = max(excluded.touched_at, touched_at + 1), due_at = excluded.due_at, data = excluded.data`).run(
		project,
		basketId,
		at,
		dueAt,
		data,
	);
	return "touched";
}

export function removeBasket(
	c: Connection,
	{ projectId, basketId }: Params<"removeBasket">,
): "removed" | "absent" | "no_project" {
	const project = c.names.project(projectId);
	if (project === null) return "no_project";
	const { changes } = c.sql("DELETE FROM store_baskets WHERE project_no = ? AND basket_id = ?").run(project, basketId);
	return changes === 1 ? "removed" : "absent";
}

export function takeDueBaskets(c: Connection, { now, until, limit }: Params<"takeDueBaskets">): DueBasket[] {
	const rows = c
		.sql(`
			SELECT b.no, p.id AS project_id, b.basket_id, b.touched_at, b.data
			FROM store_baskets b CROSS JOIN projects p ON p.no = b.project_no
			WHERE b.due_at <= ? ORDER BY b.due_at LIMIT ?`)
		.all(now, limit);
	return rows.map((row) => {
		c.sql("UPDATE store_baskets SET due_at = ? WHERE no = ?").run(until, row.no!);
		return {
			projectId: row.project_id as string,
			basketId: row.basket_id as string,
			touchedAt: row.touched_at as number,
			data: row.data as string,
		};
	});
}

export function nextBasketDue(c: Connection): number | null {
	const row = c.sql("SELECT due_at FROM store_baskets ORDER BY due_at LIMIT 1").get();
	return row === undefined ? null : (row.due_at as number);
}

export function abandonBaskets(c: Connection, { projectId, baskets, at }: Params<"abandonBaskets">): LogEvent[] {
	const project = c.names.project(projectId);
	if (project === null) return [];
	const end = c.sql("DELETE FROM store_baskets WHERE project_no = ? AND basket_id = ? AND touched_at = ?");
	const ended = baskets.filter(({ basketId, touchedAt }) => end.run(project, basketId, touchedAt).changes === 1);
	const events = ended.map(({ event }) => event);
	return events.length === 0 ? [] : appendOfFact(c, projectId, at, events);
}
