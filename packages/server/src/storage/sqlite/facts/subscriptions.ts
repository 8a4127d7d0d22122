import type { NewEvent, NewSubscription } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendOfFact, earlier, type FactReply } from "./record.ts";

export function recordSubscription(c: Connection, projectId: string, subscription: NewSubscription): FactReply {
	const { subscriptionId, digest, at, data, event } = subscription;
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	const before = c
		.sql("SELECT digest, at, events FROM store_subscriptions WHERE project_no = ? AND subscription_id = ?")
		.get(project, subscriptionId);
	const known = earlier(before, digest);
	if (known !== null) return known;
	const events = appendOfFact(c, projectId, at, [event]);
	c.sql(`
		INSERT INTO store_subscriptions (project_no, subscription_id, digest, at, events, data)
		VALUES (?, ?, ?, ?, ?, ?)`).run(project, subscriptionId, digest, at, JSON.stringify(events), data);
	return { kind: "recorded", at, events };
}

export function getSubscription(c: Connection, projectId: string, subscriptionId: string): string | null {
	const row = c
		.sql("SELECT data FROM store_subscriptions WHERE project_no = ? AND subscription_id = ?")
		.get(c.names.project(projectId), subscriptionId);
	return row === undefined ? null : (row.data as string);
}

export function cancelSubscription(
	c: Connection,
	projectId: string,
	subscriptionId: string,
	at: number,
	event: NewEvent,
): FactReply | { readonly kind: "no_subscription" } {
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	const row = c
		.sql("SELECT canceled_at, cancel_events FROM store_subscriptions WHERE project_no = ? AND subscription_id = ?")
		.get(project, subscriptionId);
	if (row === undefined) return { kind: "no_subscription" };
	if (row.canceled_at !== null)
		return { kind: "repeated", at: row.canceled_at as number, events: JSON.parse(row.cancel_events as string) };
	const events = appendOfFact(c, projectId, at, [event]);
	c.sql(`
		UPDATE store_subscriptions SET canceled_at = ?, cancel_events = ?
		WHERE project_no = ? AND subscription_id = ?`).run(at, JSON.stringify(events), project, subscriptionId);
	return { kind: "recorded", at, events };
}
