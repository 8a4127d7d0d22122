import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import { type Acknowledgement, type AlarmMark, type PeerStorage, StorageError } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import type { ActorContext } from "../actor/context.ts";
import { Peers } from "./peers.ts";

const TERM_MS = 10_000;

/** What a test changes of an actor, and the kinds of messages that it got. */
interface Stub {
	mark: AlarmMark | null;
	inCharge: boolean;
	readonly lease: { isSuspended: boolean };
	readonly posted: string[];
}

/** A node that runs "p1", of which it applies revision 1 and knows two events, on storage that does what the test says. */
function setUp(storage: Partial<PeerStorage> = {}) {
	const clock = new VirtualClock();
	const lease = { current: { projectId: "p1", generation: 1, expiresAt: TERM_MS }, isSuspended: false };
	const stub: Stub = { mark: { lastSeq: 2, revision: 1 }, inCharge: true, lease, posted: [] };
	const actor = Object.assign(stub, {
		projectId: "p1",
		post: ({ kind }: { readonly kind: string }) => void stub.posted.push(kind),
	}) as unknown as Actor;
	const actors = new Map([["p1", actor]]);
	const acknowledged: number[] = [];
	const reloaded: Actor[] = [];
	let isLocked = false;
	const all: Partial<PeerStorage> = {
		acknowledge: async ({ acknowledgements }): Promise<Acknowledgement[]> => {
			acknowledged.push(...acknowledgements.map(({ revision }) => revision));
			return isLocked ? [...acknowledgements] : [];
		},
		leave: async () => undefined,
		...storage,
	};
	const context = { clock, disk: clock, logger: silentLogger, holder: "node", leaseTermMs: TERM_MS };
	const peers = new Peers(context as unknown as ActorContext, {
		storage: all as PeerStorage,
		actors,
		reload: async (one) => void reloaded.push(one),
	});
	/** Advances the clock, timer by timer. */
	const pass = async (ms: number): Promise<void> => {
		for (const end = clock.elapsed() + ms; clock.elapsed() < end; ) {
			clock.advanceTo(Math.min(end, clock.nextAt ?? end));
			await turn();
		}
	};
	const lock = (locked: boolean): void => {
		isLocked = locked;
	};
	return { clock, peers, actor, actors, stub, acknowledged, reloaded, lock, pass };
}

const marksOf = (lastSeq: number, revision: number) => new Map([["p1", { lastSeq, revision }]]);

test("what an actor learns while marks are being read doesn't make its log seem to have gone back", async () => {
	const { peers, stub, reloaded } = setUp();
	const receive = peers.beforeRead(["p1"]);
	stub.mark = { lastSeq: 5, revision: 2 };
	await receive(marksOf(3, 1));
	expect([stub.posted, reloaded]).toEqual([[], []]);
	await peers.beforeRead(["p1"])(marksOf(4, 2));
	expect(stub.posted).toEqual(["rewound"]);
});

test("acknowledges each revision once, and none while another node may use a lease that the database has lost", async () => {
	const { peers, actor, stub, acknowledged } = setUp();
	stub.lease.isSuspended = true;
	await peers.acknowledge([actor]);
	expect(acknowledged).toEqual([]);
	stub.lease.isSuspended = false;
	for (let n = 0; n < 2; n++) await peers.acknowledge([actor]);
	stub.mark = { lastSeq: 2, revision: 2 };
	await peers.acknowledge([actor]);
	expect(acknowledged).toEqual([1, 2]);
});

test("an acknowledgement is repeated while another session has locked the lease's row", async () => {
	const { peers, actor, acknowledged, lock, pass } = setUp();
	lock(true);
	await peers.acknowledge([actor]);
	await pass(150);
	// After 10, 20, 40 and 80 milliseconds more.
	expect(acknowledged).toHaveLength(5);
	lock(false);
	await pass(60_000);
	expect(acknowledged).toHaveLength(6);
});

test.each([
	["the actor has ended", ({ actors }: ReturnType<typeof setUp>) => actors.clear()],
	["the node leaves", ({ peers }: ReturnType<typeof setUp>) => peers.leave()],
])("a locked acknowledgement isn't repeated once %s", async (_, end) => {
	const node = setUp();
	node.lock(true);
	await node.peers.acknowledge([node.actor]);
	await end(node);
	await node.pass(60_000);
	expect(node.acknowledged).toHaveLength(1);
});

/** A change of a project that another node runs, and when it returned, in milliseconds since then. */
async function changeElsewhere(isInForce: () => Promise<boolean>) {
	const node = setUp({ readMarks: async () => marksOf(2, 7), isInForce });
	node.stub.inCharge = false;
	const begun = node.clock.elapsed();
	const ended: unknown[] = [];
	node.peers.untilInForce("p1").then(
		() => ended.push(node.clock.elapsed() - begun),
		(error: StorageError) => ended.push(error.code),
	);
	await turn();
	return { ...node, ended };
}

test("a change waits until the owner applies it, even if storage fails meanwhile", async () => {
	let isApplied = false;
	let isAway = true;
	const { ended, pass } = await changeElsewhere(async () => {
		if (isAway) throw new StorageError("lost", "The database is away.");
		return isApplied;
	});
	await pass(1_000);
	isAway = false;
	await pass(1_000);
	expect(ended).toEqual([]);
	isApplied = true;
	await pass(20);
	expect(ended).toEqual([2_020]);
});

test("a change waits for the owner for no more than one and a half lease durations", async () => {
	const { ended, pass } = await changeElsewhere(async () => false);
	await pass(1.5 * TERM_MS - 20);
	expect(ended).toEqual([]);
	await pass(20);
	expect(ended).toEqual([1.5 * TERM_MS]);
});

test("a change doesn't wait for storage that is closed", async () => {
	const { ended } = await changeElsewhere(async () => {
		throw new StorageError("closed", "The storage is closed.");
	});
	expect(ended).toEqual(["closed"]);
});

/** Resolves when everything that can settle now has settled. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
