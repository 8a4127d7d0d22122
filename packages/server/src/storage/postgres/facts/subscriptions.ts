import type { FactEvent, Params, Recorded } from "../../port.ts";
import { findProject } from "../connection/find.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { holdLogs } from "../log/append-rows.ts";
import { appendOfFact, earlier, eventsJson, recorded, storedId, type Told } from "./record.ts";

const FIND = sql(`
	SELECT digest, at, events FROM posthorn.store_subscriptions WHERE project_no = $1 AND subscription_id = $2`);
const ADD = sql(`
	INSERT INTO posthorn.store_subscriptions (project_no, subscription_id, digest, at, events, data)
	VALUES ($1, $2, $3, $4, $5, $6)`);

export async function recordSubscription(
	c: Session,
	{ projectId, subscription: { subscriptionId, digest, at, data, event } }: Params<"recordSubscription">,
): Promise<Recorded> {
	const project = await findProject(c, projectId);
	if (project === null) return { kind: "no_project" };
	const id = storedId(subscriptionId);
	const [, told] = await Promise.all([holdLogs(c, [project], true), c.row<Told>(FIND, project, id)]);
	const known = earlier(told, digest);
	if (known !== null) return known;
	const appended = await appendOfFact(c, project, at, event);
	await Promise.all([c.run(ADD, project, id, digest, at, eventsJson(appended), data), c.commit()]);
	return recorded(at, appended);
}

const DATA = sql("SELECT data FROM posthorn.store_subscriptions WHERE project_no = $1 AND subscription_id = $2");

export async function getSubscription(
	c: Session,
	{ projectId, subscriptionId }: Params<"getSubscription">,
): Promise<string | null> {
	const project = await findProject(c, projectId);
	const row = project === null ? undefined : await c.row<{ data: string }>(DATA, project, storedId(subscriptionId));
	return row?.data ?? null;
}

const FIND_END = sql(`
	SELECT canceled_at, cancel_events FROM posthorn.store_subscriptions WHERE project_no = $1 AND subscription_id = $2`);
const END = sql(`
	UPDATE posthorn.store_subscriptions SET canceled_at = $3, cancel_events = $4
	WHERE project_no = $1 AND subscription_id = $2`);

/** What is kept of a subscription's end: nothing as long as it goes on. */
type End = { canceled_at: number; cancel_events: readonly FactEvent[] } | { canceled_at: null; cancel_events: null };

export async function cancelSubscription(
	c: Session,
	{ projectId, subscriptionId, at, event }: Params<"cancelSubscription">,
): Promise<Recorded | { readonly kind: "no_subscription" }> {
	const project = await findProject(c, projectId);
	if (project === null) return { kind: "no_project" };
	const id = storedId(subscriptionId);
	const [, end] = await Promise.all([holdLogs(c, [project], true), c.row<End>(FIND_END, project, id)]);
	if (end === undefined) return { kind: "no_subscription" };
	if (end.canceled_at !== null) return { kind: "repeated", at: end.canceled_at, events: end.cancel_events };
	const appended = await appendOfFact(c, project, at, event);
	await Promise.all([c.run(END, project, id, at, eventsJson(appended)), c.commit()]);
	return recorded(at, appended);
}
