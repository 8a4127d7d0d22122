/**
 * Alerts: reports to a receiver of the operator's when a webhook keeps failing, when it is healthy again, and when
 * deliveries have failed for good.
 *
 * Nothing is queued. Each pass over all webhooks compares their state with what was last reported, and sends the
 * difference. If an alert isn't accepted, a later pass sends what is true by then, or nothing if the failure is over.
 * What was reported is stored after it was accepted, so an alert may be sent twice.
 */
import { ALERTS } from "../base/budgets.ts";
import { type Clock, type Repetition, repeat } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import type { Project, Storage } from "../storage/port.ts";
import { type AlertType, alertEvent } from "./alert-event.ts";
import type { AlertReceiver } from "./alert-receiver.ts";
import type { JudgedWebhook } from "./health.ts";
import type { HealthCount } from "./health-count.ts";

interface AlertsOptions {
	readonly storage: Pick<Storage, "getSetting" | "replaceSetting">;
	readonly receiver: Pick<AlertReceiver, "send">;
	readonly clock: Clock;
	readonly logger: Logger;
	/** Where users reach the dashboard. */
	readonly publicUrl: () => string;
	/** Whether nothing may be sent: the database is in quarantine. */
	readonly isHeld: () => boolean;
	readonly onSent?: (outcome: "delivered" | "failed") => void;
}

/** What was last reported about a webhook. */
interface Reported {
	/** The first attempt of the failure that was reported; null if none was, or it is over. */
	readonly failing: string | null;
	/** When a failure that wasn't reported yet was first seen, milliseconds since the Unix epoch; null without one. */
	readonly seenAt: number | null;
	/** Its number of dead letters. */
	readonly deadLetters: number;
	/** When the last alert was sent; 0 if none was. */
	readonly at: number;
}

const NOTHING: Reported = { failing: null, seenAt: null, deadLetters: 0, at: 0 };

/** How often it looks whether a pass is due, milliseconds. */
const LOOK_MS = 10_000;

export class Alerts {
	readonly #options: AlertsOptions;
	readonly #failure: RepeatedFailure;
	#looking: Repetition | null = null;
	/** Monotonic time until which the receiver is left alone, because it didn't accept an alert. */
	#quietUntil = Number.NEGATIVE_INFINITY;
	/**
	 * The projects of those alerts, until it accepts one: each waits longer, from time to time, so that an alert that it
	 * never accepts doesn't keep the others from being sent. Monotonic, milliseconds.
	 */
	readonly #refused = new Map<string, { readonly until: number; readonly waitMs: number }>();

	constructor(options: AlertsOptions) {
		this.#options = options;
		this.#failure = new RepeatedFailure(options, {
			failed: "the receiver of alerts didn't accept one; it is sent again later",
			over: "the receiver of alerts accepts them again",
			level: "warn",
		});
	}

	/** From now on, webhooks are judged even if nobody reads the metrics. */
	start(count: Pick<HealthCount, "read">): void {
		this.#looking = repeat(this.#options.clock, 0, async () => {
			count.read();
			return LOOK_MS;
		});
	}

	async stop(): Promise<void> {
		await this.#looking?.stop();
	}

	/** Reports what is new about a project's webhooks. Rejects only if storage fails. */
	async report(project: Project, webhooks: readonly JudgedWebhook[]): Promise<void> {
		const { storage, clock, isHeld } = this.#options;
		if (isHeld()) return;
		const name = `alerts:${project.id}`;
		const stored = await storage.getSetting({ name });
		const reported = parseReported(stored);
		const next: Record<string, Reported> = {};
		let left: number = ALERTS.perProject;
		for (const webhook of webhooks) {
			const before = reported[webhook.id] ?? NOTHING;
			const type = dueOf(webhook, before, clock.now());
			const isReported = type !== null && left-- > 0 && (await this.#send(type, project, webhook, before));
			const after = isReported ? reportedBy(type, webhook, before, clock.now()) : seenBy(webhook, before, clock.now());
			if (after.failing !== null || after.seenAt !== null || after.deadLetters > 0) next[webhook.id] = after;
		}
		const to = JSON.stringify(next);
		// If another node has had a turn meanwhile, it knows better.
		if (to !== (stored ?? "{}")) await storage.replaceSetting({ name, from: stored, to });
	}

	async #send(type: AlertType, project: Project, webhook: JudgedWebhook, before: Reported): Promise<boolean> {
		const { clock, receiver, publicUrl, onSent } = this.#options;
		const { until, waitMs } = this.#refused.get(project.id) ?? {
			until: Number.NEGATIVE_INFINITY,
			waitMs: ALERTS.waitMs,
		};
		if (clock.elapsed() < Math.max(this.#quietUntil, until)) return false;
		const occasion = {
			"webhook.failing": sinceOf(webhook),
			"webhook.recovered": before.failing,
			"webhook.dead_letters": webhook.figures.lastAttempt?.id,
		}[type];
		const alert = { type, project, webhook, at: clock.now(), publicUrl: publicUrl() };
		const fault = await receiver.send(alertEvent(alert, occasion ?? ""));
		onSent?.(fault === null ? "delivered" : "failed");
		if (fault === null) {
			this.#failure.succeeded();
			this.#refused.clear();
			return true;
		}
		this.#failure.failed(new Error(fault), { projectId: project.id, webhookId: webhook.id });
		const now = clock.elapsed();
		this.#quietUntil = now + ALERTS.pauseMs;
		this.#refused.set(project.id, { until: now + waitMs, waitMs: Math.min(2 * waitMs, ALERTS.longestWaitMs) });
		return false;
	}
}

