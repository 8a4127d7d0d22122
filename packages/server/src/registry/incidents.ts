/**
 * Incidents: an outage of a receiver as one thing, from its first failed attempt to its last, with what has become of the
 * deliveries that it held up. Derived from the counts by hour and minute, the delivery log and the queues, each by index,
 * so nothing is stored for it and it goes with them; {@link LIMITS} bound it.
 */
import { LOG_READS } from "../base/budgets.ts";
import { chunksOf } from "../base/collections.ts";
import { type AttemptFilter, type AttemptSummary, isClosing, type StatsBucket, type Storage } from "../storage/port.ts";
import { HEALTH } from "./health.ts";

/** Attempts of one webhook in a minute, or in a longer time in which none failed. */
export interface StepCounts {
	/** Its beginning, milliseconds since the Unix epoch. */
	readonly at: number;
	readonly delivered: number;
	/** Without deliveries that were closed without a request. */
	readonly failed: number;
}

export interface Span {
	/**
	 * The beginning of the first minute in which more attempts failed than were delivered, or of the minute before it if
	 * attempts failed in that one, too …
	 */
	readonly from: number;
	/** … and the end of the last such minute, or of the minute after it if attempts failed in that one, too. */
	readonly until: number;
	/** Whether nothing has been delivered since. */
	readonly isOngoing: boolean;
	readonly failed: number;
	readonly delivered: number;
}

const MINUTE_MS = 60_000;

export const INCIDENT = {
	/** With fewer failed attempts it isn't an incident. */
	failedAttempts: HEALTH.failingAttempts,
	/** If most attempts since fail again within this time, it's the same incident. */
	againWithinMinutes: 5,
	/** How far back incidents are shown: counts by minute are kept a little longer. */
	hours: 48,
} as const;

/** @param steps oldest first; those without attempts may be left out */
export function incidentsOf(steps: readonly StepCounts[]): Span[] {
	const all: Incident[] = [];
	let open: Incident | null = null;
	let previous: StepCounts | null = null;
	for (const step of steps) {
		const isBad = step.failed > step.delivered;
		if (!isBad) open?.pass(step);
		else if (open?.continuesWith(step)) open.extend(step);
		else {
			const isTaken = open?.isOutage === true && open.tail === previous;
			open = new Incident(step, isTaken ? null : previous);
			all.push(open);
		}
		previous = step;
	}
	return all.filter(({ isOutage }) => isOutage).map(({ span }) => span);
}

class Incident {
	/** The minute before the first bad one if attempts failed in it: an outage rarely begins on the minute … */
	readonly #head: StepCounts | null;
	/** … and the minute after the last bad one, likewise. */
	tail: StepCounts | null = null;
	readonly #from: number;
	#until = 0;
	#failed = 0;
	#delivered = 0;
	/** Attempts after the last bad minute. They belong to it if it fails again soon. */
	#since = { failed: 0, delivered: 0 };

	/** @param previous the previous step; null if there is none, or it belongs to another incident */
	constructor(first: StepCounts, previous: StepCounts | null) {
		const isHead = previous !== null && previous.failed > 0 && previous.at === first.at - MINUTE_MS;
		this.#head = isHead ? previous : null;
		this.#from = first.at;
		this.extend(first);
	}

	get isOutage(): boolean {
		return this.#failed >= INCIDENT.failedAttempts;
	}

