import { describe, expect, it } from "vitest";
import { isolated } from "../text/names.ts";
import { answered, at, FAILING, HEALTHY, health, NOW, UNSTABLE, unanswered, webhook } from "./health.fixture.ts";
import { type HealthFacts, isBehind } from "./health-facts.ts";
import { listSentence, projectSentence } from "./project-words.ts";
import { webhookSentence } from "./webhook-words.ts";

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
