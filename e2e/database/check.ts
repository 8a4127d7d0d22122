import { patience, until } from "@posthorn/testkit";
import { expect } from "vitest";
import type { Site, SiteWebhook } from "./site.ts";
import type { Traffic } from "./traffic.ts";

/** An entry of the delivery log, as the API gives it. */
interface Entry {
	readonly event_id: string;
	readonly attempt: number;
	readonly status: string;
	readonly status_code: number | null;
}

export interface CheckOptions {
	/** Whether no node died or lost a lease, so that the log has every single request. */
	readonly exact?: boolean;
}

/**
 * Checks that every acknowledged event is in the log once, at its acknowledged position; that every receiver gets the
 * whole log, first attempts in order; and that the delivery log matches what the receivers saw.
 */
export async function checkDeliveries(site: Site, traffic: Traffic, options: CheckOptions = {}): Promise<void> {
	for (const projectId of site.projectIds) {
		const log = await readLog(site, projectId);
		for (const [id, seq] of traffic.acknowledged.get(projectId)!) expect(log[seq - 1], `event ${seq}`).toBe(id);
		expect(new Set(log)).toEqual(traffic.offered.get(projectId));
		expect(new Set(log).size).toBe(log.length);
		for (const webhook of site.webhooks.filter((one) => one.projectId === projectId)) {
			await checkWebhook(site, webhook, log, options);
		}
	}
}

async function checkWebhook(
	site: Site,
	webhook: SiteWebhook,
	log: readonly string[],
	{ exact = false }: CheckOptions,
): Promise<void> {
	const seen = (): string[] => [...new Set(webhook.arrivals.map(({ eventId }) => eventId))];
	await site.untilReceived("every event to arrive", () => seen().length >= log.length);
	expect(seen()).toEqual(log);

	const entries = await settledEntries(site, webhook, log.length);
	const byEvent = Map.groupBy(entries, ({ event_id }) => event_id);
	expect(byEvent.size).toBe(log.length);
	for (const eventId of log) {
		const logged = byEvent.get(eventId)!.toSorted((a, b) => a.attempt - b.attempt);
		expect(
			logged.map(({ attempt }) => attempt),
			`attempts of ${eventId}`,
		).toEqual(logged.map((_, i) => i + 1));
		expect(logged.map(({ status }) => status)).toEqual(
			logged.map((_, i) => (i === logged.length - 1 ? "delivered" : "retrying")),
		);
		const answered = webhook.arrivals.filter((arrival) => arrival.eventId === eventId).map(({ status }) => status);
		if (exact) expect(logged.map(({ status_code }) => status_code)).toEqual(answered);
		else
			for (const { status_code } of logged) {
				// Without a response, the request may not have arrived.
				if (status_code === null) continue;
				const at = answered.indexOf(status_code);
				expect(at, `${eventId} got ${answered}, but ${status_code} is logged`).not.toBe(-1);
				answered.splice(at, 1);
			}
	}
}

/** The ids of a project's log, in order. Its numbers have no gaps. */
async function readLog(site: Site, projectId: string): Promise<string[]> {
	const log: string[] = [];
	const stillInTime = patience(`the log of ${projectId} to be read`);
	for (;;) {
		stillInTime();
		const { body } = await site.ask("GET", `/v1/projects/${projectId}/events?after=${log.length}&limit=200`);
		for (const { id } of body.data) log.push(id);
		if (body.data.length === 0) return log;
		expect(body.last_seq).toBe(log.length);
	}
}

/** The webhook's delivery log once every event is `delivered`: the last commits may come after the last responses. */
async function settledEntries(site: Site, { projectId, id }: SiteWebhook, events: number): Promise<Entry[]> {
	return until("deliveries to be logged", async () => {
		const entries: Entry[] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const page = `/v1/projects/${projectId}/attempts?webhook_id=${id}&limit=200${cursor && `&cursor=${cursor}`}`;
			const { body } = await site.ask("GET", page);
			entries.push(...body.data);
			cursor = body.next_cursor;
		}
		return entries.filter(({ status }) => status === "delivered").length >= events && entries;
	});
}
