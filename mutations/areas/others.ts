import { of } from "../mutation.ts";
import { inApi } from "../tests.ts";

/** Spots elsewhere that a review found untested. */
export const OTHERS = [
	...of(
		"server/src/base/repeated-failure.ts",
		["server/src/base/repeated-failure.test.ts"],
		[
			{
				name: "failing-project-unnamed",
				find: "this.#unnamed.size > 0 && now - this.#loggedAt >= FIRST_MS",
				replace: "false",
				why: "The log doesn't say for ten minutes that another project fails.",
			},
		],
	),
	...of(
		"server/src/config/parsers.ts",
		["server/src/config/read-config.test.ts"],
		[
			{
				name: "parsers-seconds-cut",
				find: "Math.round(value * unit)",
				replace: "Math.floor(value * unit)",
				only: "nearest millisecond",
				why: "1.001 seconds are read as 1,000 milliseconds.",
				review: "parsers.ts: seconds are rounded down",
			},
		],
	),
	...of(
		"dashboard/src/lib/attempts/advice/by-status.ts",
		["dashboard/src/lib/attempts/advice/advice.test.ts"],
		[
			{
				name: "advice-of-500",
				find: "if (status >= 500) {",
				replace: "if (status > 500) {",
				why: "The dashboard gives no advice about the most common failure.",
				review: "by-status.ts: status 500 has no advice",
			},
		],
	),
	...of(
		"server/src/registry/health.ts",
		["server/src/registry/health.test.ts", "server/src/registry/health-reads.test.ts"],
		[
			{
				name: "health-flaps",
				find: "failedInARow >= HEALTH.failingAttempts &&",
				replace: "failedInARow > 0 &&",
				why: "A webhook is failing after a single failed attempt.",
			},
			{
				name: "health-blip",
				find: " && now - failingSince.startedAt >= HEALTH.failingSeconds * 1_000",
				replace: "",
				why: "A busy webhook is failing for as long as its receiver restarts.",
			},
			{
				name: "health-without-secret",
				find: 'if (secretState !== "usable") return "failing";',
				replace: "",
				why: "A webhook to which nothing can be sent counts as healthy, and no alert is sent.",
			},
			{
				name: "health-ahead",
				find: "webhookIds: step, ...window })",
				replace: "webhookIds: step, since: window.since })",
				why: "After a clock was ahead, a webhook that failed meanwhile stays failing until that time.",
			},
		],
	),
	...of(
		"server/src/search/deliveries.ts",
		["server/src/search/deliveries.test.ts"],
		[
			{
				name: "deliveries-listed-twice",
				find: " && fits(filter, row) && !shown.has(keyOf(row))",
				replace: " && fits(filter, row)",
				why: "A page has a replay twice if its first attempt fails while it is read.",
			},
			{
				name: "deliveries-ended-is-pending",
				find: 'one.last?.status === "retrying"',
				replace: "one.last !== null",
				why: "A delivery that has just ended is listed as pending.",
			},
		],
	),
	...of(
		"dashboard/src/api/client/client.ts",
		["dashboard/src/api/client/client.test.ts"],
		[
			{
				name: "session-refused-without-end",
				find: "if (RIGHTS_CHANGED.has(error.code)) void",
				replace: "if (error.status === 403) void",
				why: "Behind a firewall that refuses it, each tab asks for the session hundreds of times per second.",
			},
		],
	),
	...of("server/src/api/signatures/diagnose.ts", inApi("signature-check"), [
		{
			name: "signature-check-by-notation",
			find: "return isExplained(other) ? other : likely;",
			replace: "return likely;",
			why: "A right signature of Standard Webhooks in hexadecimal is said to come from a wrong secret.",
		},
	]),
	...of("server/src/api/changes.ts", inApi("remote-changes"), [
		{
			name: "remote-changes-first-read-ignored",
			find: "const hasGrown = seen?.mark.lastSeq !== mark.lastSeq;",
			replace: "const hasGrown = seen !== undefined && seen.mark.lastSeq !== mark.lastSeq;",
			why: "A call that waits misses an event that another node published just before the first read.",
		},
	]),
];
