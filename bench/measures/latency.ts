import { EVENT_TYPE } from "../load/payload.ts";
import type { Receiver } from "../load/receiver.ts";
import { received, setStage } from "../load/stage.ts";
import { runInProcess } from "../load/worker-process.ts";
import type { Progress } from "../progress.ts";
import type { Latency } from "../results.ts";
import type { ServiceOptions } from "../service.ts";
import { Least } from "../single/least.ts";
import type { Workspace } from "../workspace.ts";

const EVENTS_PER_S = 100;
/**
 * Events to warm up with per second of the measurement, and their maximum, faster than those measured: at the measured
 * rate, the code would stay uncompiled for minutes.
 */
const WARM_UP_EVENTS = 2_500;
const WARM_UP_MOST_EVENTS = 5_000;
const WARM_UP_PER_S = 1_000;
/** Long, because polling the receiver delays events. */
const POLL_MS = 500;

/** Its only project sends one event at a time. */
const LEAST_CONNECTIONS = 1;

/** A steady stream of single events to one address. */
export interface PacedTask {
	readonly origin: string;
	/** PEM file with the authority of an https origin's certificate. */
	readonly caFile: string | null;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	/** Whether to post envelopes, as to a receiver, or events, as to the API. */
	readonly enveloped: boolean;
	/** One process sends all of it in sequence, so that the client is as warm as the service when measured. */
	readonly stretches: readonly { readonly count: number; readonly perSecond: number }[];
}

/**
 * The time from publishing an event over the API until its receiver has it, at 100 events a second with one webhook;
 * and, for comparison, the time of a bare request from the same client to the receiver, and through the least that
 * delivers durably.
 */
export async function measureLatency(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<Latency> {
	const count = Math.ceil(EVENTS_PER_S * seconds);
	const warmUp = Math.ceil(Math.min(WARM_UP_MOST_EVENTS, WARM_UP_EVENTS * seconds));
	progress.start(`latency at ${EVENTS_PER_S} events/s: bare requests`);
	const bare = await stream(workspace, receiver, warmUp, count, {
		origin: receiver.origin,
		caFile: receiver.caFile,
		path: `/w${receiver.takePaths(1)}`,
		headers: bareHeaders(),
		enveloped: true,
	});
	progress.start(`latency at ${EVENTS_PER_S} events/s: the least`);
	const least = await Least.start(workspace, receiver, { projects: 1, connections: LEAST_CONNECTIONS });
	const throughLeast = await stream(
		workspace,
		receiver,
		warmUp,
		count,
		{ origin: least.origin, caFile: null, path: least.pathOf(0), headers: {}, enveloped: false },
		async (sent) => {
			await sent;
			// It answers once all have been sent.
			await least.cpu();
		},
	);
	await least.close();
	progress.start(`latency at ${EVENTS_PER_S} events/s`);
	const stage = await setStage(workspace, receiver, options, { webhooks: 1, fanout: 1 });
	try {
		const { api } = stage.service;
		const all = (sent: Promise<unknown>, expected: number) =>
			Promise.all([sent, received(stage, expected, (done) => progress.update(done, expected), POLL_MS)]);
		const through = await stream(
			workspace,
			receiver,
			warmUp,
			count,
			{
				origin: api.origin,
				caFile: null,
				path: `/v1/projects/${stage.projectIds[0]}/events`,
				headers: { authorization: `Bearer ${api.key}` },
				enveloped: false,
			},
			all,
		);
		progress.finish(`p50 ${through.p50.toFixed(2)} ms, p99 ${through.p99.toFixed(2)} ms`);
		return { ...through, bare, least: throughLeast };
	} finally {
		await stage.service.stop();
	}
}

type Address = Pick<PacedTask, "origin" | "caFile" | "path" | "headers" | "enveloped">;

async function stream(
	workspace: Workspace,
	receiver: Receiver,
	warmUp: number,
	count: number,
	address: Address,
	arrived: (sent: Promise<unknown>, expected: number) => Promise<unknown> = (sent) => sent,
): Promise<{ p50: number; p99: number }> {
	const stretches = [
		{ count: warmUp, perSecond: WARM_UP_PER_S },
		{ count, perSecond: EVENTS_PER_S },
	];
	await receiver.reset();
	const sent = runInProcess<PacedTask, null>(workspace, new URL("../load/paced-process.ts", import.meta.url), {
		...address,
		stretches,
	});
	await arrived(sent, warmUp + count);
	const { latencies, distinct } = await receiver.stats();
	const missing = warmUp + count - distinct;
	if (missing > 0) throw new Error(`${missing} deliveries are missing.`);
	const measured = latencies.slice(-count);
	return { p50: quantile(measured, 0.5), p99: quantile(measured, 0.99) };
}

/** The smallest value that at least the share `q` of the values don't exceed, rounded to microseconds. */
export function quantile(values: readonly number[], q: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	const value = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
	if (value === undefined) throw new Error("No delivery arrived while latency was measured.");
	return Number(value.toFixed(3));
}

/** Headers of the same size as a signed request's; the benchmark's receiver doesn't check them. */
function bareHeaders(): Record<string, string> {
	return {
		"User-Agent": "Service-Webhooks/1.0",
		"X-Service-Event": EVENT_TYPE,
		"X-Service-Event-Id": "evt_00000000000000000000000000",
		"X-Service-Signature": "0".repeat(64),
		"X-Service-Timestamp": "1767225600",
	};
}
