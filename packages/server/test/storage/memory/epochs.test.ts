/** A standby that lacks the last commits replaces the primary, as in `postgres/leases/epochs.test.ts`. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Claim, Lease, LostTail, Storage } from "../../../src/storage/port.ts";
import { storedGeneration } from "../../../src/storage/shared/leases.ts";
import { describeClaims } from "../conformance/claims.ts";
import { START, WIDE, type World } from "../conformance/world.ts";
import { keptClaims } from "./claims.ts";
import { LEASE_TERM_MS, MemoryWorld } from "./world.ts";

let memory: MemoryWorld;
let world: World;
let storage: Storage;
let lost: LostTail[];
let events: string[];
/** Projects from before the failover: the standby has all, part or none of each. */
let [kept, cut, gone] = ["", "", ""];
let [keptHook, cutHook] = ["", ""];
let [epochBefore, otherBefore] = ["", ""];
let leases: Lease[];
let claims: Claim[];
let other: Storage;

beforeEach(async () => {
	[lost, events, claims] = [[], [], []];
	memory = await MemoryWorld.open({ lostTail: (tail) => lost.push(tail) });
	({ world, storage } = memory);
	other = await memory.node();
	storage.peers!.onEpoch(() => events.push("told"), {
		claims: () => {
			events.push("asked");
			return claims;
		},
		begun: (leases, opensInMs) => {
			events.push(`begun with ${leases.map(({ projectId }) => projectId)} in ${opensInMs}`);
		},
	});
	[epochBefore, otherBefore] = [storage.epoch, other.epoch];
	[kept, cut] = [await world.project(), await world.project()];
	[keptHook, cutHook] = [await world.webhook(kept, ["a"]), await world.webhook(cut, ["a"])];
	await world.publish(kept, "a", "a");
	await world.publish(cut, "a", "a", "a");
	leases = [await world.lease(kept), await world.lease(cut)];
	for (const lease of leases) await storage.peers!.acknowledge({ acknowledgements: [{ lease, revision: 1 }] });
	const standby = memory.database.snapshot();
	await world.publish(cut, "a", "new", "a", "a");
	gone = await world.project();
	await world.publish(gone, "a");
	const of = { holder: "node_a", revision: 1, event: null, attempt: null };
	claims = [
		{ ...of, lease: leases[0]!, lastSeq: 2 },
		{ ...of, lease: leases[1]!, lastSeq: 7 },
	];
	memory.database.restore(standby);
});

/** The node finds out on its next call. */
async function meet(node = storage): Promise<void> {
	await expect(node.ping()).rejects.toMatchObject({ code: "lost" });
	await node.ping();
}

test("is reported before anything is read, and starts another epoch", async () => {
	const [first, second] = [
		storage.readLog({ projectId: cut, after: 0, window: WIDE }),
		storage.readLog({ projectId: cut, after: 0, window: WIDE }),
	];
	await expect(first).rejects.toMatchObject({ code: "lost" });
	expect((await second).map(({ seq }) => seq)).toEqual([1, 2, 3]);
	expect(events).toEqual(["told", "asked", `begun with ${kept} in ${LEASE_TERM_MS}`]);
	expect(storage.epoch).not.toBe(epochBefore);
	await meet(other);
	expect(other.epoch).toBe(storage.epoch);
	// A node that starts later has nothing to find out.
	await (await memory.node()).ping();
});

test("each node reports its lost acknowledged events once", async () => {
	await meet();
	expect(lost.toSorted((a, b) => b.lost - a.lost)).toEqual([
		{ projectId: cut, kept: 3, lost: 7, count: 4 },
		{ projectId: gone, kept: 0, lost: 1, count: 1 },
	]);
	await meet(other);
	expect(lost).toHaveLength(2);
});

