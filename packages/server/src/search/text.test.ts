import { VirtualClock } from "@posthorn/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SEARCH } from "../base/budgets.ts";
import type { AttemptSummary, FoundResponse, FoundText, Params, ResponseStep, TextStep } from "../storage/port.ts";
import { searchText, type TextPage, type TextPosition } from "./text.ts";

const EXCERPT = { excerpt: "", matchStart: 0, matchLength: 0 };

/** Two logs, given by the times of their entries, in their order, all of which match. Steps read one entry. */
class Logs {
	readonly #bodies: readonly number[];
	readonly #responses: readonly number[];
	readonly turns: string[] = [];
	readonly limits: Params<"searchBodies">["limit"][] = [];
	readonly clock = new VirtualClock();
	/** How long a step takes. */
	stepMs = 0;

	constructor(bodies: readonly number[], responses: readonly number[]) {
		this.#bodies = bodies;
		this.#responses = responses;
	}

	async searchBodies({ before, limit }: Params<"searchBodies">): Promise<TextStep> {
		const seq = (before ?? this.#bodies.length + 1) - 1;
		const publishedAt = this.#bodies[seq - 1];
		this.#read("body", limit);
		if (publishedAt === undefined) return { found: [], events: 0, reached: null, next: null };
		const found: FoundText = { seq, id: `evt_${seq}`, type: "a", createdAt: 0, publishedAt, ...EXCERPT };
		return { found: [found], events: 1, reached: publishedAt, next: seq === 1 ? null : seq };
	}

	async searchResponses({ before, limit }: Params<"searchResponses">): Promise<ResponseStep> {
		const no = (before === null ? this.#responses.length + 1 : Number(before)) - 1;
		const startedAt = this.#responses[no - 1];
		this.#read("response", limit);
		if (startedAt === undefined) return { found: [], attempts: 0, reached: null, next: null };
		const found: FoundResponse = { attempt: { id: String(no), startedAt } as AttemptSummary, createdAt: 0, ...EXCERPT };
		return { found: [found], attempts: 1, reached: startedAt, next: no === 1 ? null : String(no) };
	}

	#read(log: string, limit: Params<"searchBodies">["limit"]): void {
		this.turns.push(log);
		this.limits.push(limit);
		this.clock.advance(this.stepMs);
	}

	page(from: TextPosition, limit: number, isGone = () => false): Promise<TextPage> {
		return searchText(
			{ storage: this, clock: this.clock },
			{
				...{ projectId: "p", text: "ab", from, limit, isGone },
				inTurn: (step) => {
					this.turns.push("turn");
					return step();
				},
			},
		);
	}
}

const oldestFirst = (a: number, b: number) => a - b;
const newestFirst = (a: number, b: number) => b - a;

const told = ({ found }: TextPage): [string, number][] =>
	found.map((one) => (one.in === "body" ? ["body", one.match.publishedAt] : ["response", one.match.attempt.startedAt]));

// A step was once 2 MiB, for which all other reads of the node waited.
test("reads in short steps, each in its turn, until the client has left", async () => {
	const logs = new Logs([1, 3, 5, 7], [2, 4, 6, 8]);
	const page = await logs.page({}, 10, () => logs.limits.length === 3);
	expect(page).toMatchObject({ events: 1, attempts: 2, reached: 7, next: { bodies: 4, responses: "4" } });
	expect(told(page)).toEqual([
		["response", 8],
		["body", 7],
	]);
	expect(logs.turns).toEqual(["turn", "body", "turn", "response", "turn", "response"]);
	for (const { maxBytes } of logs.limits) expect(maxBytes).toBeLessThanOrEqual(262_144);
});

test("a log that isn't searched is left out", async () => {
	const page = await new Logs([1, 3], [2]).page({ responses: null }, 10);
	expect(told(page)).toEqual([
		["body", 3],
		["body", 1],
	]);
	expect(page).toMatchObject({ attempts: 0, reached: 1, next: null });
});

test("pages have everything in both logs once, newest first", async () => {
	const times = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 });
	await fc.assert(
		fc.asyncProperty(times, times, fc.integer({ min: 1, max: 5 }), async (bodies, responses, limit) => {
			const logs = new Logs(bodies.toSorted(oldestFirst), responses.toSorted(oldestFirst));
			const all: [string, number][] = [];
			for (let from: TextPosition | null = {}; from !== null; ) {
				const page: TextPage = await logs.page(from, limit);
				expect(page.found.length).toBeLessThanOrEqual(limit);
				if (page.next !== null) expect(page.found.length).toBe(limit);
				all.push(...told(page));
				from = page.next;
			}
			expect(all.map(([, time]) => time)).toEqual([...bodies, ...responses].sort(newestFirst));
			expect(all.flatMap(([log, time]) => (log === "body" ? [time] : []))).toEqual(bodies.toSorted(newestFirst));
		}),
	);
});

// An event that was created long ago, according to its publisher, was found again by each call, and nothing else was.
test("every call gets further, and all is found once, even if the times of entries are in no order", async () => {
	const times = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 });
	await fc.assert(
		fc.asyncProperty(times, times, fc.integer({ min: 1, max: 5 }), async (bodies, responses, limit) => {
			const logs = new Logs(bodies, responses);
			logs.stepMs = SEARCH.textMs;
			const all: [string, number][] = [];
			let calls = 0;
			for (let from: TextPosition | null = {}; from !== null; calls++) {
				expect(calls).toBeLessThanOrEqual(bodies.length + responses.length + 1);
				const page: TextPage = await logs.page(from, limit);
				all.push(...told(page));
				from = page.next;
			}
			const of = (log: string) => all.flatMap(([one, time]) => (one === log ? [time] : []));
			expect(of("body")).toEqual(bodies.toReversed());
			expect(of("response")).toEqual(responses.toReversed());
		}),
	);
});
