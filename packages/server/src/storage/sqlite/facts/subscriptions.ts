import type { Params, Recorded } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendOfFact, earlier, factEvents, recorded } from "./record.ts";

export function recordSubscription(c: Connection, { projectId, subscription }: Params<"recordSubscription">): Recorded {
	const { subscriptionId, digest, at, data, event } = subscription;
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	const before = c
		.sql("SELECT digest, at, events FROM store_subscriptions WHERE project_no = ? AND subscription_id = ?")
		.get(project, subscriptionId);
	const known = earlier(before, digest);
	if (known !== null) return known;
	const appended = appendOfFact(c, projectId, at, [event]);
	c.sql(`
		INSERT INTO store_subscriptions (project_no, subscription_id, digest, at, events, data)
		VALUES (?, ?, ?, ?, ?, ?)`).run(project, subscriptionId, digest, at, JSON.stringify(factEvents(appended)), data);
	return recorded(at, appended);
}

export function getSubscription(
	c: Connection,
	{ projectId, subscriptionId }: Params<"getSubscription">,
): string | null {
	const row = c
		.sql("SELECT data FROM store_subscriptions WHERE project_no = ? AND subscription_id = ?")
		.get(c.names.project(projectId), subscriptionId);
	return row === undefined ? null : (row.data as string);
}

export function cancelSubscription(
	c: Connection,
	{ projectId, subscriptionId, at, event }: Params<"cancelSubscription">,
): Recorded | { readonly kind: "no_subscription" } {
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	const row = c
		.sql("SELECT canceled_at, cancel_events FROM store_subscriptions WHERE project_no = ? AND subscription_id = ?")
		.get(project, subscriptionId);
	if (row === undefined) return { kind: "no_subscription" };
	if (row.canceled_at !== null)
		return { kind: "repeated", at: row.canceled_at as number, events: JSON.parse(row.cancel_events as string) };
	const appended = appendOfFact(c, projectId, at, [event]);
	c.sql(`
		UPDATE store_subscriptions SET canceled_at = ?, cancel_events = ?
		WHERE project_no = ? AND subscription_id = ?`).run(
		at,
		JSON.stringify(factEvents(appended)),
		project,
		subscriptionId,
	);
	return recorded(at, appended);
}