/** The next alert about a webhook; null if there is nothing new. */
function dueOf({ health, figures }: JudgedWebhook, reported: Reported, now: number): AlertType | null {
	const { failingSince, deadLetters } = figures;
	if (reported.failing !== null) {
		if (health === "healthy") return "webhook.recovered";
	} else if (health === "failing") {
		// A receiver that restarts is back by then. One that accepts a request now and then has never failed for long.
		const since = Math.min(failingSince?.startedAt ?? now, reported.seenAt ?? now);
		if (now - since >= ALERTS.failingMs) return "webhook.failing";
	}
	// The clock may have been ahead.
	const isRecent = Math.abs(now - reported.at) < ALERTS.deadLettersMs;
	return deadLetters > reported.deadLetters && !isRecent ? "webhook.dead_letters" : null;
}

/** The attempt since which it fails. */
const sinceOf = ({ figures: { failingSince, lastAttempt } }: JudgedWebhook) =>
	(failingSince ?? lastAttempt)?.id ?? null;

function reportedBy(type: AlertType, webhook: JudgedWebhook, before: Reported, at: number): Reported {
	const failing = {
		"webhook.failing": sinceOf(webhook),
		"webhook.recovered": null,
		"webhook.dead_letters": before.failing,
	}[type];
	return { failing, seenAt: null, deadLetters: webhook.figures.deadLetters, at };
}

/** What is known without an alert. A pause ends a failure, and replays and dismissals end dead letters. */
function seenBy({ health, figures }: JudgedWebhook, before: Reported, now: number): Reported {
	const isOver = health === "paused" || health === "idle";
	const failing = isOver ? null : before.failing;
	return {
		failing,
		seenAt: health === "failing" && failing === null ? (before.seenAt ?? now) : null,
		deadLetters: Math.min(before.deadLetters, figures.deadLetters),
		at: before.at,
	};
}

/** Parses the setting. Any other value means that nothing was reported. */
function parseReported(value: string | null): Readonly<Record<string, Reported>> {
	try {
		const reported: unknown = JSON.parse(value ?? "{}");
		return Object.fromEntries(
			Object.entries(reported ?? {}).filter((entry): entry is [string, Reported] => isReported(entry[1])),
		);
	} catch {
		return {};
	}
}

function isReported(value: unknown): value is Reported {
	if (typeof value !== "object" || value === null) return false;
	const { failing, seenAt, deadLetters, at } = value as Partial<Record<keyof Reported, unknown>>;
	return (
		(failing === null || typeof failing === "string") &&
		(seenAt === null || typeof seenAt === "number") &&
		typeof deadLetters === "number" &&
		typeof at === "number"
	);
}
