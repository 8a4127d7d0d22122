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
