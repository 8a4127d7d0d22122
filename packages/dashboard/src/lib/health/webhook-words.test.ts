import { describe, expect, it } from "vitest";
import { responseWords } from "../attempts/attempt-words.ts";
import { answered, at, FAILING, HEALTHY, NOW, UNSTABLE, unanswered, webhook } from "./health.fixture.ts";
import { type HealthFacts, isOlderThanLog } from "./health-facts.ts";
import { projectSentence } from "./project-words.ts";
import {
	failingSince,
	pendingSentence,
	recentFailures,
	untilNow,
	waitingSentence,
	webhookSentence,
} from "./webhook-words.ts";

describe("failingSince", () => {
	it("says what and since when", () => {
		expect(failingSince(FAILING, NOW)).toBe("Returning 500 since 14:02");
		const refused = { ...FAILING, last_attempt: unanswered("connection_refused", at(14, 25)) };
		expect(failingSince(refused, NOW)).toBe("Failing since 14:02. The last attempt was refused a connection");
		expect(failingSince({ ...FAILING, recent: { minutes: 15, delivered: 1, failed: 40 } }, NOW)).toBe(
			"Returning 500 since 14:02",
		);
		const few = { ...FAILING, down: false, recent: { minutes: 15, delivered: 1, failed: 40 } };
		expect(failingSince(few, NOW)).toBe(
			"40 of 41 attempts have failed in the last 15 minutes. The last attempt returned 500",
		);
		// The service decides from when on the few successes no longer count.
		const down = { ...few, down: true, failing_since: answered(500, at(14, 29)) };
		expect(failingSince(down, NOW)).toBe("Returning 500 since 14:29");
		expect(failingSince({ ...FAILING, last_attempt: null }, NOW)).toBe("Failing");
	});

	// It said "Address isn't public, so nothing is sent since 14:02".
	it.each(["dns_not_found", "dns_failed", "address_not_public", "tls_costly"])(
		"names the error %s as the log does",
		(code) => {
			const { short } = responseWords({ status_code: null, error_code: code });
			const health = {
				...{ ...FAILING, webhook_id: "a" },
				...{ last_attempt: unanswered(code, at(14, 25)), failing_since: unanswered(code, at(14, 2)) },
			};
			expect(failingSince(health, NOW)).toBe(`Failing since 14:02: ${short}`);
			expect(projectSentence([webhook("a")], [health], NOW)).toBe(
				`Your webhook is failing: a.example, since 14:02 (${short}).`,
			);
		},
	);
});

it.each([
	[0, 1, "Its only attempt in the last 20 minutes has failed"],
	[0, 2, "Both attempts have failed in the last 20 minutes"],
	[0, 9, "All 9 attempts have failed in the last 20 minutes"],
	[1, 1, "1 of 2 attempts has failed in the last 20 minutes"],
	[51, 9, "9 of 60 attempts have failed in the last 20 minutes"],
])("with %i delivered and %i failed attempts, says %s", (delivered, failed, words) => {
	// The service chooses the window.
	const recent = { minutes: 20, delivered, failed };
	expect(recentFailures({ recent })).toBe(words);
});

it("mentions events and retries only if some are waiting", () => {
	const backlog = { events: 2, oldest_at: at(14, 26) };
	const first = "2 events wait for their first attempt, the oldest for 4 min";
	const pending = (of: HealthFacts["backlog"], count: number, tests = 0) =>
		pendingSentence({ backlog: of, waiting: { count, tests, next_at: null } }, NOW);
	const nothing = { events: 0, oldest_at: null };
	expect(pending(backlog, 0)).toBe(`${first}.`);
	expect(pending(backlog, 1)).toBe(`${first}; 1 delivery waits for a retry.`);
	expect(pending(nothing, 6)).toBe("6 deliveries wait for a retry.");
	expect(pending(nothing, 0)).toBe("Nothing is waiting.");
	// A test was counted as a delivery.
	expect(pending(nothing, 6, 2)).toBe("4 deliveries and 2 tests wait for a retry.");
	expect(pending(nothing, 1, 1)).toBe("1 test waits for a retry.");
});

