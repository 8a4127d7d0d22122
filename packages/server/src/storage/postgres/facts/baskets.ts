import type { DueBasket, LogEvent, Params } from "../../port.ts";
import { findProject } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { numberArray, sql, textArray } from "../connection/session.ts";
import { appendOfFacts, holdLogs, storedId } from "../log/append-rows.ts";

/** Two touches always have different times, even within a millisecond or if the clock steps back. */
const TOUCH = sql(`
	INSERT INTO posthorn.store_baskets AS b (project_no, basket_id, touched_at, due_at, data)
	SELECT $1, $2, $3, $4, $5
	WHERE NOT EXISTS (SELECT FROM posthorn.store_orders o WHERE o.project_no = $1 AND o.basket_id = $2)
	ON CONFLICT (project_no, basket_id) DO UPDATE SET
		touched_at = greatest(excluded.touched_at, b.touched_at + 1), due_at = excluded.due_at, data = excluded.data`);

/** In a transaction. Recording an order locks the log, so the lookup of an order locks it too. */
export async function touchBasket(
	c: Session,
	{ projectId, touch: { basketId, at, dueAt, data } }: Params<"touchBasket">,
): Promise<"touched" | "bought" | "no_project"> {
	const project = await findProject(c, projectId);
	if (project === null) return "no_project";
	const [, touched] = await Promise.all([
		holdLogs(c, [project], true),
		c.run(TOUCH, project, storedId(basketId), at, c.offset.toDatabase(dueAt), data),
		c.commit(),
	]);
	return touched === 1 ? "touched" : "bought";
}

const REMOVE = sql("DELETE FROM posthorn.store_baskets WHERE project_no = $1 AND basket_id = $2");

export async function removeBasket(
	c: Session,
	{ projectId, basketId }: Params<"removeBasket">,
): Promise<"removed" | "absent" | "no_project"> {
	const project = await findProject(c, projectId);
	if (project === null) return "no_project";
	return (await c.run(REMOVE, project, storedId(basketId))) === 1 ? "removed" : "absent";
}

/** Rows are identified by their physical location, which doesn't change while they are locked. */
const TAKE_DUE = sql(`
	WITH taken AS (
		UPDATE posthorn.store_baskets SET due_at = $2
		WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM posthorn.store_baskets WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
		))
		RETURNING project_no, basket_id, touched_at, data
	)
	SELECT p.id AS project_id, t.basket_id, t.touched_at, t.data
	FROM taken t CROSS JOIN LATERAL (SELECT id FROM posthorn.projects WHERE no = t.project_no LIMIT 1) p`);

/** Concurrent nodes claim different baskets. */
export async function takeDueBaskets(
	c: Session,
	{ now, until, limit }: Params<"takeDueBaskets">,
): Promise<DueBasket[]> {
	type Due = { project_id: string; basket_id: string; touched_at: number; data: string };
	const rows = await c.rows<Due>(TAKE_DUE, c.offset.toDatabase(now), c.offset.toDatabase(until), limit);
	return rows.map(({ project_id: projectId, basket_id: basketId, touched_at: touchedAt, data }) => {
		return { projectId, basketId, touchedAt, data };
	});
}

const NEXT_DUE = sql("SELECT due_at FROM posthorn.store_baskets ORDER BY due_at LIMIT 1");

export async function nextBasketDue(c: Session): Promise<number | null> {
	const row = await c.row<{ due_at: number }>(NEXT_DUE);
	return row === undefined ? null : c.offset.toNode(row.due_at);
}

const END = sql(`
	DELETE FROM posthorn.store_baskets
	WHERE project_no = $1 AND basket_id = ANY ($2::text[])
		AND touched_at = ($3::bigint[])[array_position($2::text[], basket_id)]
	RETURNING basket_id`);

/** In a transaction. */
export async function abandonBaskets(
	c: Session,
	{ projectId, baskets, at }: Params<"abandonBaskets">,
): Promise<LogEvent[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const ids = baskets.map(({ basketId }) => storedId(basketId));
	const [, rows] = await Promise.all([
		holdLogs(c, [project], true),
		c.rows<{ basket_id: string }>(END, project, textArray(ids), numberArray(baskets.map(({ touchedAt }) => touchedAt))),
	]);
	if (rows.length === 0) return [];
	const ended = new Set(rows.map(({ basket_id }) => basket_id));
	const events = baskets.filter((_, i) => ended.has(ids[i]!)).map(({ event }) => event);
	const [appended] = await appendOfFacts(c, project, [{ at, events }]);
	return appended!;
}
