/**
 * Alerts: reports to the operator's receiver when a webhook keeps failing, when it is healthy again, and when deliveries
 * have failed for good.
 *
 * Nothing is queued. Each pass compares the webhooks' current state with the last reports, and sends the difference. If
 * an alert isn't accepted, a later pass sends what is true by then, or nothing if the failure has ended. A report is
 * stored after it was accepted, so an alert may be sent twice.
 */
import { ALERTS } from "../base/budgets.ts";
import { type Clock, type Repetition, repeat } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import { type Project, type Storage, StorageError } from "../storage/port.ts";
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
	/** Identifies the failure that was reported: see {@link failureOf}. Null if none was, or it has ended. */
	readonly failing: string | null;
	/** When a failure that wasn't reported yet was first seen, milliseconds since the Unix epoch; null without one. */
	readonly seenAt: number | null;
	/** Its number of dead letters. */
	readonly deadLetters: number;
	/** When the last alert was sent; 0 if none was. */
	readonly at: number;
}

const NOTHING: Reported = { failing: null, seenAt: null, deadLetters: 0, at: 0 };

/** How often to check for a due pass, milliseconds. */
const LOOK_MS = 10_000;

/** A webhook in the order of a pass: projects and their webhooks come in the order of their ids. */
interface Position {
	readonly projectId: string;
	readonly webhookId: string;
}

const START: Position = { projectId: "", webhookId: "" };

const isBefore = (a: Position, b: Position): boolean =>
	a.projectId === b.projectId ? a.webhookId < b.webhookId : a.projectId < b.projectId;

export class Alerts {
	readonly #options: AlertsOptions;
	readonly #failure: RepeatedFailure;
	#looking: Repetition | null = null;
	#isStopped = false;
	/** The pass in progress: its last project, how many alerts weren't accepted, and how long sending took. */
	#projectId = "";
	#refusals = 0;
	#sendingMs = 0;
	/**
	 * A pass skips webhooks up to `#from`, at which the previous one used up its refusals or its time; then it sets `#next`
	 * in its turn. So alerts that are never accepted, or only slowly, don't keep others from being sent.
	 */
	#from = START;
	#next: Position | null = null;
	/**
	 * By project, the webhook with which it used up its alerts in the last pass. The next pass skips the webhooks up to
	 * that one, in case the first ones have something new in every pass.
	 */
	readonly #limitedAt = new Map<string, string>();
	/** What should have been stored about projects, in position of what is, if that has failed. */
	readonly #unstored = new Map<string, { readonly from: string | null; readonly to: string }>();

