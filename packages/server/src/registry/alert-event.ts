/** What an alert says: an event like those that webhooks receive, so that the same code verifies and parses it. */
import { createHash } from "node:crypto";
import { encodeEnvelope, isoTime, isoTimeOrNull } from "@posthorn/protocol";
import { hostOf } from "../net/egress.ts";
import type { AttemptSummary, Project } from "../storage/port.ts";
import type { JudgedWebhook } from "./health.ts";

export type AlertType = "webhook.failing" | "webhook.recovered" | "webhook.dead_letters";

export interface Alert {
	readonly type: AlertType;
	readonly project: Pick<Project, "id" | "name">;
	readonly webhook: JudgedWebhook;
	/** Milliseconds since the Unix epoch. */
	readonly at: number;
	/** Where users reach the dashboard. */
	readonly publicUrl: string;
}

/** @param occasion what tells it from other alerts of this type about the webhook: sent again, it has the same id */
export function alertEvent(alert: Alert, occasion: string): AlertEvent {
	const { type, project, webhook } = alert;
	return toEvent(alert, [project.id, webhook.id, type, occasion], dataOf(alert));
}

/** An alert that says only that alerts arrive. */
export function testAlertEvent(at: number): AlertEvent {
	const text = "This is a test alert. Posthorn reports failing webhooks and dead letters to this address.";
	return toEvent({ type: "alert.test", project: { id: "proj_test" }, at }, [at], { text });
}

export interface AlertEvent {
	readonly id: string;
	readonly type: string;
	readonly body: Buffer;
}

function toEvent(
	{ type, project, at }: { readonly type: string; readonly project: Pick<Project, "id">; readonly at: number },
	about: readonly unknown[],
	data: object,
): AlertEvent {
	const id = `alert_${createHash("sha256").update(JSON.stringify(about)).digest("hex").slice(0, 32)}`;
	const body = encodeEnvelope({ id, type, createdAt: at, projectId: project.id, data: JSON.stringify(data) });
	return { id, type, body };
}

function dataOf({ type, project, webhook, publicUrl }: Alert) {
	const { id, description, health, figures } = webhook;
	const { secretState } = figures;
	const host = hostOf(new URL(webhook.url));
	const dashboard = `${publicUrl}/p/${project.id}/webhooks/${id}`;
	const waiting = waitingOf(figures);
	const name = `${description === "" ? host : `“${description}” (${host})`} of ${project.name}`;
	return {
		text: `${sentencesOf(type, name, webhook).join(" ")} ${dashboard}`,
		project_name: project.name,
		// A path may contain a token.
		webhook: { id, description, host, health, secret_state: secretState },
		failing_since: isoTimeOrNull(figures.failingSince?.startedAt ?? null),
		last_attempt: figures.lastAttempt && presentAttempt(figures.lastAttempt),
		waiting,
		next_attempt_at: isoTimeOrNull(waiting === 0 ? null : figures.waiting.nextAt),
		dead_letters: figures.deadLetters,
		dashboard_url: dashboard,
	};
}

function presentAttempt({ id, eventId, eventType, attempt, startedAt, statusCode, errorCode, error }: AttemptSummary) {
	return {
		id,
		event_id: eventId,
		event_type: eventType,
		attempt,
		started_at: isoTime(startedAt),
		status_code: statusCode,
		error: errorCode === null ? null : { code: errorCode, message: error },
	};
}

function sentencesOf(type: AlertType, name: string, { figures }: JudgedWebhook): string[] {
	const { secretState, failingSince, deadLetters } = figures;
	const count = waitingOf(figures);
	const retried = count === 0 ? [] : [`${deliveries(count, "is", "are")} waiting to be retried.`];
	const dead = deadLetters === 0 ? [] : [`${deliveries(deadLetters, "has", "have")} failed for good.`, TO_DO];
	switch (type) {
		case "webhook.failing": {
			if (secretState !== "usable") {
				const why =
					secretState === "lost"
						? "was lost with its seal key. Rotate it."
						: "can't be read. Restore its seal key, or rotate the secret.";
				return [`Nothing is sent to ${name}: its signing secret ${why}`, ...retried, ...dead];
			}
			const since = failingSince === null ? "" : ` since ${timeText(failingSince.startedAt)}`;
			return [`${name} has been failing${since}.`, causeOf(figures), ...retried, ...dead];
		}
		case "webhook.recovered":
			return [`${name} is healthy again.`, ...retried, ...dead];
		case "webhook.dead_letters":
			return [`${name} has dead letters:`, ...dead, ...retried];
	}
}

/** Pending retries and replays, without those of test events. */
const waitingOf = ({ waiting: { count, tests } }: JudgedWebhook["figures"]): number => count - tests;

const TO_DO = "Replay or dismiss them.";

const deliveries = (count: number, one: string, several: string): string =>
	count === 1 ? `1 delivery ${one}` : `${count} deliveries ${several}`;

/** Such as `2026-11-30 10:34 UTC`. */
const timeText = (at: number): string => `${isoTime(at).slice(0, 16).replace("T", " ")} UTC`;

/** Why it fails, in a sentence. */
function causeOf({ lastAttempt, recent }: JudgedWebhook["figures"]): string {
	if (lastAttempt?.error) return lastAttempt.error;
	const { delivered, failed } = recent;
	return lastAttempt === null || lastAttempt.status === "delivered"
		? `${failed} of the last ${delivered + failed} attempts failed.`
		: `The receiver returned ${lastAttempt.statusCode}.`;
}
