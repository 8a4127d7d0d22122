/**
 * The health of a webhook: one rule over a window, so that it doesn't flip with every response.
 * `docs/concepts/health.md` states the same thresholds, and a test compares the two.
 *
 * Attempts of test events don't count, nor do deliveries that were closed without a request.
 */
import { LOG_READS } from "../base/budgets.ts";
import { chunksOf, pagesOf } from "../base/collections.ts";
import type { SecretState } from "../engine/signing-keys.ts";
import type { Storage, Webhook, WebhookHealth, WebhookStatus } from "../storage/port.ts";

export const HEALTH_STATES = ["paused", "failing", "unstable", "healthy", "idle"] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** A number of webhooks for each health, to add to. */
export const noHealthCounts = (): Record<HealthState, number> => ({
	paused: 0,
	failing: 0,
	unstable: 0,
	healthy: 0,
	idle: 0,
});

export const HEALTH = {
	/** The current minute and those before it, together as many minutes. */
	windowMinutes: 15,
	/** The next minutes also count: the clocks of nodes differ. */
	aheadMinutes: 5,
	/** Attempts in a row that must have failed … */
	failingAttempts: 3,
	/** … over this many seconds. */
	failingSeconds: 60,
	/** Or, from this many attempts in the window, … */
	failingOf: 20,
	/** … a smaller share than this was delivered. */
	failingShare: 0.1,
	/** Attempts in the window that must have failed … */
	unstableAttempts: 2,
	/** … and at least this share of them. */
	unstableShare: 0.05,
} as const;

const MINUTE_MS = 60_000;

/** Attempts that started later were made while a clock was ahead, and don't count: a whole minute. */
export const healthWindowEnd = (now: number): number => (Math.ceil(now / MINUTE_MS) + HEALTH.aheadMinutes) * MINUTE_MS;

/** When the window begins: a whole minute. */
export const healthWindowStart = (now: number): number =>
	(Math.floor(now / MINUTE_MS) - HEALTH.windowMinutes + 1) * MINUTE_MS;

export interface HealthFigures
	extends Pick<WebhookHealth, "recent" | "failedInARow" | "lastDeliveredAt" | "lastAttempt" | "failingSince"> {
	readonly status: WebhookStatus;
	/** Whether its requests can be signed. If not, nothing is sent. */
	readonly secretState: SecretState;
}

/** The figures of a webhook that has none yet. */
export const NO_FIGURES: Omit<WebhookHealth, "webhookId"> = {
	lastAttempt: null,
	failingSince: null,
	failedInARow: 0,
	recent: { delivered: 0, failed: 0 },
	lastDeliveredAt: null,
	waiting: { count: 0, tests: 0, nextAt: null },
	deadLetters: 0,
};

/** @param figures read with `since` at {@link healthWindowStart} */
export function healthOf(figures: HealthFigures, now: number): HealthState {
	const { status, secretState, recent, lastAttempt } = figures;
	if (status === "paused") return "paused";
	// How earlier attempts went doesn't matter: nothing is sent now.
	if (secretState !== "usable") return "failing";
	if (lastAttempt === null) return "idle";
	const attempts = recent.delivered + recent.failed;
	if (failsInARow(figures, now) || mostFail(figures)) return "failing";
	if (recent.failed >= HEALTH.unstableAttempts && recent.failed >= HEALTH.unstableShare * attempts) return "unstable";
	// The last attempt failed, and the window has no success to weigh against it.
	if (figures.failedInARow > 0 && recent.delivered === 0) return "unstable";
	return "healthy";
}

/** Whether the last success says nothing anymore: too many attempts in a row failed since, or it left the window. */
export const isDown = (figures: HealthFigures, now: number): boolean =>
	figures.failingSince !== null && (figures.recent.delivered === 0 || failsInARow(figures, now));

/** Whether hardly any attempt in the window was delivered. */
function mostFail({ recent: { delivered, failed } }: Pick<HealthFigures, "recent">): boolean {
	const attempts = delivered + failed;
	return attempts >= HEALTH.failingOf && delivered < HEALTH.failingShare * attempts;
}

function failsInARow({ failedInARow, failingSince, lastDeliveredAt }: HealthFigures, now: number): boolean {
	if (failingSince === null) return false;
	// A receiver that has never accepted anything isn't unstable.
	if (lastDeliveredAt === null) return true;
	return failedInARow >= HEALTH.failingAttempts && now - failingSince.startedAt >= HEALTH.failingSeconds * 1_000;
}

/** The health of these webhooks of a project by their ids, read in steps. Deleted ones are missing. */
export async function readHealthOf(
	storage: Pick<Storage, "readHealth">,
	projectId: string,
	webhookIds: readonly string[],
	now: number,
): Promise<ReadonlyMap<string, WebhookHealth>> {
	const found = new Map<string, WebhookHealth>();
	const window = { since: healthWindowStart(now), until: healthWindowEnd(now) };
	for (const step of chunksOf(webhookIds, LOG_READS.webhooksPerStep))
		for (const health of await storage.readHealth({ projectId, webhookIds: step, ...window }))
			found.set(health.webhookId, health);
	return found;
}

/** A webhook whose health was read. */
export interface JudgedWebhook extends Webhook {
	readonly figures: HealthFigures & Pick<WebhookHealth, "waiting" | "deadLetters">;
	readonly health: HealthState;
}

/** Whether requests to a webhook can be signed. */
export type SecretStateOf = (webhook: Webhook) => SecretState;

/** All webhooks of a project with their health, oldest first, in steps between which others can read. */
export async function* judgeWebhooks(
	storage: Pick<Storage, "listWebhooks" | "readHealth">,
	secretState: SecretStateOf,
	projectId: string,
	now: number,
): AsyncGenerator<readonly JudgedWebhook[], void> {
	const listed = pagesOf((page) => storage.listWebhooks({ projectId, ...page }), LOG_READS.webhooksPerStep);
	for await (const webhooks of listed) {
		const ids = webhooks.map(({ id }) => id);
		const read = await readHealthOf(storage, projectId, ids, now);
		yield webhooks.map((webhook) => {
			const { status } = webhook;
			const figures = { ...(read.get(webhook.id) ?? NO_FIGURES), status, secretState: secretState(webhook) };
			return { ...webhook, figures, health: healthOf(figures, now) };
		});
	}
}
