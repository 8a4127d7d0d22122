import { describe, expect, it } from "vitest";
import { responseWords } from "../attempts/attempt-words.ts";
import { isolated } from "../text/names.ts";
import {
	failingSince,
	isBehind,
	isOlderThanLog,
	listSentence,
	pendingSentence,
	projectSentence,
	recentFailures,
	untilNow,
	waitingSentence,
	webhookName,
	webhookSentence,
} from "./health.ts";
import type { HealthFacts } from "./health-facts.ts";
import { checklist, outcomesInWords, sumOutcomes } from "./health-figures.ts";

/** 14:30 local time, so that times of that day appear without a date. */
const NOW = new Date(2026, 10, 21, 14, 30).getTime();
const at = (hour: number, minute: number) => new Date(2026, 10, 21, hour, minute).toISOString();
const answered = (status_code: number, started_at: string) => ({ status_code, error_code: null, started_at });
const unanswered = (error_code: string, started_at: string) => ({ status_code: null, error_code, started_at });

const HEALTHY: HealthFacts = {
	webhook_id: "wh_1",
	state: "healthy",
	last_attempt: answered(200, at(14, 28)),
	failing_since: null,
	down: false,
	recent: { minutes: 15, delivered: 40, failed: 0 },
	last_delivered_at: at(14, 28),
	logged_since: at(4, 0),
	waiting: { count: 0, tests: 0, next_at: null },
	dead_letters: 0,
	backlog: { events: 0, oldest_at: null },
	day: { delivered: 1_204 },
};
const FAILING: HealthFacts = {
	...HEALTHY,
	state: "failing",
	last_attempt: answered(500, at(14, 25)),
	failing_since: answered(500, at(14, 2)),
	down: true,
	recent: { minutes: 15, delivered: 0, failed: 9 },
	waiting: { count: 37, tests: 0, next_at: at(14, 42) },
};
const UNSTABLE: HealthFacts = {
	...HEALTHY,
	state: "unstable",
	recent: { minutes: 15, delivered: 51, failed: 9 },
};
const webhook = (id: string, description = "") => ({ id, description, url: `https://${id}.example/hooks` });
const health = (id: string, facts: HealthFacts): HealthFacts => ({ ...facts, webhook_id: id });

describe("responseWords", () => {
	it("names the status, or why there was no response, or that there was none", () => {
		expect(responseWords({ status_code: 503, error_code: null }).short).toBe("503");
		expect(responseWords({ status_code: null, error_code: "tls_expired" }).short).toBe("expired certificate");
		expect(responseWords({ status_code: null, error_code: "new_code" }).short).toBe("no response");
		expect(responseWords({ status_code: null, error_code: null }).short).toBe("no response");
	});
});

describe("webhookName", () => {
	it("is the description, or the host, or the URL's text", () => {
		expect(webhookName(webhook("a", "Accounting"))).toBe("Accounting");
		expect(webhookName(webhook("a", " "))).toBe("a.example");
		expect(webhookName({ description: "", url: "nonsense" })).toBe("nonsense");
	});
});

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