test("a reader from before learns how far the log is unchanged; a current one doesn't", async () => {
	await meet();
	const request = { projectId: gone, publishedAt: START, events: [world.event(gone, "a")] };
	expect(await storage.appendEvents({ requests: [request] })).toEqual([{ kind: "no_project" }]);
	expect((await world.publish(cut, "new", "a")).map(({ seq }) => seq)).toEqual([4, 5]);
	const end = { lastSeq: 5, kept: 3 };
	expect(await storage.readLogEnd({ projectId: cut, since: epochBefore })).toEqual(end);
	expect(await storage.readLogEnd({ projectId: cut, since: storage.epoch })).toEqual({ lastSeq: 5, kept: null });
	// A lost epoch may have diverged anywhere after its number.
	for (const epoch of [epochBefore, storage.epoch])
		expect(await storage.readLogEnd({ projectId: cut, since: `${epoch.split(".")[0]}.ffffffff` })).toEqual(end);
	expect(await storage.readLogEnd({ projectId: cut, since: "9.ffffffff" })).toEqual(end);
	expect(await storage.readLogEnd({ projectId: cut })).toEqual({ lastSeq: 5, kept: null });
	expect(otherBefore).toBe(epochBefore);
});

test("an old lease is void, and for its duration only its holder can acquire it", async () => {
	await meet();
	await meet(other);
	const lanes = [{ webhookId: keptHook, position: 2, open: [] }];
	expect(await world.settle(leases[0]!, { lanes })).toBe("stale");
	expect(await storage.renewLeases({ holder: "node_a", leases })).toEqual({ renewed: [], locked: [] });
	await storage.releaseLease({ lease: leases[0]!, wakeAt: null, seen: { lastSeq: 2, revision: 9 } });
	expect(await other.acquireLeases({ holder: "node_b", limit: 10, projectIds: [kept, cut] })).toEqual([]);
	expect(await other.acquireLeases({ holder: "node_b", limit: 10 })).toEqual([]);
	expect(await other.peers!.isInForce({ projectId: kept, revision: 9 })).toBe(false);
	const [again] = await storage.acquireLeases({ holder: "node_a", limit: 10, projectIds: [kept], heldBefore: true });
	expect(again).toMatchObject({ projectId: kept });
	expect(again!.generation).toBeGreaterThan(leases[0]!.generation);
	expect(await other.acquireLeases({ holder: "node_b", limit: 10, projectIds: [kept], heldBefore: true })).toEqual([]);
	expect(await world.settle(again!, { lanes })).toBe("settled");
	memory.clock.time += LEASE_TERM_MS;
	const [taken] = await other.acquireLeases({ holder: "node_b", limit: 10, projectIds: [cut] });
	expect(taken).toMatchObject({ projectId: cut });
	expect(await world.settle(leases[1]!, { lanes: [{ webhookId: cutHook, position: 3, open: [] }] })).toBe("stale");
	expect(await other.peers!.isInForce({ projectId: cut, revision: 9 })).toBe(false);
	await other.peers!.acknowledge({ acknowledgements: [{ lease: taken!, revision: 9 }] });
	expect(await other.peers!.isInForce({ projectId: cut, revision: 9 })).toBe(true);
});

test("another server without losses is recognized, and every claim holds there", async () => {
	await meet();
	events = [];
	claims = [];
	memory.database.failOver();
	await meet();
	expect(events).toEqual(["told", "asked", `begun with  in ${LEASE_TERM_MS}`]);
	expect(lost).toHaveLength(2);
	expect(await storage.readLogEnd({ projectId: cut, since: epochBefore })).toEqual({ lastSeq: 3, kept: 3 });
});

describe("hints", () => {
	test("reach the other nodes, but never the one that made the change", async () => {
		const [mine, theirs]: string[][] = [[], []];
		storage.peers!.subscribe((projectIds) => mine!.push(...projectIds));
		const end = other.peers!.subscribe((projectIds) => theirs!.push(...projectIds));
		await meet();
		await meet(other);
		await world.publish(kept, "a");
		expect([mine, theirs]).toEqual([[], [kept]]);
		end();
		await world.publish(kept, "a");
		expect(theirs).toEqual([kept]);
	});
});

describeClaims("memory", async () => {
	const { world, database } = await MemoryWorld.open();
	return {
		world,
		kept: async (epoch, claims) => keptClaims(database, (generation) => storedGeneration(epoch, generation), claims),
	};
});
