import { expect, test } from "vitest";
import { deliveryKey } from "../../api/deliveries.ts";
import { type SendState, sendableOf } from "./sendable.ts";

const STATES: Readonly<Record<string, SendState>> = {
	wh_a: "active",
	wh_p: "paused",
	wh_s: "unsigned",
	wh_d: "deleted",
	wh_u: "unknown",
};
const row = (webhook_id: string, event_id: string, waits = false) => ({ webhook_id, event_id, waits });
const sendable = (...rows: readonly ReturnType<typeof row>[]) => {
	const { retry, replay } = sendableOf(
		rows,
		({ waits }) => waits,
		(id) => STATES[id]!,
	);
	return { retry: retry.map(deliveryKey), replay: replay.map(deliveryKey) };
};

test("waiting deliveries are retried, and others replayed, each once", () => {
	expect(sendable(row("wh_a", "1", true))).toEqual({ retry: ["wh_a 1"], replay: [] });
	expect(sendable(row("wh_a", "1"), row("wh_a", "1"), row("wh_a", "2", true))).toEqual({
		retry: ["wh_a 2"],
		replay: ["wh_a 1"],
	});
	// Its earlier series has a row of its own.
	expect(sendable(row("wh_a", "1"), row("wh_a", "1", true))).toEqual({ retry: ["wh_a 1"], replay: [] });
	expect(sendable()).toEqual({ retry: [], replay: [] });
});

test("deleted webhooks get nothing, and those that are paused or lack a secret no retries", () => {
	expect(sendable(row("wh_d", "1", true), row("wh_d", "2"))).toEqual({ retry: [], replay: [] });
	expect(sendable(row("wh_p", "1", true), row("wh_p", "2"))).toEqual({ retry: [], replay: ["wh_p 2"] });
	expect(sendable(row("wh_s", "1", true), row("wh_s", "2"))).toEqual({ retry: [], replay: ["wh_s 2"] });
	expect(sendable(row("wh_u", "1", true), row("wh_u", "2"))).toEqual({ retry: ["wh_u 1"], replay: ["wh_u 2"] });
});
