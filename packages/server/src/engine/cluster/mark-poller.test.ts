import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import type { AlarmMark, HintListener } from "../../storage/port.ts";
import { MarkPoller, type Marks, type MarkWatcher } from "./mark-poller.ts";

const POLL_MS = 1_000;
const HINT_GAP_MS = 50;
const MARK: AlarmMark = { lastSeq: 1, revision: 1 };

/** A watcher of some projects that notes which marks it receives. */
class Watcher implements MarkWatcher {
	readonly projectIds: Set<string>;
	readonly received: string[][] = [];
	/** What it does with marks. */
	react: () => Promise<void> = async () => undefined;

	constructor(...projectIds: string[]) {
		this.projectIds = new Set(projectIds);
	}

	watches(projectId: string): boolean {
		return this.projectIds.has(projectId);
	}

	beforeRead(projectIds: readonly string[]): (marks: Marks) => Promise<void> {
		const mine = projectIds.filter((projectId) => this.watches(projectId));
		return (marks) => {
			this.received.push(mine.filter((projectId) => marks.has(projectId)));
			return this.react();
		};
	}
}

/** Lets everything that isn't waiting for the clock or a test run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const isUnowned = (projectId: string): boolean => projectId.startsWith("unowned");

function setUp(...watchers: Watcher[]) {
	const clock = new VirtualClock();
	const reads: (readonly string[])[] = [];
	const unowned: (readonly string[])[] = [];
	let listener: HintListener | null = null;
	const storage = {
		/** Runs before each read. */
		beforeRead: async (): Promise<void> => undefined,
		async readMarks({ projectIds }: { readonly projectIds: readonly string[] }) {
			reads.push(projectIds);
			await storage.beforeRead();
			return new Map(projectIds.map((projectId) => [projectId, MARK]));
		},
		subscribe(listen: HintListener) {
			listener = listen;
			return () => {
				listener = null;
			};
		},
	};
	const onUnowned = (projectIds: readonly string[]): void => void unowned.push(projectIds);
	const poller = new MarkPoller({ storage, clock, logger: silentLogger, onUnowned });
	for (const watcher of watchers) poller.watch(watcher);
	poller.start();
	const advance = async (ms: number): Promise<void> => {
		clock.advance(ms);
		await settle();
	};
	const hint = async (...projectIds: string[]): Promise<void> => {
		listener?.(projectIds, projectIds.filter(isUnowned));
		await settle();
	};
	return { clock, storage, poller, reads, unowned, advance, hint, isSubscribed: () => listener !== null };
}

test("one read serves all watchers, each project once", async () => {
	const [first, second] = [new Watcher("a", "b"), new Watcher("b", "c")];
	const { reads, advance } = setUp(first, second);
	await advance(POLL_MS - 1);
	expect(reads).toEqual([]);
	await advance(1);
	expect(reads).toEqual([["a", "b", "c"]]);
	expect([first.received, second.received]).toEqual([[["a", "b"]], [["b", "c"]]]);
	await advance(POLL_MS);
	expect(reads).toHaveLength(2);
});

test("reads nothing while nothing is watched", async () => {
	const watcher = new Watcher();
	const { reads, advance, hint } = setUp(watcher);
	await hint("a");
	await advance(3 * POLL_MS);
	expect(reads).toEqual([]);
	watcher.projectIds.add("a");
	await advance(POLL_MS);
	expect(reads).toEqual([["a"]]);
});

test("a hint is read immediately, and those within the gap together after it", async () => {
	const { reads, advance, hint } = setUp(new Watcher("a", "b"));
	await hint("a", "other");
	expect(reads).toEqual([["a"]]);
	await hint("b");
	await hint("a", "b");
	expect(reads).toHaveLength(1);
	await advance(HINT_GAP_MS);
	expect(reads.slice(1)).toEqual([["b", "a"]]);
	await advance(HINT_GAP_MS);
	await hint("a");
	expect(reads).toHaveLength(3);
});

test("passes on only projects that may have no holder, watched or not", async () => {
	const { unowned, advance, hint } = setUp(new Watcher("a"));
	await hint("a", "b", "unowned 1");
	await hint("unowned 2");
	await hint("b", "unowned 2", "unowned 3");
	expect(unowned).toEqual([["unowned 1"]]);
	await advance(HINT_GAP_MS);
	expect(unowned.slice(1)).toEqual([["unowned 2", "unowned 3"]]);
	await advance(HINT_GAP_MS);
	await hint("b");
	expect(unowned).toHaveLength(2);
});

test("a project that is hinted at while it is read is read again", async () => {
	const { storage, reads, hint, advance } = setUp(new Watcher("a"));
	const slow = Promise.withResolvers<void>();
	storage.beforeRead = () => slow.promise;
	await hint("a");
	await hint("a");
	await advance(HINT_GAP_MS);
	expect(reads).toEqual([["a"]]);
	slow.resolve();
	await settle();
	expect(reads).toEqual([["a"], ["a"]]);
});

test("reads run one at a time, in batches, hinted projects first", async () => {
	const ids = Array.from({ length: 2_500 }, (_, i) => `p${i}`);
	const { storage, reads, advance, hint } = setUp(new Watcher(...ids));
	let [running, most] = [0, 0];
	const slow = Promise.withResolvers<void>();
	storage.beforeRead = async () => {
		most = Math.max(most, ++running);
		await slow.promise;
		running--;
	};
	await advance(POLL_MS);
	await hint("p2499");
	await advance(POLL_MS);
	slow.resolve();
	await settle();
	expect(most).toBe(1);
	expect(reads.map(({ length }) => length)).toEqual([1_000, 1_000, 1_000, 500]);
	expect(reads[1]![0]).toBe("p2499");
});

test("a watcher that takes long delays no read", async () => {
	const watcher = new Watcher("a", "b");
	const { reads, poller, advance, hint } = setUp(watcher);
	const slow = Promise.withResolvers<void>();
	watcher.react = () => slow.promise;
	await hint("a");
	await advance(POLL_MS);
	expect(reads).toEqual([["a"], ["a", "b"]]);
	let stopped = false;
	const stopping = poller.stop().then(() => {
		stopped = true;
	});
	await settle();
	expect(stopped).toBe(false);
	slow.resolve();
	await stopping;
});

test("a failed read and a failed reaction are repeated with the next poll", async () => {
	const watcher = new Watcher("a");
	const { storage, reads, advance } = setUp(watcher);
	storage.beforeRead = () => Promise.reject(new Error("away"));
	await advance(POLL_MS);
	expect([reads.length, watcher.received.length]).toEqual([1, 0]);
	storage.beforeRead = async () => undefined;
	watcher.react = () => Promise.reject(new Error("away"));
	await advance(POLL_MS);
	await advance(POLL_MS);
	expect([reads.length, watcher.received.length]).toEqual([3, 2]);
});

test("reads nothing once it has stopped", async () => {
	const { clock, poller, reads, hint, isSubscribed } = setUp(new Watcher("a"));
	await hint("a");
	await poller.stop();
	expect([isSubscribed(), clock.nextAt]).toEqual([false, null]);
	expect(reads).toHaveLength(1);
});