	constructor(options: AlertsOptions) {
		this.#options = options;
		this.#failure = new RepeatedFailure(options, {
			failed: "the receiver of alerts didn't accept one; it is sent again later",
			over: "the receiver of alerts accepts them again",
			level: "warn",
		});
	}

	/** From now on, webhooks are judged even if the metrics aren't read. */
	start(count: Pick<HealthCount, "read">): void {
		this.#looking = repeat(this.#options.clock, 0, async () => {
			count.read();
			return LOOK_MS;
		});
	}

	async stop(): Promise<void> {
		this.#isStopped = true;
		await this.#looking?.stop();
	}

	/** Reports a project's changes. Rejects only if storage is closed. */
	async report(project: Project, webhooks: readonly JudgedWebhook[]): Promise<void> {
		const { logger, isHeld } = this.#options;
		if (isHeld()) return;
		if (project.id <= this.#projectId) this.#beginPass();
		this.#projectId = project.id;
		try {
			await this.#report(project, webhooks);
		} catch (error) {
			if (error instanceof StorageError && error.code === "closed") throw error;
			// This project's row may be locked or damaged.
			logger.warn(
				{ err: error, projectId: project.id },
				"failed to read or store what alerts reported; others continue",
			);
		}
	}

	#beginPass(): void {
		this.#refusals = 0;
		this.#sendingMs = 0;
		this.#from = this.#next ?? START;
		this.#next = null;
	}

	async #report(project: Project, webhooks: readonly JudgedWebhook[]): Promise<void> {
		const { storage, clock } = this.#options;
		const name = `alerts:${project.id}`;
		const stored = await storage.getSetting({ name });
		const unstored = this.#unstored.get(project.id);
		const reported = parseReported(unstored?.from === stored ? unstored!.to : stored);
		const next: Record<string, Reported> = {};
		const from = this.#limitedAt.get(project.id) ?? "";
		this.#limitedAt.delete(project.id);
		let left: number = ALERTS.perProject;
		for (const webhook of webhooks) {
			const before = reported[webhook.id] ?? NOTHING;
			const type = dueOf(webhook, before, clock.now());
			const hasTurn = type !== null && left > 0 && webhook.id > from;
			const isReported = hasTurn && (await this.#send(type, project, webhook, before));
			if (isReported && --left === 0) this.#limitedAt.set(project.id, webhook.id);
			const after = isReported ? reportedBy(type, webhook, before, clock.now()) : seenBy(webhook, before, clock.now());
			if (isWorthKeeping(after, clock.now())) next[webhook.id] = after;
		}
		const to = JSON.stringify(next);
		this.#unstored.set(project.id, { from: stored, to });
		// If another node has had a turn meanwhile, it knows better.
		if (to !== (stored ?? "{}")) await storage.replaceSetting({ name, from: stored, to });
		this.#unstored.delete(project.id);
	}

	async #send(type: AlertType, project: Project, webhook: JudgedWebhook, before: Reported): Promise<boolean> {
		const { clock, receiver, publicUrl, onSent } = this.#options;
		const position = { projectId: project.id, webhookId: webhook.id };
		if (this.#isStopped || this.#next !== null || !isBefore(this.#from, position)) return false;
		const occasion = {
			"webhook.failing": failureOf(webhook, before),
			"webhook.recovered": before.failing,
			"webhook.dead_letters": webhook.figures.lastAttempt?.id,
		}[type];
		const alert = { type, project, webhook, at: clock.now(), publicUrl: publicUrl() };
		const begun = clock.elapsed();
		const fault = await receiver.send(alertEvent(alert, occasion ?? ""));
		this.#sendingMs += clock.elapsed() - begun;
		onSent?.(fault === null ? "delivered" : "failed");
		if (fault === null) this.#failure.succeeded();
		else {
			this.#failure.failed(new Error(fault), position);
			this.#refusals++;
		}
		if (this.#refusals >= ALERTS.refusals || this.#sendingMs >= ALERTS.sendingMs) this.#next = position;
		return fault === null;
	}
}

/** The next alert about a webhook; null if there is nothing new. */
function dueOf({ health, figures }: JudgedWebhook, reported: Reported, now: number): AlertType | null {
	const { secretState, failingSince, deadLetters } = figures;
	if (reported.failing !== null) {
		if (health === "healthy") return "webhook.recovered";
	} else if (health === "failing") {
		// A receiver that restarts is back by then. One that accepts a request now and then has never failed for long.
		const startedAt = secretState === "usable" ? failingSince?.startedAt : undefined;
		const since = Math.min(startedAt ?? now, reported.seenAt ?? now);
		if (now - since >= ALERTS.failingMs) return "webhook.failing";
	}
	return deadLetters > reported.deadLetters && !isRecent(reported.at, now) ? "webhook.dead_letters" : null;
}

/** Whether an alert sent then delays the next one about dead letters. The clock may have been ahead. */
const isRecent = (at: number, now: number): boolean => Math.abs(now - at) < ALERTS.deadLettersMs;

const isWorthKeeping = ({ failing, seenAt, deadLetters, at }: Reported, now: number): boolean =>
	failing !== null || seenAt !== null || deadLetters > 0 || isRecent(at, now);

/** Identifies a failure by its first attempt. Without a readable secret it has none, so the time it was first seen does. */
const failureOf = ({ figures: { secretState, failingSince, lastAttempt } }: JudgedWebhook, { seenAt }: Reported) =>
	secretState === "usable" ? ((failingSince ?? lastAttempt)?.id ?? null) : `${secretState} ${seenAt}`;

function reportedBy(type: AlertType, webhook: JudgedWebhook, before: Reported, at: number): Reported {
	const failing = {
		"webhook.failing": failureOf(webhook, before),
		"webhook.recovered": null,
		"webhook.dead_letters": before.failing,
	}[type];
	return { ...seenBy(webhook, { ...before, failing }, at), deadLetters: webhook.figures.deadLetters, at };
}

/** What is known without an alert. Only a recovery ends a failure; replays and dismissals end dead letters. */
function seenBy({ health, figures }: JudgedWebhook, before: Reported, now: number): Reported {
	return {
		failing: before.failing,
		// The clock may have been ahead.
		seenAt: health === "failing" && before.failing === null ? Math.min(before.seenAt ?? now, now) : null,
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
