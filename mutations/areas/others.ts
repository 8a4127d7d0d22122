import { of } from "../mutation.ts";
import { inApi } from "../tests.ts";

/** Spots elsewhere that a review found untested. */
export const OTHERS = [
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
		["server/src/registry/health.test.ts"],
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
		],
	),
	...of("server/src/api/changes.ts", inApi("remote-changes"), [
		{
			name: "remote-changes-first-read-ignored",
			find: "const hasGrown = seen?.mark.lastSeq !== mark.lastSeq;",
			replace: "const hasGrown = seen !== undefined && seen.mark.lastSeq !== mark.lastSeq;",
			why: "A call that waits misses an event that another node published just before the first read.",
		},
	]),
];
