import { signingKey } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { IdSource, isId, lowestSuffixAt } from "../../base/ids.ts";
import type { Retry } from "../../storage/port.ts";
import { toStoredId } from "../../storage/shared/deliveries.ts";
import { Lane } from "../lanes/lane.ts";
import { type LaneEvent, PackedEvents } from "../lanes/packed-events.ts";
import type { NotSent, Unanswered } from "../send/outcome.ts";
import { Attempts, consequenceOf, InFlight, NO_BYTES } from "./attempt.ts";
import type { ProjectWork } from "./context.ts";

const DELAY_MS = 5_000;

const STATE = {
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
const EVENT = { seq: 1, id: "evt_1", type: "delivery.success", body: NO_BYTES, createdAt: 0, publishedAt: 0 };

const clock = new VirtualClock(0);
const work = { context: { clock, ids: new IdSource(clock) }, mayLeave: () => true };
const keys = { key: signingKey(new Uint8Array(32)), standardKey: null };
const newInFlight = (event: LaneEvent = EVENT): InFlight =>
	new InFlight(work, new Lane("proj_1", STATE, keys), event, null, null);

function outcomeOf(times: Pick<Unanswered, "startedAt" | "endedAt" | "waitedMs">): Unanswered {
	return { kind: "unanswered", reason: "timeout", url: STATE.url, request: null, ...times };
}

test("an attempt begins when it may connect, and the next delay counts from its end", () => {
	const inFlight = newInFlight();
	inFlight.onBegun(1_000);
	const outcome = outcomeOf({ startedAt: 1_000, endedAt: 21_000, waitedMs: 12_000 });
	const { attempt, schedule } = consequenceOf(inFlight, outcome, [DELAY_MS]);
	expect([attempt.startedAt, attempt.responseMs]).toEqual([13_000, 8_000]);
	expect(attempt.nextRetryAt).toBe(attempt.startedAt + attempt.responseMs + DELAY_MS);
	expect(schedule?.dueAt).toBe(attempt.nextRetryAt);
});

test("only a first attempt has a lag: until it began, and none below 0", () => {
	const lagOf = (startedAt: number, retry: Retry | null = null, outcome?: NotSent) => {
		const inFlight = new InFlight(work, new Lane("proj_1", STATE, keys), { ...EVENT, publishedAt: 500 }, retry, null);
		inFlight.onBegun(startedAt);
		return consequenceOf(inFlight, outcome ?? outcomeOf({ startedAt, endedAt: 9_000, waitedMs: 300 }), []).lagMs;
	};
	expect(lagOf(1_000)).toBe(800);
	expect(lagOf(100)).toBe(0); // published by a node whose clock is ahead
	const retry = { webhookId: "wh_1", seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: 0 } as const;
	expect(lagOf(1_000, retry)).toBeNull();
	expect(lagOf(1_000, null, { kind: "not_sent", reason: "expired", startedAt: 1_000, endedAt: 1_000 })).toBeNull();
});

// Bounds on time are bounds on ids, and left such attempts out, or took in those that began later.
test.each([0, 12_000])("an attempt's id has the time when it began, after waiting for %i ms", (waitedMs) => {
	const inFlight = newInFlight();
	clock.advance(7_000);
	const startedAt = clock.now();
	inFlight.onBegun(startedAt);
	const { attempt } = consequenceOf(inFlight, outcomeOf({ startedAt, endedAt: startedAt + 20_000, waitedMs }), []);
	const began = startedAt + waitedMs;
	expect(attempt.startedAt).toBe(began);
	expect(isId("attempt", attempt.id)).toBe(true);
	const suffix = toStoredId(attempt.id);
	expect([suffix >= lowestSuffixAt(began), suffix < lowestSuffixAt(began + 1)]).toEqual([true, true]);
});

// It named both, even if the certificate showed which.
test("the reason says whether a certificate has expired or isn't valid yet, if that is known", () => {
	const inFlight = newInFlight();
	const startedAt = 100_000;
	const textFor = (validFrom: number | null, validTo: number | null) => {
		const certificate = { subject: "CN=a", issuer: "CN=b", names: [], validFrom, validTo };
		const outcome = { ...outcomeOf({ startedAt, endedAt: startedAt + 100, waitedMs: 0 }), details: { certificate } };
		return consequenceOf(inFlight, { ...outcome, reason: "tls_expired" }, []).attempt.error;
	};
	expect(textFor(1_000, startedAt - 1)).toBe("The receiver's certificate has expired. Renew it.");
	expect(textFor(startedAt + 1_000, startedAt + 2_000)).toBe(
		"The receiver's certificate isn't valid yet. Use one that is.",
	);
	// The cause is another certificate of its chain.
	for (const [from, to] of [
		[1_000, startedAt + 2_000],
		[null, null],
	] as const)
		expect(textFor(from, to)).toBe("The receiver's certificate has expired or isn't valid yet. Renew it.");
});

test("of the last committed attempt, only what identifies it is kept", () => {
	// Each project once kept the response, and with it 64 KB that the response shared with requests.
	const attempts = new Attempts({ context: { observer: {} } } as ProjectWork);
	const inFlight = newInFlight();
	const consequence = consequenceOf(inFlight, outcomeOf({ startedAt: 0, endedAt: 0, waitedMs: 0 }), []);
	attempts.committed({ kind: "committed", inFlight, consequence, position: 1, result: "settled" });
	const { attemptId: id } = inFlight;
	expect(attempts.lastCommitted).toEqual({ id, webhookId: STATE.webhookId, seq: EVENT.seq, replay: 0, attempt: 1 });
});

test("an attempt keeps its body when the memory of its event is freed", () => {
	const events = new PackedEvents([{ ...EVENT, body: Buffer.from("{}") }]);
	const { body } = newInFlight(events.at(0));
	events.free();
	expect(Buffer.from(body).toString()).toBe("{}");
});