	get span(): Span {
		const nothing = { failed: 0, delivered: 0 };
		const head = this.#head ?? { at: this.#from, ...nothing };
		const tail = this.tail ?? { at: this.#until - MINUTE_MS, ...nothing };
		return {
			from: head.at,
			until: tail.at + MINUTE_MS,
			isOngoing: this.#since.delivered === 0,
			failed: head.failed + this.#failed + tail.failed,
			delivered: head.delivered + this.#delivered + tail.delivered,
		};
	}

	/** A receiver that only fails now and then has no outage: most attempts since must have failed, too. */
	continuesWith({ at, failed, delivered }: StepCounts): boolean {
		if (this.#since.delivered === 0) return true;
		const isSoon = at - this.#until <= INCIDENT.againWithinMinutes * MINUTE_MS;
		return isSoon && this.#since.failed + failed > this.#since.delivered + delivered;
	}

	extend({ at, failed, delivered }: StepCounts): void {
		this.#until = at + MINUTE_MS;
		this.#failed += this.#since.failed + failed;
		this.#delivered += this.#since.delivered + delivered;
		this.#since = { failed: 0, delivered: 0 };
		this.tail = null;
	}

	pass(step: StepCounts): void {
		this.#since.failed += step.failed;
		this.#since.delivered += step.delivered;
		if (step.at === this.#until && step.failed > 0) this.tail = step;
	}
}

/** How an incident's deliveries have ended so far. */
interface Held {
	/** How many had a failed attempt in it, or at least how many if `capped`; the others add up to this. */
	readonly count: number;
	readonly capped: boolean;
	readonly delivered: number;
	readonly waiting: number;
	/** Dead letters that need a decision. */
	readonly failed: number;
	readonly dismissed: number;
}

export interface FoundIncident extends Span {
	readonly webhookId: string;
	/** The most frequent response, or why there was none. */
	readonly response: Pick<AttemptSummary, "statusCode" | "errorCode"> | null;
	readonly held: Held;
	/** When the last of its deliveries arrived, milliseconds since the Unix epoch. */
	readonly lastDeliveredAt: number | null;
	readonly nextRetryAt: number | null;
}

interface ProjectLog {
	readonly storage: Pick<Storage, "readStats" | "listAttemptSummaries" | "readLatest">;
	readonly projectId: string;
}

const HOUR_MS = 60 * MINUTE_MS;

export const LIMITS = {
	/** Webhooks whose minutes are read: those that failed last. */
	webhooks: 20,
	/** Hours whose minutes are read in one call. */
	hoursPerRead: 6,
	/** Deliveries that are examined per incident: those with the newest failed attempts. */
	deliveries: 200,
	/** Failed attempts of each kind (to be retried, failed for good) that are read to find them, the newest. */
	attempts: 1_600,
	page: 200,
} as const;

/** Newest first. */
export async function listIncidents(
	storage: ProjectLog["storage"],
	projectId: string,
	webhookIds: readonly string[],
	{ now, limit }: { readonly now: number; readonly limit: number },
): Promise<FoundIncident[]> {
	const log = { storage, projectId };
	const histories: Hours[] = [];
	for (const step of chunksOf(webhookIds, LOG_READS.statsPerStep))
		histories.push(...(await Promise.all(step.map((webhookId) => readHours(log, webhookId, now)))));
	const failing = histories
		.filter(({ lastFailedAt }) => lastFailedAt !== null)
		.sort((a, b) => b.lastFailedAt! - a.lastFailedAt!)
		.slice(0, LIMITS.webhooks);
	const spans: { readonly webhookId: string; readonly span: Span }[] = [];
	for (const history of failing) {
		const steps = await readSteps(log, history);
		spans.push(...incidentsOf(steps).map((span) => ({ webhookId: history.webhookId, span })));
	}
	const newest = spans.sort((a, b) => b.span.from - a.span.from).slice(0, limit);
	const found: FoundIncident[] = [];
	for (const { webhookId, span } of newest) found.push(await examine(log, webhookId, span));
	return found;
}

interface Hours {
	readonly webhookId: string;
	readonly hours: readonly StatsBucket[];
	readonly lastFailedAt: number | null;
}

const failedIn = ({ retrying, failed, closed }: StatsBucket): number => retrying + failed - closed;
const stepOf = (bucket: StatsBucket): StepCounts => ({
	at: bucket.at,
	delivered: bucket.delivered,
	failed: failedIn(bucket),
});

async function readHours({ storage, projectId }: ProjectLog, webhookId: string, now: number): Promise<Hours> {
	const until = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
	const query = { since: until - INCIDENT.hours * HOUR_MS, until, stepMs: HOUR_MS, webhookId };
	const { buckets } = await storage.readStats({ projectId, query });
	return { webhookId, hours: buckets, lastFailedAt: buckets.findLast((hour) => failedIn(hour) > 0)?.at ?? null };
}

/** The minutes of hours in which an attempt failed, and other hours as a whole. */
async function readSteps({ storage, projectId }: ProjectLog, { webhookId, hours }: Hours): Promise<StepCounts[]> {
	const steps: StepCounts[] = [];
	for (let i = 0; i < hours.length; ) {
		const first = hours[i]!;
		let count = 0;
		while (count < LIMITS.hoursPerRead && i + count < hours.length && failedIn(hours[i + count]!) > 0) count++;
		if (count === 0) {
			steps.push(stepOf(first));
			i++;
			continue;
		}
		const query = { since: first.at, until: first.at + count * HOUR_MS, stepMs: MINUTE_MS, webhookId };
		steps.push(...(await storage.readStats({ projectId, query })).buckets.map(stepOf));
		i += count;
	}
	return steps.filter(({ delivered, failed }) => delivered + failed > 0);
}

async function examine(log: ProjectLog, webhookId: string, span: Span): Promise<FoundIncident> {
	const { storage, projectId } = log;
	const { attempts, isCut } = await readFailures(log, webhookId, span);
	const isOngoing = span.isOngoing && !(await hasDeliveredSince(log, webhookId, attempts[0]));
	const all = [...new Set(attempts.map(({ seq }) => seq))];
	const deliveries = all.slice(0, LIMITS.deliveries).map((seq) => ({ webhookId, seq }));
	const latest = deliveries.length === 0 ? [] : await storage.readLatest({ projectId, deliveries });
	const held = { delivered: 0, waiting: 0, failed: 0, dismissed: 0 };
	let lastDeliveredAt: number | null = null;
	let nextRetryAt: number | null = null;
	for (const { newest, next, dismissed } of latest) {
		if (next !== null) {
			held.waiting++;
			nextRetryAt = Math.min(nextRetryAt ?? next.dueAt, next.dueAt);
		} else if (newest?.status === "delivered") {
			held.delivered++;
			const at = newest.startedAt + newest.responseMs;
			lastDeliveredAt = Math.max(lastDeliveredAt ?? at, at);
		} else held[dismissed ? "dismissed" : "failed"]++;
	}
	return {
		...span,
		isOngoing,
		webhookId,
		response: mostFrequent(attempts),
		held: { count: deliveries.length, capped: isCut || all.length > deliveries.length, ...held },
		lastDeliveredAt,
		nextRetryAt,
	};
}

/** Whether it has recovered within the minute of its last failed attempt, of which the counts say nothing. */
async function hasDeliveredSince(
	{ storage, projectId }: ProjectLog,
	webhookId: string,
	failed: AttemptSummary | undefined,
): Promise<boolean> {
	if (failed === undefined) return false;
	const filter: AttemptFilter = { webhookIds: [webhookId], statuses: ["delivered"], since: failed.startedAt };
	const { rows } = await storage.listAttemptSummaries({ projectId, filter, page: { limit: LIMITS.page } });
	return rows.some((attempt) => isReal(attempt) && attempt.id > failed.id);
}

/** Neither of a test event nor of a delivery closed without a request. */
const isReal = ({ seq, errorCode }: AttemptSummary): boolean => seq > 0 && !isClosing(errorCode);

/** Its failed attempts, newest first, without those of tests and closed deliveries. */
async function readFailures(
	log: ProjectLog,
	webhookId: string,
	{ from, until, isOngoing }: Span,
): Promise<{ attempts: AttemptSummary[]; isCut: boolean }> {
	const range = { since: from, ...(!isOngoing && { until }) };
	const read = await Promise.all(
		(["retrying", "failed"] as const).map((status) =>
			readNewest(log, { webhookIds: [webhookId], statuses: [status], ...range }),
		),
	);
	const attempts = read.flatMap(({ attempts: some }) => some).sort((a, b) => (a.id < b.id ? 1 : -1));
	return { attempts, isCut: read.some(({ isCut }) => isCut) };
}

/** Reads until it has enough deliveries: each may have failed several times. */
async function readNewest({ storage, projectId }: ProjectLog, filter: AttemptFilter) {
	const attempts: AttemptSummary[] = [];
	const seqs = new Set<number>();
	let before: string | undefined;
	for (let examined = 0; examined < LIMITS.attempts && seqs.size <= LIMITS.deliveries; examined += LIMITS.page) {
		const page = { limit: LIMITS.page, before };
		const { rows, next } = await storage.listAttemptSummaries({ projectId, filter, page });
		const real = rows.filter(isReal);
		attempts.push(...real);
		for (const { seq } of real) seqs.add(seq);
		if (next === null) return { attempts, isCut: false };
		before = next;
	}
	return { attempts, isCut: true };
}

function mostFrequent(attempts: readonly AttemptSummary[]): FoundIncident["response"] {
	const groups = Map.groupBy(attempts, ({ statusCode, errorCode }) => `${statusCode} ${errorCode}`);
	const [largest] = [...groups.values()].sort((a, b) => b.length - a.length);
	const one = largest?.[0];
	return one === undefined ? null : { statusCode: one.statusCode, errorCode: one.errorCode };
}
