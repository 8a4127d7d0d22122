import { of } from "../mutation.ts";
import { inEngine } from "../tests.ts";

/** How events are checked and appended, and how calls share commits. */
export const PUBLISH = [
	...of("server/src/engine/publish/publisher.ts", inEngine("publish/publisher"), [
		{
			name: "publisher-never-busy",
			find: 'if (whose !== null) return { kind: "busy", whose };',
			replace: "",
			why: "Publishers fill the memory while storage is slow.",
			review: "publisher.ts: never busy",
		},
		{
			name: "publisher-room-never-given-back",
			find: ".finally(() => this.budget.give(projectId, bytes))",
			replace: "",
			why: "After a few minutes every publish is refused as busy.",
		},
		{
			name: "publisher-forgets-maybe-written",
			find: "if (appended.result.maybeWritten) waiting.request = { ...waiting.request, maybeWritten: true };",
			replace: "",
			why: "An event that a commit without a response wrote is reported as repeated, and not given to the lanes at once.",
		},
		{
			name: "publisher-damage-fails-all",
			find: "ownerOf: ({ request }) => request.projectId,\n\t\t\tnumber",
			replace: 'ownerOf: () => "",\n\t\t\tnumber',
			why: "A damaged page of one project fails the publish calls that share a commit with its events.",
		},
		{
			name: "publisher-encodes-at-once",
			find: "if (index < drafts.length) yield bytes;",
			replace: "yield* [];",
			why: "A large batch stops the event loop for everyone while it is encoded.",
		},
		{
			name: "check-first-event-only",
			find: "if (tooLarge === null) for (const fault of faultsOf(draft, now)) faults.push({ index, ...fault });",
			replace: "if (index === 0) for (const fault of faultsOf(draft, now)) faults.push({ index, ...fault });",
			tests: ["server/src/api/events.test.ts"],
			why: "Only the first event of a batch is checked.",
		},
		{
			name: "publisher-too-large-by-characters",
			find: "return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;",
			replace: "return text.length > bytes;",
			why: "Events of other alphabets may be three times as large as is allowed.",
		},
	]),
	...of("server/src/engine/publish/check.ts", inEngine("publish/check"), [
		{
			name: "check-clock-ahead",
			find: "createdAt > now + MAX_AHEAD_MS",
			replace: "createdAt >= now + MAX_AHEAD_MS",
			why: "A publisher whose clock is exactly as far ahead as is allowed is refused.",
		},
	]),
	...of("server/src/engine/publish/check.ts", inEngine("publish/check"), [
		{
			name: "lexical-large-integers",
			find: "if (!Number.isSafeInteger(Number(literal)))",
			replace: "if (Number.isNaN(Number(literal)))",
			why: "Amounts beyond 2^53 reach receivers that read other digits.",
		},
		{
			name: "lexical-repeated-members",
			find: "if (seen.has(name)) {",
			replace: 'if (seen.has(name) && name === "") {',
			why: "Receivers disagree about which of two amounts in one event counts.",
		},
	]),
	...of(
		"server/src/base/repeated-failure.ts",
		["server/src/base/repeated-failure.test.ts"],
		[
			{
				name: "failure-ends-with-any-success",
				find: "(this.#overAt !== null && now - this.#overAt >= FIRST_MS)",
				replace: "this.#overAt !== null",
				why: "A project that fails while others succeed writes a stack into the log with each try.",
			},
			{
				name: "failure-hidden-after-outage",
				find: "!this.#isLogged && now - this.#againAt >= FIRST_MS",
				replace: "false",
				why: "An outage that begins soon after a long one isn't in the log for ten minutes.",
			},
		],
	),
	...of(
		"server/src/base/group-commit.ts",
		["server/src/base/group-commit.test.ts"],
		[
			{
				name: "group-commit-whole-batch-a-turn",
				find: "owner.deficit += turn;",
				replace: "owner.deficit += maxWeight;",
				why: "A project with a backlog fills batch after batch; others wait for all of it.",
			},
			{
				name: "group-commit-order-after-lock",
				find: "owner.items = [...items, ...owner.items];",
				replace: "owner.items = [...owner.items, ...items];",
				why: "Events of a project that was locked are numbered out of order.",
			},
			{
				name: "group-commit-endless-patience",
				find: "if (!owner.patience) this.#startPatience(owner);",
				replace: "this.#startPatience(owner);",
				why: "Publishers to a locked project never get a response.",
			},
			{
				name: "group-commit-many-wait",
				find: "while (this.#apart < APART_AT_ONCE && this.#wantApart.length > 0)",
				replace: "while (this.#wantApart.length > 0)",
				why: "Locked projects take all connections while they wait.",
			},
			{
				name: "group-commit-drains-early",
				find: "return !this.#committing && this.#owners.size === 0;",
				replace: "return !this.#committing;",
				why: "A stopping node loses outcomes that wait for a lock.",
			},
		],
	),
];
