import { signingKey } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { Lane } from "../lanes/lane.ts";
import { consequenceOf, type InFlight, NO_BYTES } from "./attempt.ts";

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
	const inFlight: InFlight = {
		lane: new Lane("proj_1", state, signingKey(new Uint8Array(32)), 1),
		event: { seq: 1, id: "evt_1", type: "delivery.success", createdAt: 0, publishedAt: 0, body: NO_BYTES },
		attemptId: "att_1",
		attempt: 1,
		replay: 0,
		retry: null,
		slot: null,
		writtenAt: null,
		bagIndex: -1,
	};
	const times = { startedAt: 1_000, endedAt: 21_000, waitedMs: 12_000 };
	const outcome = { kind: "unanswered", reason: "timeout", url: state.url, request: null, ...times } as const;
	const { attempt, schedule } = consequenceOf(inFlight, outcome, [DELAY_MS]);
	expect([attempt.startedAt, attempt.responseMs]).toEqual([13_000, 8_000]);
	expect(attempt.nextRetryAt).toBe(attempt.startedAt + attempt.responseMs + DELAY_MS);
	expect(schedule?.dueAt).toBe(attempt.nextRetryAt);
});