describe("projectSentence", () => {
	const four = ["a", "b", "c", "d"].map((id) => webhook(id, id === "a" ? "Accounting" : ""));
	const healths = (...states: HealthFacts[]) => states.map((facts, index) => health(four[index]!.id, facts));

	it("names the failing webhook and its response", () => {
		expect(projectSentence(four, healths(FAILING, HEALTHY, HEALTHY, HEALTHY), NOW)).toBe(
			"1 of 4 webhooks is failing: Accounting has returned 500 since 14:02.",
		);
		const changed = { ...FAILING, last_attempt: unanswered("timeout", at(14, 25)) };
		expect(projectSentence(four.slice(0, 1), healths(changed), NOW)).toBe(
			"Your webhook is failing: Accounting, since 14:02.",
		);
	});

	it("cuts long names, and isolates those that are written from right to left", () => {
		const named = (description: string) => [{ id: "wh_a", url: "https://a.example", description }];
		const say = (description: string) => projectSentence(named(description), [{ ...FAILING, webhook_id: "wh_a" }], NOW);
		expect(say(`${"x".repeat(60)} more`)).toMatch(/^Your webhook is failing: x{60}… has returned/);
		const two = [...named("Accounting"), { ...named("y".repeat(61))[0]!, id: "wh_b" }];
		const both = two.map(({ id }) => ({ ...FAILING, webhook_id: id }));
		expect(projectSentence(two, both, NOW)).toMatch(/^Both webhooks are failing: Accounting, y{60}…$/);
		expect(say(" Accounting ")).toMatch(/^Your webhook is failing: Accounting has returned/);
		expect(say("محاسبة")).toMatch(/^Your webhook is failing: \u2068محاسبة\u2069 has returned/);
	});

	it("names up to three failing webhooks", () => {
		expect(projectSentence(four, healths(FAILING, FAILING, HEALTHY, HEALTHY), NOW)).toBe(
			"2 of 4 webhooks are failing: Accounting, b.example.",
		);
		expect(projectSentence(four, healths(FAILING, FAILING, FAILING, FAILING), NOW)).toBe(
			"All 4 webhooks are failing: Accounting, b.example, c.example and 1 other.",
		);
	});

	it("names the unstable webhooks if none is failing", () => {
		expect(projectSentence(four, healths(UNSTABLE, HEALTHY, HEALTHY, HEALTHY), NOW)).toBe(
			"1 of 4 webhooks is unstable: Accounting. Attempts failed recently, but nothing is waiting now.",
		);
		// The row below says that they wait.
		const behind = { ...UNSTABLE, backlog: { events: 3, oldest_at: new Date(NOW - 2_000).toISOString() } };
		expect(projectSentence(four, healths(behind, HEALTHY, HEALTHY, HEALTHY), NOW)).toBe(
			"1 of 4 webhooks is unstable: Accounting. Attempts failed recently.",
		);
		const waits = { ...UNSTABLE, waiting: { count: 1, tests: 0, next_at: null } };
		for (const open of [waits, { ...UNSTABLE, failing_since: answered(500, at(14, 25)) }])
			expect(projectSentence(four, healths(open, UNSTABLE, HEALTHY, HEALTHY), NOW)).toBe(
				"2 of 4 webhooks are unstable: Accounting, b.example. Some attempts fail and are retried.",
			);
		// A retry of another webhook's test waits, which is listed.
		const tested = { ...HEALTHY, waiting: { count: 1, tests: 1, next_at: null } };
		expect(projectSentence(four, healths(UNSTABLE, tested, HEALTHY, HEALTHY), NOW)).toBe(
			"1 of 4 webhooks is unstable: Accounting. Attempts failed recently.",
		);
		expect(projectSentence(four, healths({ ...UNSTABLE, dead_letters: 2 }, HEALTHY, HEALTHY, HEALTHY), NOW)).toBe(
			"1 of 4 webhooks is unstable: Accounting. Attempts failed recently. 2 deliveries failed for good.",
		);
		expect(projectSentence(four, healths(UNSTABLE, FAILING, HEALTHY, HEALTHY), NOW)).toMatch(
			/^1 of 4 webhooks is failing/,
		);
		expect(projectSentence(four.slice(0, 1), healths(UNSTABLE), NOW)).toMatch(/^Your webhook is unstable: Accounting/);
	});

	it("only says that everything works if it does", () => {
		expect(projectSentence(four, healths(HEALTHY, HEALTHY, HEALTHY, HEALTHY), NOW)).toBe("All 4 webhooks are healthy.");
		expect(projectSentence(four.slice(0, 1), healths(HEALTHY), NOW)).toBe("Your webhook is healthy.");
		const paused: HealthFacts = { ...HEALTHY, state: "paused" };
		const idle: HealthFacts = { ...HEALTHY, state: "idle" };
		expect(projectSentence(four, healths(HEALTHY, HEALTHY, paused, idle), NOW)).toBe(
			"No webhook is failing: 2 are healthy, 1 is paused, 1 has not been sent anything yet.",
		);
		// It said "yet" above the figures of webhooks that were deleted.
		expect(projectSentence([], [], NOW)).toBe("There are no webhooks, so nothing is sent.");
		const since = (...created: string[]) =>
			projectSentence(
				created.map((created_at, n) => ({ ...webhook(String(n)), created_at })),
				created.map((_, n) => ({ ...idle, webhook_id: String(n), logged_since: at(4, 0) })),
				NOW,
				30,
			);
		expect(since(at(4, 0), at(9, 0))).toBe("No webhook is failing: 2 have not been sent anything yet.");
		expect(since(at(3, 0), at(9, 0))).toBe("No webhook is failing: 2 have not been sent anything in the last 30 days.");
	});
});

