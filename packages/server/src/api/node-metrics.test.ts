import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

test("counts costly handshakes with receivers", async () => {
	const metrics = createMetrics();
	const handshakes = { costly: 0 };
	metrics.watchHandshakes(handshakes);
	expect(await metrics.registry.metrics()).toContain("\nposthorn_costly_handshakes_total 0\n");
	handshakes.costly = 3;
	expect(await metrics.registry.metrics()).toContain("\nposthorn_costly_handshakes_total 3\n");
});

// A series began with its first event, for which `increase` shows nothing: an alert missed the first dead letter.
test("counters begin at 0, with all of their labels", async () => {
	const metrics = createMetrics();
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
