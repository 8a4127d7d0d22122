import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { until } from "../../../../testkit/src/until.ts";
import { COMMITS, REQUESTS } from "../../base/budgets.ts";
import { IdSource } from "../../base/ids.ts";
import { type Pause, Turns } from "../../base/turns.ts";
import { type AppendResult, type Params, StorageError } from "../../storage/port.ts";
import type { EventDraft } from "../engine.ts";
import { Publisher } from "./publisher.ts";

const DATA_BYTES = 256 * 1024;
const draft = (bytes: number) => ({ type: "delivery.success", data: JSON.stringify({ text: "x".repeat(bytes) }) });
const large = draft(DATA_BYTES);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A reader that returns two drafts at a time. */
function reader(drafts: EventDraft[]) {
	const all = {
		length: drafts.length,
		bytes: drafts.reduce((sum, { data }) => sum + data.length, 0),
		read: 0,
		next: (): EventDraft[] | null => {
			if (all.read >= drafts.length) return null;
			all.read += 2;
			return drafts.slice(all.read - 2, all.read);
		},
	};
	return all;
}

/** A storage whose commits end when the test says so. */
function setUp() {
	const clock = new VirtualClock();
	const locked = new Set<string>();
	const damaged = new Set<string>();
	const batches: string[][] = [];
	const ends: (() => void)[] = [];
	let seq = 0;
	const publisher = new Publisher({
		clock,
		disk: clock,
		ids: new IdSource(clock),
		maxEventBytes: 2 * DATA_BYTES,
		lanes: { appended: () => undefined, recheck: () => undefined },
		storage: {
			async appendEvents({ requests }: Params<"appendEvents">): Promise<AppendResult[]> {
				batches.push(requests.map(({ projectId }) => projectId));
				await new Promise<void>((resolve) => ends.push(resolve));
				if (requests.some(({ projectId }) => damaged.has(projectId)))
					throw new StorageError("unusable", "A page is damaged.");
				return requests.map(({ projectId, events }) =>
					locked.has(projectId)
						? { kind: "locked" }
						: {
								kind: "appended",
								events: events.map(({ createdAt }) => ({ seq: ++seq, createdAt, repeated: false })),
							},
				);
			},
		},
	});
	return {
		clock,
		locked,
		damaged,
		publisher,
		batches,
		async commitOne(): Promise<void> {
			ends.shift()?.();
			await turn();
			if (ends.length === 0 && clock.nextAt !== null) clock.advanceTo(clock.nextAt);
			await turn();
		},
	};
}

test("only the project that fills its share of the queue is refused; a full node is reported differently", async () => {
	const { publisher, commitOne } = setUp();
	const kinds = { published: 0, own: 0, node: 0 };
	const publish = async (projectId: string, what = large): Promise<void> => {
		const result = await publisher.publish(projectId, [what]);
		if (result.kind === "published") kinds.published += 1;
		else if (result.kind === "busy") kinds[result.whose] += 1;
	};
	const accepted = Math.floor(COMMITS.publishBytesWaitingPerProject / (DATA_BYTES + 400));
	const all = Array.from({ length: accepted + 10 }, () => publish("greedy"));
	await turn();
	expect(kinds).toEqual({ published: 0, own: 10, node: 0 });
	const small = draft(10);
	// However many projects are greedy, one with nothing pending finds room.
	for (let p = 0; p < 20; p++) for (let i = 0; i < accepted; i++) all.push(publish(`greedy ${p}`));
	await turn();
	expect(kinds.node).toBeGreaterThan(0);
	const before = { ...kinds };
	all.push(publish("quiet", small));
	await turn();
	expect(kinds).toEqual(before);
	expect(publisher.budget.used).toBeLessThanOrEqual(COMMITS.publishBytesWaiting);
	let over = false;
	void Promise.all(all).then(() => {
		over = true;
	});
	await until("all to return", async () => {
		await commitOne();
		return over;
	});
	expect(publisher.budget.used).toBe(0);
	expect(kinds.published + kinds.own + kinds.node).toBe(all.length);
});

test("a quiet project's event is in the next commits, however large another's backlog", async () => {
	const { publisher, batches, commitOne } = setUp();
	for (let i = 0; i < 50; i++) void publisher.publish("greedy", [large]);
	const published = publisher.publish("quiet", [draft(10)]);
	for (let i = 0; i < 3; i++) await commitOne();
	expect(batches.slice(0, 3).flat()).toContain("quiet");
	expect(await published).toMatchObject({ kind: "published" });
});

// Everyone's publish call in the same commit failed with it.
test("publishers of a project with a damaged log get an error; others in the same commit don't", async () => {
	const { publisher, damaged, batches, commitOne } = setUp();
	damaged.add("bad");
	const results: string[] = [];
	const publish = (projectId: string) =>
		publisher.publish(projectId, [draft(10)]).then(
			({ kind }) => results.push(`${projectId} ${kind}`),
			({ code }: StorageError) => results.push(`${projectId} ${code}`),
		);
	// Its calls come first in the batch.
	const all = Promise.all(["first", "bad", "bad", "a", "b", "c"].map(publish));
	await until("all to return", async () => {
		await commitOne();
		return results.length === 6;
	});
	await all;
	expect(batches[1]).toHaveLength(5);
	expect(results.sort()).toEqual([
		...["a published", "b published", "bad unusable", "bad unusable", "c published"],
		"first published",
	]);
	expect(publisher.budget.used).toBe(0);
});

