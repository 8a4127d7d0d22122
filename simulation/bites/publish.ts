import type { Bite } from "./bite.ts";

/** How events get into the log. */
export const PUBLISH: readonly Bite[] = [
	{
		name: "acknowledged without a commit",
		file: "packages/server/src/engine/publish/publisher.ts",
		find: "for (const { reject } of batch) reject(error);",
		replace:
			'for (const { request, resolve } of batch)\n\t\t\t\tresolve({ kind: "appended", events: request.events.map(() => ({ seq: 1, createdAt: 0, repeated: false })) });',
		breaks: "Events whose commit failed are acknowledged.",
		style: "shop",
		firstSeed: 7,
		worlds: 6,
	},
];
