import type { Bite } from "./bite.ts";

/** What follows from an attempt, and what is committed. */
export const SETTLE: readonly Bite[] = [
	{
		name: "delay from the wrong end",
		file: "packages/server/src/engine/actor/attempt.ts",
		find: "outcome.endedAt + next.delayMs",
		replace: "outcome.startedAt + next.delayMs",
		breaks: "The delay counts from the attempt's start.",
		style: "churn",
		firstSeed: 1,
		worlds: 6,
	},
	{
		name: "delay of the next attempt",
		file: "packages/server/src/engine/settle/lifecycle.ts",
		find: "const delay = delaysMs[attempt - 1];",
		replace: "const delay = delaysMs[attempt];",
		breaks: "Each retry waits as long as the next one should, and a series is one attempt too short.",
		style: "churn",
		firstSeed: 1,
		worlds: 6,
	},
	{
		name: "retry stays after success",
		file: "packages/server/src/engine/actor/attempt.ts",
		find: "unschedule: retry && !consequence.schedule ? { webhookId, seq: retry.seq } : null,",
		replace: "unschedule: null,",
		breaks: "A retry that succeeded stays in storage, and is made again.",
		style: "churn",
		firstSeed: 2,
		worlds: 6,
	},
	{
		name: "settled twice",
		file: "packages/server/test/storage/memory/settle.ts",
		find: 'if (rows.length > 0 && logged.every((row, i) => row?.id === rows[i]!.id)) return "settled";\n',
		replace:
			'if (rows.length > 0 && logged.every((row, i) => row?.id === rows[i]!.id)) {\n\t\tfor (const row of rows) countAttempt(node, row);\n\t\tmoveDeliveries(node, project, settlement, rows);\n\t\treturn "settled";\n\t}\n',
		breaks: "A commit whose answer was lost is applied again when it is repeated.",
		style: "churn",
		firstSeed: 24,
		worlds: 6,
	},
];
