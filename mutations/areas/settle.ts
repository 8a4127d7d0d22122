import { of } from "../mutation.ts";
import { inEngine } from "../tests.ts";

/** What follows from an outcome, and how outcomes are committed. */
export const SETTLE = [
	...of("server/src/engine/settle/lifecycle.ts", inEngine("settle/lifecycle"), [
		{
			name: "lifecycle-skips-first-delay",
			find: "delaysMs[attempt - 1]",
			replace: "delaysMs[attempt]",
			why: "The first retry comes after the second delay, and a series has seven attempts.",
		},
		{
			name: "lifecycle-redirect-is-success",
			find: "outcome.status < 300",
			replace: "outcome.status < 400",
			why: "A receiver that has moved loses its events: a redirect counts as accepted.",
		},
		{
			name: "lifecycle-closed-is-retried",
			find: 'case "not_sent":\n\t\t\treturn "closed";',
			replace: 'case "not_sent":\n\t\t\treturn "failure";',
			tests: ["server/test/engine-memory.test.ts"],
			only: "age out|pending deliveries of a deleted webhook",
			why: "An expired attempt is retried for two hours before it is dead-lettered.",
		},
	]),
	...of("server/src/engine/settle/settler.ts", inEngine("settle/settler"), [
		{
			name: "settler-room-not-told",
			find: "\t\tthis.#callWaiting();\n",
			replace: "",
			why: "Lanes that stopped for lack of room stay stopped after the outage.",
			review: "settler.ts: callers waiting for room are never woken",
		},
		{
			name: "settler-unbounded",
			find: "limit: COMMITS.outcomesWaiting,",
			replace: "limit: Number.MAX_SAFE_INTEGER,",
			why: "In an outage of storage outcomes fill the memory, and a crash repeats all of them.",
			review: "settler.ts: waiting outcomes have no limit",
		},
		{
			name: "settler-damage-delays-all",
			find: "if (isPartial(error)) return this.#settleWritable(groups, apart);",
			replace: "",
			why: "A damaged page of one project keeps everyone's outcomes from being committed.",
		},
		{
			name: "settler-damaged-together-never-paused",
			find: "await sleep(this.#clock, this.#pauseMs);",
			replace: "",
			why: "While nothing can be written, statements are sent as fast as the database refuses them.",
		},
		{
			name: "settler-closed-is-settled",
			find: 'error.code === "closed") return;',
			replace:
				'error.code === "closed") {\n\t\t\t\t\tfor (const group of groups) group.result = "settled";\n\t\t\t\t\treturn;\n\t\t\t\t}',
			why: "Outcomes that were not written count as written when the node stops.",
		},
		{
			name: "settler-keeps-first-schedule",
			find: "if (delivery) deliveries.set(",
			replace:
				"if (delivery && !deliveries.values().some(({ schedule }) => schedule?.seq === delivery.seq)) deliveries.set(",
			why: "A delivery that failed and then succeeded within one commit is retried.",
		},
		{
			name: "settler-first-position",
			find: "if (lane) lanes.set(lane.webhookId, lane);",
			replace: "if (lane && !lanes.has(lane.webhookId)) lanes.set(lane.webhookId, lane);",
			why: "The first of several outcomes in a commit sets the lane's position, so a crash repeats the others.",
		},
		{
			name: "settler-old-generation",
			find: "\t\tfor (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {\n\t\t\tconst settlements = groups.map(settlementNow);\n",
			replace:
				"\t\tconst settlements = groups.map(settlementNow);\n\t\tfor (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {\n",
			why: "Outcomes that waited through a failover are refused, and their events are sent again.",
		},
		{
			name: "settler-locked-take-room",
			find: "\t\tthis.budget.give(projectId, outcomes);\n\t\tthis.#locked.set",
			replace: "\t\tthis.#locked.set",
			why: "A project with locked rows takes the room of others.",
		},
		{
			name: "settler-refuses-all",
			find: "for (const part of [groups.slice(0, half), groups.slice(half)]) await this.#settle(part, apart);",
			replace: 'for (const one of groups) one.result = "refused";',
			why: "One project's refused outcome has those of all others in its commit refused.",
		},
		{
			name: "settler-locked-waits-for-all",
			find: '|| error.code === "locked") return this.#settleHalves',
			replace: ") return this.#settleHalves",
			why: "One locked row that no statement looks for holds up the commits of all projects.",
		},
		{
			name: "settler-locked-starts-more",
			find: "return !this.#locked.has(projectId) && this.budget",
			replace: "return this.budget",
			why: "A project with locked rows keeps sending, and its outcomes accumulate without bound.",
		},
		{
			name: "settler-freed-not-counted",
			find: "\t\tthis.budget.hold(projectId, outcomes);\n",
			replace: "",
			why: "The bound of outcomes that wait becomes larger with each lock, as more is given back than was taken.",
		},
	]),
];