describe("a webhook whose lane falls behind", () => {
	const late = { ...HEALTHY, backlog: { events: 12, oldest_at: at(14, 18) } };
	const [one, two] = [webhook("a", "Accounting"), webhook("b")];

	it("is named in the first line, however healthy its responses are", () => {
		expect(projectSentence([one, two], [health("a", late), health("b", HEALTHY)], NOW)).toBe(
			"Both webhooks are healthy. Accounting is behind: 12 events wait for their first attempt, the oldest for 12 min.",
		);
		expect(projectSentence([one, two], [health("a", late), health("b", late)], NOW)).toBe(
			"Both webhooks are healthy. 2 are behind: Accounting, b.example.",
		);
		expect(webhookSentence(late, NOW).text).toMatch(/^Accepting events, but behind: 12 events wait/);
	});

	it("isn't one that is paused, or whose events have only just come", () => {
		expect(isBehind({ ...late, state: "paused" }, NOW)).toBe(false);
		expect(isBehind({ ...late, backlog: { events: 3, oldest_at: new Date(NOW - 30_000).toISOString() } }, NOW)).toBe(
			false,
		);
	});
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

it("says what waits for paused webhooks", () => {
	const paused = { ...HEALTHY, state: "paused", backlog: { events: 8, oldest_at: at(14, 20) } } as const;
	const [a, b, c] = [webhook("a", "Accounting"), webhook("b", "Chat"), webhook("c", "News")];
	expect(projectSentence([a, b], [health("a", FAILING), health("b", paused)], NOW)).toBe(
		"1 of 2 webhooks is failing: Accounting has returned 500 since 14:02. 8 events wait for Chat, which is paused.",
	);
	const one = { ...paused, backlog: { events: 0, oldest_at: null }, waiting: { count: 1, tests: 0, next_at: null } };
	expect(projectSentence([a, b, c], [health("a", HEALTHY), health("b", paused), health("c", one)], NOW)).toBe(
		"No webhook is failing: 1 is healthy, 2 are paused. 9 deliveries wait for 2 webhooks that are paused.",
	);
	const none = { ...one, waiting: { count: 0, tests: 0, next_at: null } };
	expect(projectSentence([a, b], [health("a", HEALTHY), health("b", none)], NOW)).toBe(
		"No webhook is failing: 1 is healthy, 1 is paused.",
	);
});

// It said that both webhooks are healthy.
describe("of a webhook whose secret can't be read", () => {
	const mute = { ...webhook("a", "Accounting"), secret_state: "unreadable" } as const;
	const muteHealth = health("a", { ...HEALTHY, state: "failing" });
	const both = [muteHealth, health("b", HEALTHY)];

	it("the overview says so first, and then how the others are", () => {
		expect(projectSentence([mute, webhook("b")], both, NOW)).toBe(
			`Nothing is sent to ${isolated("Accounting")}: the service can't read its signing secret. The other webhook is healthy.`,
		);
		const say = (...others: HealthFacts[]) =>
			projectSentence(
				[mute, ...others.map(({ webhook_id }) => webhook(webhook_id))],
				[muteHealth, ...others],
				NOW,
			).split("secret. ")[1];
		expect(say(health("b", HEALTHY), health("c", HEALTHY))).toBe("Both other webhooks are healthy.");
		expect(say(health("b", FAILING), health("c", HEALTHY))).toMatch(/^1 of 2 other webhooks is failing: b/);
		const paused = { ...HEALTHY, state: "paused" } as const;
		expect(say(health("b", HEALTHY), health("c", paused))).toBe(
			"No other webhook is failing: 1 is healthy, 1 is paused.",
		);
		expect(projectSentence([mute, { ...mute, id: "b" }], both, NOW)).toMatch(/can't read their signing secrets\.$/);
	});

	// "Nothing is waiting now" was about the others.
	it("its events wait, too", () => {
		const unstable = health("b", { ...UNSTABLE, failing_since: null });
		const say = (events: number) =>
			projectSentence(
				[mute, webhook("b")],
				[{ ...muteHealth, backlog: { events, oldest_at: events === 0 ? null : at(14, 26) } }, unstable],
				NOW,
			);
		expect(say(0)).toMatch(/Attempts failed recently, but nothing is waiting now\.$/);
		expect(say(4)).toMatch(/Attempts failed recently\.$/);
	});

	it("a paused one is only paused", () => {
		const paused = { ...mute, status: "paused" } as const;
		expect(projectSentence([paused, webhook("b")], [health("a", { ...HEALTHY, state: "paused" }), both[1]!], NOW)).toBe(
			"No webhook is failing: 1 is healthy, 1 is paused.",
		);
	});
});

describe("listSentence", () => {
	it("counts", () => {
		expect(listSentence([FAILING, HEALTHY, HEALTHY, HEALTHY])).toBe("4 webhooks, 1 is failing.");
		expect(listSentence([HEALTHY])).toBe("1 webhook.");
		expect(listSentence([FAILING, FAILING, { state: "paused" }])).toBe("3 webhooks, 2 are failing, 1 is paused.");
		expect(listSentence([UNSTABLE, HEALTHY])).toBe("2 webhooks, none is failing, 1 is unstable.");
		expect(listSentence([])).toBe("Nothing is being sent.");
	});

	it("doesn't count what is true of all", () => {
		expect(listSentence([FAILING])).toBe("Your webhook is failing.");
		expect(listSentence([FAILING, FAILING])).toBe("Both webhooks are failing.");
		expect(listSentence(Array.from({ length: 1_200 }, () => ({ state: "paused" })))).toBe(
			"All 1,200 webhooks are paused.",
		);
	});
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

describe("figures", () => {
	it("adds up and says outcomes", () => {
		const sum = sumOutcomes([
			{ delivered: 310, retrying: 0, failed: 1 },
			{ delivered: 2, retrying: 3, failed: 0 },
		]);
		expect(sum).toEqual({ delivered: 312, retrying: 3, failed: 1 });
		expect(outcomesInWords(sum)).toBe(
			"312 attempts delivered, 3 attempts followed by a retry, 1 attempt failed for good",
		);
		expect(outcomesInWords(sumOutcomes([]))).toBe("no attempts");
	});
});

describe("checklist", () => {
	it("names the first step that is not done", () => {
		const none = { appInstalled: false, webhooks: 0, eventSeen: false, deliveryAccepted: false };
		expect(checklist(none).next).toBe("install");
		expect(checklist({ ...none, appInstalled: true }).next).toBe("webhook");
		expect(checklist({ ...none, appInstalled: true, eventSeen: true })).toEqual({
			done: new Set(["install", "event"]),
			next: "webhook",
		});
		expect(checklist({ appInstalled: true, webhooks: 2, eventSeen: true, deliveryAccepted: true }).next).toBeNull();
	});
});
