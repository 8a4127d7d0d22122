import type { Bite } from "./bite.ts";

/** How events get into the log, and to those who poll it. */
export const PUBLISH: readonly Bite[] = [
	{
		name: "acknowledged without a commit",
		file: "packages/server/src/engine/publish/publisher.ts",
		find: "waiting.reject(appended.error);",
		replace:
			'waiting.resolve({ kind: "appended", events: waiting.request.events.map(() => ({ seq: 1, createdAt: 0, repeated: false })) });',
		breaks: "Events whose commit failed are acknowledged.",
		style: "shop",
		firstSeed: 7,
		worlds: 6,
	},
	{
		name: "readers not told of a lost tail",
		file: "packages/server/src/api/routes/publishing/events.ts",
		find: "position.epoch !== undefined && position.epoch !== epoch",
		replace: "false",
		breaks: "After a failover, a reader that has read lost events skips the ones that got their numbers.",
		style: "shared",
		firstSeed: 20,
		worlds: 6,
	},
	{
		name: "page ends one too far",
		file: "packages/server/src/api/routes/publishing/events.ts",
		find: "const lastSeq = events.at(-1)?.seq ?? after;",
		replace: "const lastSeq = (events.at(-1)?.seq ?? after) + (rows.length > limit ? 1 : 0);",
		breaks: "A reader misses the event behind each full page.",
		style: "shop",
		firstSeed: 1,
		worlds: 10,
	},
];
