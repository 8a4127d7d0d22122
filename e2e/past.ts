import { randomBytes } from "node:crypto";
import { EVENT_TYPES, encodeEnvelope } from "@posthorn/protocol";
import { openPostgresStorage } from "@posthorn/server/storage/postgres";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { IdSource } from "../packages/server/src/base/ids.ts";

/** How one past attempt ended. */
export interface PastAttempt {
	readonly statusCode: number;
	readonly responseMs: number;
	readonly body?: string;
	/** When the last attempt is retried, if it is. */
	readonly retryAt?: number;
}

export interface PastWebhook {
	readonly id: string;
	readonly url: string;
	readonly events: readonly string[];
	/** A delivery's attempts, in order. If the last one's status is 2xx it is delivered, otherwise dead-lettered. */
	attemptsOf(n: number, at: number): readonly PastAttempt[];
}

export interface Past {
	/** The database of a service that isn't running: a file, or PostgreSQL's URL. */
	readonly path: string;
	readonly projectId: string;
	readonly webhooks: readonly PastWebhook[];
	/** When each event was published, oldest first; milliseconds since the Unix epoch. */
	readonly times: readonly number[];
	/** The order id of events that have one; by default, the sample's. */
	readonly orderOf?: (n: number) => string;
	readonly onProgress?: (events: number) => void;
}

/** Delays between attempts, milliseconds. */
const WAITS = [30, 60, 120, 300, 600, 1_800, 3_600].map((seconds) => seconds * 1_000);
const BATCH = 1_000;
const LEASE_TERM_MS = 10_000;
const HOLDER = "node_past";

/** Writes a project's past into its database with the storage's own verbs, as if the service had run then. */
export async function writePast({ path, projectId, webhooks, times, orderOf, onProgress }: Past): Promise<void> {
	const options = { clock: { now: () => Date.now() }, leaseTermMs: LEASE_TERM_MS };
	const storage = path.startsWith("postgres:")
		? await openPostgresStorage({ url: path, ...options })
		: await openSqliteStorage({ path, ...options });
	try {
		const [lease] = await storage.acquireLeases({ holder: HOLDER, limit: 1, projectIds: [projectId] });
		if (!lease) throw new Error(`${projectId} doesn't exist, or another node owns it.`);
		for (let first = 0; first < times.length; first += BATCH) {
			const batch = times.slice(first, first + BATCH);
			const events = batch.map((at, i) => ({ at, event: eventAt(projectId, first + i, at, orderOf) }));
			const requests = events.map(({ at, event }) => ({ projectId, publishedAt: at, events: [event] }));
			const seqs = (await storage.appendEvents({ requests })).map((result) => {
				if (result.kind !== "appended") throw new Error(`An event of the past was refused: ${result.kind}.`);
				return result.events[0]!.seq;
			});
			const attempts = events.flatMap(({ at, event }, i) =>
				webhooks
					.filter((webhook) => webhook.events.includes(event.type))
					.flatMap((webhook) => deliveryOf(webhook, { n: first + i, at, seq: seqs[i]!, type: event.type })),
			);
			const lanes = webhooks.map(({ id }) => ({ webhookId: id, position: seqs.at(-1)!, open: [] }));
			const schedule = attempts
				.filter(({ nextRetryAt, seq, webhookId }, i) => {
					const next = attempts[i + 1];
					return nextRetryAt !== null && !(next?.seq === seq && next.webhookId === webhookId);
				})
				.map(({ webhookId, seq, attempt, nextRetryAt }) => {
					return { webhookId, seq, queue: "retry" as const, replay: 0, attempt: attempt + 1, dueAt: nextRetryAt! };
				});
			const settlement = { projectId, generation: lease.generation, attempts, schedule, unschedule: [], lanes };
			const [verdict] = await storage.settle({ settlements: [settlement] });
			if (verdict !== "settled") throw new Error(`The past could not be settled: ${verdict}.`);
			await storage.renewLeases({ holder: HOLDER, leases: [lease] });
			onProgress?.(first + batch.length);
		}
		await storage.releaseLease({ lease, wakeAt: null, seen: (await storage.loadLanes({ projectId })).seen });
	} finally {
		await storage.close();
	}
}

function eventAt(projectId: string, n: number, at: number, orderOf: Past["orderOf"]) {
	const { type, sample } = EVENT_TYPES[n % EVENT_TYPES.length]!;
	const id = idAt("event", at);
	const data = orderOf !== undefined && "order_id" in sample ? { ...sample, order_id: orderOf(n) } : sample;
	const body = encodeEnvelope({ id, type, createdAt: at, projectId, data: JSON.stringify(data) });
	return { id, type, createdAt: at, createdAtGiven: false, body };
}

interface Delivered {
	readonly n: number;
	readonly at: number;
	readonly seq: number;
	readonly type: string;
}

function deliveryOf(webhook: PastWebhook, { n, at, seq, type }: Delivered) {
	let startedAt = at + 3;
	const made = webhook.attemptsOf(n, at);
	return made.map(({ statusCode, responseMs, body = "ok", retryAt = null }, i) => {
		const isOver = i === made.length - 1 && retryAt === null;
		const delivered = statusCode >= 200 && statusCode < 300;
		const nextRetryAt = isOver ? null : (retryAt ?? startedAt + responseMs + WAITS[i]!);
		const attempt = {
			id: idAt("attempt", startedAt),
			webhookId: webhook.id,
			seq,
			eventType: type,
			attempt: i + 1,
			replay: 0,
			status: delivered ? ("delivered" as const) : isOver ? ("failed" as const) : ("retrying" as const),
			statusCode,
			errorCode: null,
			error: null,
			startedAt,
			responseMs,
			responseBody: Buffer.from(body),
			responseTruncated: false,
			nextRetryAt,
			url: webhook.url,
			sent: { brand: "Service", timestamp: Math.floor(startedAt / 1_000), signature: "0".repeat(64) },
		};
		startedAt = nextRetryAt ?? startedAt;
		return attempt;
	});
}

/** An id of that time, regardless of ids created before. */
function idAt(kind: "event" | "attempt", at: number): string {
	return new IdSource({ now: () => at }, () => randomBytes(8)).next(kind);
}
