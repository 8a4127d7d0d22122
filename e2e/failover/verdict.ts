/** Checks that every acknowledged event arrived everywhere, in order and correctly signed. */
import type { Site, SiteWebhook } from "../database/site.ts";
import type { Traffic } from "../database/traffic.ts";
import { TooLate, until } from "./wait.ts";

/** How long the last deliveries may take, milliseconds. */
const DELIVER_MS = 60_000;
/** How many problems of one kind to name. */
const EXAMPLES = 5;

export interface Verdict {
	readonly acknowledged: number;
	readonly inLog: number;
	/** Correctly signed requests, and how many of them repeated an event. */
	readonly received: number;
	readonly repeated: number;
	readonly lost: number;
	readonly outOfOrder: number;
	/** What went wrong, in sentences. */
	readonly problems: readonly string[];
}

/** Call it once every offered event is acknowledged. */
export async function judge(
	site: Pick<Site, "projectIds" | "webhooks" | "ask">,
	traffic: Pick<Traffic, "acknowledged">,
	signal: AbortSignal,
	deliverMs = DELIVER_MS,
): Promise<Verdict> {
	const lost: string[] = [];
	const outOfOrder: string[] = [];
	const others: string[] = [];
	let acknowledged = 0;
	let inLog = 0;
	for (const projectId of site.projectIds) {
		const log = await readLog(site, projectId);
		const known = new Set(log);
		inLog += log.length;
		for (const [id, seq] of traffic.acknowledged.get(projectId)!) {
			acknowledged++;
			if (!known.has(id)) lost.push(`event ${seq} of ${projectId} (${id}) was acknowledged and is not in the log`);
			else if (log[seq - 1] !== id)
				outOfOrder.push(
					`event ${id} of ${projectId} was acknowledged as ${seq} and is ${log.indexOf(id) + 1} in the log`,
				);
		}
		if (known.size < log.length) others.push(`${log.length - known.size} events of ${projectId} are in the log twice`);
		for (const webhook of site.webhooks.filter((one) => one.projectId === projectId)) {
			await untilDelivered(webhook, known, deliverMs, signal);
			const first = firstArrivals(webhook);
			const seen = new Set(first);
			for (const [i, id] of log.entries())
				if (!seen.has(id)) lost.push(`event ${i + 1} of ${projectId} (${id}) never reached ${webhook.id}`);
			const expected = log.filter((id) => seen.has(id));
			const at = first.findIndex((id, i) => id !== expected[i]);
			if (at !== -1)
				outOfOrder.push(`${webhook.id} received ${first[at]} as event ${at + 1}, expected ${expected[at] ?? "none"}`);
		}
	}
	const received = site.webhooks.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
	const firsts = site.webhooks.reduce((sum, webhook) => sum + firstArrivals(webhook).length, 0);
	return {
		acknowledged,
		inLog,
		received,
		repeated: received - firsts,
		lost: lost.length,
		outOfOrder: outOfOrder.length,
		problems: [...some("lost", lost), ...some("out of order", outOfOrder), ...others],
	};
}

/** The ids in a project's log; the n-th has sequence number n. */
async function readLog(site: Pick<Site, "ask">, projectId: string): Promise<string[]> {
	const log: string[] = [];
	for (;;) {
		const { status, body } = await site.ask("GET", `/v1/projects/${projectId}/events?after=${log.length}&limit=200`);
		if (status !== 200) throw new Error(`Reading the log of ${projectId} got ${status}: ${JSON.stringify(body)}`);
		for (const { id } of body.data) log.push(id);
		if (body.data.length > 0 && body.last_seq !== log.length)
			throw new Error(`The log of ${projectId} has ${log.length} events up to number ${body.last_seq}.`);
		if (body.data.length === 0) return log;
	}
}

function firstArrivals({ arrivals }: SiteWebhook): string[] {
	return [...new Set(arrivals.map(({ eventId }) => eventId))];
}

async function untilDelivered(
	webhook: SiteWebhook,
	ids: ReadonlySet<string>,
	deliverMs: number,
	signal: AbortSignal,
): Promise<void> {
	const isDelivered = (): boolean => new Set(firstArrivals(webhook)).isSupersetOf(ids);
	await until(`Deliveries to ${webhook.id}`, deliverMs, signal, isDelivered).catch((error: unknown) => {
		// The caller lists what is missing.
		if (!(error instanceof TooLate)) throw error;
	});
}

function some(kind: string, found: readonly string[]): string[] {
	const more = found.length - EXAMPLES;
	const examples = found.slice(0, EXAMPLES).map((text) => `${kind}: ${text}`);
	return more > 0 ? [...examples, `${kind}: ${more} more`] : examples;
}
