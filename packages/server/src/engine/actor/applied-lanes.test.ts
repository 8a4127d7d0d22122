import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { PROJECTS } from "../../base/budgets.ts";
import type { LoadedLanes, Storage } from "../../storage/port.ts";
import { AppliedLanes } from "./applied-lanes.ts";
import type { Message } from "./context.ts";
import type { OpenedKeys } from "./lane-set.ts";

/** Reads of lanes that return when the test says so. */
class Reads {
	readonly asked: { readonly webhookId: string | null; readonly answer: (revision: number) => void }[] = [];
	readonly applied: number[] = [];
	readonly clock = new VirtualClock();
	/** The keys being opened for the lanes that are read. */
	opening: Promise<OpenedKeys> | null = null;
	/** How long applying them takes. */
	takesMs = 0;
	readonly lanes: AppliedLanes;

	constructor() {
		const loadLanes = ({ webhookId = null }: { readonly webhookId: string | null }): Promise<LoadedLanes> =>
			new Promise((resolve) => {
				const answer = (revision: number): void =>
					resolve({ lanes: [], seen: { lastSeq: 0, revision }, handedOver: [] });
				this.asked.push({ webhookId, answer });
			});
		const post = (message: Message): void => {
			if (message.kind !== "loaded") return;
			this.applied.push(message.loaded.seen.revision);
			this.lanes.apply(message);
			message.done();
		};
		const context = { storage: { loadLanes } as unknown as Storage, clock: this.clock };
		const work = { projectId: "proj_1", context, post, reader: { lastSeq: 0, reaches: () => {} } };
		const none = {
			load: () => {
				this.clock.advance(this.takesMs);
				return [];
			},
			openKeys: () => this.opening,
			get: () => null,
			mark: () => {},
			announceAll: () => {},
			[Symbol.iterator]: () => [].values(),
		};
		this.lanes = new AppliedLanes(work as never, none as never, () => {});
		const loaded = { lanes: [], seen: { lastSeq: 0, revision: 10 }, handedOver: [] };
		this.lanes.apply({ kind: "loaded", loaded, only: null, done: () => {} });
	}
}

test("a change of one webhook reads its lane", async () => {
	const reads = new Reads();
	const loaded = reads.lanes.load({ webhookId: "wh_1", since: 10 });
	reads.asked[0]!.answer(11);
	await loaded;
	expect(reads.asked.map(({ webhookId }) => webhookId)).toEqual(["wh_1"]);
	expect(reads.applied).toEqual([11]);
});

// If this lane was applied first, the older read of all lanes was dropped, including its attempts in flight elsewhere.
test("a change of one webhook during a read of all lanes reads them all again", async () => {
	const reads = new Reads();
	const all = reads.lanes.load(null);
	await Promise.resolve();
	const one = reads.lanes.load({ webhookId: "wh_1", since: 10 });
	reads.asked[0]!.answer(10);
	await all;
	reads.asked[1]!.answer(11);
	await one;
	expect(reads.asked.map(({ webhookId }) => webhookId)).toEqual([null, null]);
	expect(reads.applied).toEqual([10, 11]);
});

// Ten people who changed webhooks of a project with 5,000 kept the event loop busy.
test("a project rests between reads of all lanes, the longer applying them takes", async () => {
	const reads = new Reads();
	reads.takesMs = 5;
	const first = reads.lanes.load(null);
	await Promise.resolve();
	const second = reads.lanes.load(null);
	reads.asked[0]!.answer(11);
	await first;
	await turn();
	expect(reads.asked).toHaveLength(1);
	reads.clock.advance(5 * PROJECTS.lanesRest);
	await turn();
	reads.asked[1]!.answer(12);
	await second;
	expect(reads.applied).toEqual([11, 12]);
});

// The next read once began, without a rest, while the secrets of the last one were still being opened.
test("the next read waits until the last one is applied", async () => {
	const reads = new Reads();
	const opened = Promise.withResolvers<OpenedKeys>();
	reads.opening = opened.promise;
	const first = reads.lanes.load(null);
	await Promise.resolve();
	const second = reads.lanes.load(null);
	reads.asked[0]!.answer(11);
	await turn();
	expect([reads.asked.length, reads.applied]).toEqual([1, []]);
	reads.opening = null;
	opened.resolve(new Map());
	await first;
	await turn();
	reads.asked[1]!.answer(12);
	await second;
	expect(reads.applied).toEqual([11, 12]);
});

test("a rest is short even if the machine slept while lanes were applied", async () => {
	const reads = new Reads();
	reads.takesMs = 3_600_000;
	const first = reads.lanes.load(null);
	await Promise.resolve();
	reads.asked[0]!.answer(11);
	await first;
	const second = reads.lanes.load(null);
	await turn();
	reads.clock.advance(PROJECTS.lanesRestMs);
	await turn();
	reads.asked[1]!.answer(12);
	await second;
	expect(reads.applied).toEqual([11, 12]);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