describe("webhookSentence", () => {
	it("offers the one action that helps", () => {
		expect(webhookSentence(HEALTHY, NOW)).toEqual({
			text: "Healthy. 1,204 deliveries accepted in the last 24 hours, the last 2 min ago.",
			action: null,
		});
		expect(webhookSentence({ ...HEALTHY, day: { delivered: 0 } }, NOW).text).toBe(
			"Healthy. Its last event was accepted 2 min ago.",
		);
		expect(webhookSentence({ ...HEALTHY, dead_letters: 12 }, NOW)).toEqual({
			text: "Healthy now. 12 deliveries failed for good and can be replayed.",
			action: "replay",
		});
		expect(webhookSentence(FAILING, NOW)).toEqual({ text: "Returning 500 since 14:02.", action: "test" });
		expect(webhookSentence({ ...FAILING, dead_letters: 1 }, NOW).action).toBe("replay");
		expect(webhookSentence(UNSTABLE, NOW)).toEqual({
			text: "9 of 60 attempts have failed in the last 15 minutes.",
			action: "test",
		});
		const again = { ...UNSTABLE, failing_since: FAILING.failing_since, last_attempt: FAILING.last_attempt };
		expect(webhookSentence({ ...again, dead_letters: 2 }, NOW)).toEqual({
			text: "9 of 60 attempts have failed in the last 15 minutes. The last attempt returned 500. 2 deliveries failed for good and can be replayed.",
			action: "replay",
		});
		const quiet = { ...again, recent: { ...UNSTABLE.recent, delivered: 0, failed: 0 } };
		expect(webhookSentence(quiet, NOW).text).toBe("The last attempt returned 500.");
		const idle: HealthFacts = { ...HEALTHY, state: "idle", last_delivered_at: null };
		expect(webhookSentence(idle, NOW).action).toBe("test");
		expect(webhookSentence({ ...idle, last_delivered_at: at(14, 28) }, NOW)).toEqual({
			text: "Tested: it accepted a test event 2 min ago. No event has been sent to it yet.",
			action: null,
		});
		// It said that it was tested, or suggested a test as if there had been none.
		for (const tested of [idle, { ...idle, last_delivered_at: at(14, 28) }])
			expect(webhookSentence(tested, NOW, true)).toEqual({ text: "No event has been sent to it yet.", action: "test" });
		expect(webhookSentence(HEALTHY, NOW, true)).toEqual(webhookSentence(HEALTHY, NOW));
		const [log, older] = [{ logged_since: at(4, 0) }, { created_at: at(3, 59) }];
		expect(isOlderThanLog({ created_at: at(4, 0) }, log)).toBe(false);
		expect(isOlderThanLog(older, log)).toBe(true);
		expect(isOlderThanLog(older, undefined)).toBe(true);
		expect(untilNow(false, 1)).toBe("yet");
		expect(webhookSentence(idle, NOW, false, untilNow(true, 1)).text).toBe(
			"No event has been sent to it in the last day. Send a test event to see whether it works.",
		);
		const waiting = { events: 1, oldest_at: at(14, 29) };
		expect(webhookSentence({ ...HEALTHY, state: "idle", backlog: waiting }, NOW).action).toBeNull();
		expect(webhookSentence({ ...HEALTHY, state: "paused", backlog: { ...waiting, events: 37 } }, NOW)).toEqual({
			text: "Paused. Nothing is sent. 37 new events are waiting.",
			action: "resume",
		});
	});
});

describe("waitingSentence", () => {
	it("says how many deliveries wait for a retry and until when, or nothing", () => {
		expect(waitingSentence(FAILING, NOW)).toBe("37 deliveries wait for a retry, the next one in 12 min.");
		expect(waitingSentence(FAILING, Date.parse(at(14, 42)))).toBe(
			"37 deliveries wait for a retry, the next one being sent.",
		);
		const all = {
			...FAILING,
			waiting: { count: 1, tests: 0, next_at: null },
			dead_letters: 2,
			backlog: { events: 5, oldest_at: at(14, 26) },
		};
		expect(waitingSentence(all, NOW)).toBe(
			"1 delivery waits for a retry; 2 deliveries failed for good; 5 events wait for their first attempt, the oldest for 4 min.",
		);
		const one = { ...HEALTHY, backlog: { events: 1, oldest_at: at(14, 26) } };
		expect(waitingSentence(one, NOW)).toBe("1 event has waited 4 min for its first attempt.");
		expect(waitingSentence(HEALTHY, NOW)).toBe("");
	});
});