test("publishers of a locked project get an error after a while; others continue", async () => {
	const { publisher, locked, clock, commitOne } = setUp();
	locked.add("held");
	const refused = publisher.publish("held", [draft(10)]);
	let over = false;
	void refused.then(() => {
		over = true;
	});
	for (let n = 0; !over; n++) {
		expect(n).toBeLessThan(1_000);
		const free = publisher.publish("free", [draft(10)]);
		let done = false;
		void free.then(() => {
			done = true;
		});
		await until("the other project's event to be appended", async () => {
			await commitOne();
			return done;
		});
		await commitOne();
		clock.advance(50);
		await turn();
	}
	expect(await refused).toEqual({ kind: "locked" });
	expect(publisher.budget.used).toBe(0);
});

// A 2 MiB batch was once checked and encoded in one turn of the event loop, while all other projects waited.
test.each([
	["large", 1_000, 2_000],
	["tiny", 1_000, 1],
])("a batch of %s events is encoded in slices, between which others publish", async (_, events, bytes) => {
	const { publisher, batches } = setUp();
	const loop: (() => void)[] = [];
	const turns = new Turns(REQUESTS.turnMs, { elapsed: () => 0, setImmediate: (run) => loop.push(run) });
	const slice = turns.slices("batch", REQUESTS.sliceBytes, REQUESTS.pieceBytes);
	let slices = 0;
	const pause: Pause = (bytes) => {
		const next = slice(bytes);
		if (next) slices += 1;
		return next;
	};
	let encoded = 0;
	const drafts = Array.from({ length: events }, () => draft(bytes));
	void publisher.publish("batch", reader(drafts), { pause, onEncoded: () => (encoded += 1) });
	void publisher.publish("quiet", [draft(10)]);
	expect(batches).toEqual([["quiet"]]);
	const work = (events - 2) * (drafts[0]!.data.length + REQUESTS.pieceBytes / 2);
	expect(encoded).toBe(0);
	while (loop.length > 0) {
		loop.shift()!();
		await turn();
	}
	expect(slices).toBeGreaterThanOrEqual(Math.floor(work / REQUESTS.sliceBytes));
	expect(encoded).toBe(1);
	expect(publisher.budget.heldBy("batch")).toBeGreaterThan(0);
});

test("a single event reaches storage before publish returns, however large it is", () => {
	const { publisher, batches } = setUp();
	const pause = () => Promise.reject(new Error("It paused."));
	void publisher.publish("one", [large], { pause });
	expect(batches).toEqual([["one"]]);
});

test("an event that may have been written is marked as such when appended again", async () => {
	// Otherwise it would be reported as repeated, and its lanes would not be notified.
	const clock = new VirtualClock();
	const asked: (boolean | undefined)[] = [];
	const publisher = new Publisher({
		clock,
		disk: clock,
		ids: new IdSource(clock),
		maxEventBytes: DATA_BYTES,
		lanes: { appended: () => undefined, recheck: () => undefined },
		storage: {
			appendEvents: async ({ requests }: Params<"appendEvents">): Promise<AppendResult[]> => {
				asked.push(requests[0]!.maybeWritten);
				if (asked.length === 1) return [{ kind: "locked", maybeWritten: true }];
				return [{ kind: "appended", events: [{ seq: 1, createdAt: 0, repeated: false }] }];
			},
		},
	});
	expect(await publisher.publish("one", [draft(10)])).toMatchObject({ kind: "published" });
	expect(asked).toEqual([undefined, true]);
});

test("data is measured in bytes, not characters", async () => {
	const { publisher } = setUp();
	const euros = (count: number) => ({ type: "delivery.success", data: JSON.stringify({ text: "€".repeat(count) }) });
	const bytes = Buffer.byteLength(euros(DATA_BYTES).data);
	const refused = { kind: "too_large", index: 1, bytes, limit: 2 * DATA_BYTES };
	expect(await publisher.publish("one", [euros(10), euros(DATA_BYTES)])).toEqual(refused);
});

test("a batch reads its next few events when its turn comes, and doesn't wait at the end", () => {
	const { publisher, batches } = setUp();
	const drafts = reader(Array.from({ length: 6 }, () => draft(10)));
	const readBefore: number[] = [];
	const pause: Pause = () => {
		readBefore.push(drafts.read);
		return null;
	};
	void publisher.publish("p", drafts, { pause });
	expect(readBefore).toEqual([2, 4]);
	expect(drafts.read).toBe(6);
	expect(batches).toEqual([["p"]]);
});

test("reports a batch's faults with their locations, up to a limit", async () => {
	const { publisher, batches } = setUp();
	const wrong = { type: "purchase.completed", data: '{"items":[1]}' };
	const result = await publisher.publish("p", [draft(10), { type: "no.such", data: "{}" }, draft(10)]);
	expect(result).toMatchObject({ kind: "invalid", faults: [{ index: 1, pointer: "/type" }] });
	const many = await publisher.publish("p", Array(1_000).fill(wrong));
	expect(many.kind === "invalid" && many.faults).toHaveLength(100);
	expect(await publisher.publish("p", [draft(10), draft(3 * DATA_BYTES)])).toMatchObject({
		kind: "too_large",
		index: 1,
	});
	expect(batches).toEqual([]);
	expect(publisher.budget.used).toBe(0);
});

test("an error from reading a batch is rethrown, nothing is written, and its queue space is freed", async () => {
	const { publisher, batches } = setUp();
	const drafts = reader([draft(10), draft(10), draft(10)]);
	const { next } = drafts;
	drafts.next = () => {
		if (drafts.read > 0) throw new RangeError("unreadable");
		return next();
	};
	await expect(publisher.publish("p", drafts)).rejects.toThrow("unreadable");
	expect(batches).toEqual([]);
	expect(publisher.budget.used).toBe(0);
});
