import { expect, test } from "vitest";
import type { NewAttempt } from "../storage/port.ts";
import { createMetrics } from "./metrics.ts";

test("counts costly handshakes with receivers", async () => {
	const metrics = createMetrics(15_000);
	const handshakes = { costly: 0 };
	metrics.watchHandshakes(handshakes);
	expect(await metrics.registry.metrics()).toContain("\nposthorn_costly_handshakes_total 0\n");
	handshakes.costly = 3;
	expect(await metrics.registry.metrics()).toContain("\nposthorn_costly_handshakes_total 3\n");
});

// With a timeout of 15 seconds, timeouts seemed to take up to 30: a quantile is interpolated between buckets.
test.each([4_000, 15_000, 300_000])("no attempt seems to take longer than a timeout of %i ms", async (timeoutMs) => {
	const metrics = createMetrics(timeoutMs);
	const timedOut = { status: "retrying", statusCode: null, errorCode: "timeout", sent: {} } as NewAttempt;
	metrics.engine.attempted("proj_1", "evt_1", { ...timedOut, responseMs: timeoutMs + 7 }, null);
	const text = await metrics.registry.metrics();
	const buckets = [...text.matchAll(/^posthorn_attempt_duration_seconds_bucket\{le="(.+)"\} (\d+)$/gm)];
	expect(buckets.slice(-3).map(([, bound, count]) => [bound, count])).toEqual([
		[expect.any(String), "0"],
		[String(timeoutMs / 1_000), "1"],
		["+Inf", "1"],
	]);
});

// A series began with its first event, for which `increase` shows nothing: an alert missed the first dead letter.
test("counters begin at 0, with all of their labels", async () => {
	const metrics = createMetrics(15_000);
	metrics.database();
	const text = await metrics.registry.metrics();
	for (const line of [
		'posthorn_attempts_total{outcome="failed"} 0',
		'posthorn_attempts_total{outcome="delivered"} 0',
		'posthorn_retention_deleted_total{rows="events"} 0',
		'posthorn_database_connections_lost_total{pool="waiting"} 0',
		'posthorn_database_conflicts_total{pool="publish"} 0',
		'posthorn_database_commit_duration_seconds_count{pool="settle"} 0',
	])
		expect(text).toContain(`\n${line}\n`);
});
