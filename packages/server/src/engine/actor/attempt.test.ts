import { signingKey } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { Lane } from "../lanes/lane.ts";
import { consequenceOf, NO_BYTES } from "./attempt.ts";

const DELAY_MS = 5_000;

test("an attempt begins when it may connect, and the next delay counts from its end", () => {
	const state = {
		webhookId: "wh_1",
		url: "https://a.test/",
		sealedDigest: NO_BYTES,
		status: "active",
		maxInFlight: 1,
		position: 0,
		open: [],
		skipThrough: 0,
		subscriptions: new Map<string, number>(),
	} as const;
	const inFlight = {
		lane: new Lane("proj_1", state, signingKey(new Uint8Array(32)), 1),
		seq: 1,
		eventType: "delivery.success",
		attemptId: "att_1",
		attempt: 1,
		replay: 0,
	};
	const times = { startedAt: 1_000, endedAt: 21_000, waitedMs: 12_000 };
	const outcome = { kind: "unanswered", reason: "timeout", url: state.url, request: null, ...times } as const;
	const { attempt, schedule } = consequenceOf(inFlight, outcome, [DELAY_MS]);
	expect([attempt.startedAt, attempt.responseMs]).toEqual([13_000, 8_000]);
	expect(attempt.nextRetryAt).toBe(attempt.startedAt + attempt.responseMs + DELAY_MS);
	expect(schedule?.dueAt).toBe(attempt.nextRetryAt);
});
