/** Rows of a project that another session of the database holds, as in `postgres/locked-rows.test.ts`. */
import { beforeEach, describe, expect, test } from "vitest";
import { PROJECT_WRITES, PROJECTS } from "../../../src/base/budgets.ts";
import type { AppendRequest, Lease, Storage } from "../../../src/storage/port.ts";
import { NODE, START } from "../conformance/world.ts";
import { MemoryWorld } from "./world.ts";

const SEEN = { lastSeq: 1, revision: 1 };

let memory: MemoryWorld;
let storage: Storage;
beforeEach(async () => {
	memory = await MemoryWorld.open();
	storage = memory.storage;
});

async function project() {
	const { world } = memory;
	const id = await world.project();
	const webhook = await world.webhook(id, ["a"]);
	await world.publish(id, "a");
	return { id, webhook, lease: await world.lease(id) };
}
type Project = Awaited<ReturnType<typeof project>>;

const request = ({ id }: Project): AppendRequest => {
	return { projectId: id, publishedAt: START, events: [memory.world.event(id, "a")] };
};

const outcome = ({ id, webhook, lease }: Project, seq = 1) => ({
	...{ projectId: id, generation: lease.generation, schedule: [], unschedule: [] },
	attempts: [memory.world.attempt(webhook, { seq, type: "a" })],
	lanes: [{ webhookId: webhook, position: seq, open: [] }],
});

/** Whether a call has ended by now, as one that waits for nothing has. */
async function isOver(call: Promise<unknown>): Promise<boolean> {
	let over = false;
	const end = (): void => {
		over = true;
	};
	call.then(end, end);
	await new Promise((resolve) => setImmediate(resolve));
	return over;
}

test("calls for several projects skip the locked one, and continue once it is released", async () => {
	const [held, free] = [await project(), await project()];
	memory.database.lock(held.id);
	const appended = await storage.appendEvents({ requests: [request(held), request(free)] });
	expect(appended.map(({ kind }) => kind)).toEqual(["locked", "appended"]);
	const maybe = { ...request(held), maybeWritten: true };
	expect(await storage.appendEvents({ requests: [maybe] })).toEqual([{ kind: "locked", maybeWritten: true }]);
	const settlements = [outcome(held), outcome(free)];
	expect(await storage.settle({ settlements })).toEqual(["locked", "settled"]);
	const renewal = await storage.renewLeases({ holder: NODE, leases: [held.lease, free.lease] });
	expect(renewal).toMatchObject({ renewed: [{ projectId: free.id }], locked: [held.lease] });
	const told = [held, free].map(({ lease }) => ({ lease, revision: 9 }));
	expect(await storage.peers!.acknowledge({ acknowledgements: told })).toEqual([told[0]]);
	await storage.sweepAttempts({ cutoff: START + 1, limit: 100, from: 0 });
	expect(await storage.settle({ settlements })).toEqual(["locked", "settled"]);
	memory.database.unlock(held.id);
	expect(await storage.settle({ settlements: [settlements[0]!] })).toEqual(["settled"]);
	expect(await storage.appendEvents({ requests: [request(held)] })).toMatchObject([
		{ kind: "appended", events: [{ seq: 2 }] },
	]);
});

test("the sweep leaves locked rows to its next pass", async () => {
	const [held, free] = [await project(), await project()];
	expect(await storage.settle({ settlements: [outcome(held), outcome(free)] })).toEqual(["settled", "settled"]);
	memory.database.lock(held.id);
	const sweep = async () => [
		(await storage.sweepAttempts({ cutoff: START + 1, limit: 100, from: 0 })).deleted,
		(await storage.sweepEvents({ cutoff: START + 1, limit: 100, from: 0 })).deleted,
	];
	expect(await sweep()).toEqual([1, 1]);
	memory.database.unlock(held.id);
	expect(await sweep()).toEqual([1, 1]);
});

test("a lease with a locked row isn't granted, and is reported if it was named", async () => {
	const [held, free] = [await project(), await project()];
	for (const { lease } of [held, free])
		await storage.releaseLease({ lease, wakeAt: null, seen: { lastSeq: 0, revision: 0 } });
	memory.database.lock(held.id);
	const locked: string[] = [];
	const named = (): Promise<Lease[]> =>
		storage.acquireLeases({
			holder: NODE,
			limit: 10,
			projectIds: [held.id],
			heldBefore: false,
			onLocked: (projectIds) => locked.push(...projectIds),
		});
	expect(await named()).toEqual([]);
	expect(locked).toEqual([held.id]);
	expect(await storage.acquireLeases({ holder: NODE, limit: 10 })).toMatchObject([{ projectId: free.id }]);
	memory.database.unlock(held.id);
	expect(await named()).toMatchObject([{ projectId: held.id }]);
});

/** Calls on one project, and how they end when they have waited too long. */
const WAITING: Readonly<Record<string, (one: Project) => Promise<unknown>>> = {
	updateWebhook: ({ id, webhook }) =>
		storage.updateWebhook({ projectId: id, webhookId: webhook, patch: { url: "https://other.example/" } }),
	rotateSecret: ({ id, webhook }) =>
		storage.rotateSecret({ projectId: id, webhookId: webhook, sealedDigest: Buffer.from("x") }),
	deleteWebhook: ({ id, webhook }) => storage.deleteWebhook({ projectId: id, webhookId: webhook }),
	replayMatching: ({ id }) => storage.replayMatching({ projectId: id, selection: {}, at: START, limit: 10 }),
	retryDeliveries: ({ id, webhook }) =>
		storage.retryDeliveries({ projectId: id, deliveries: [{ webhookId: webhook, eventId: "evt_1" }], at: START }),
	recordOrders: ({ id }) => storage.recordOrders({ projectId: id, orders: [] }),
	touchBasket: ({ id }) =>
		storage.touchBasket({ projectId: id, touch: { basketId: "b", at: START, dueAt: START, data: "{}" } }),
	releaseLease: ({ lease }) => storage.releaseLease({ lease, wakeAt: null, seen: SEEN }),
};

describe.each(Object.entries(WAITING))("%s of a locked project", (_, call) => {
	test("waits until it is released", async () => {
		const one = await project();
		memory.database.lock(one.id);
		const waiting = call(one);
		expect(await isOver(waiting)).toBe(false);
		memory.database.unlock(one.id);
		await waiting;
		expect(memory.timers.fire()).toBe(0);
	});

	test("is refused when that takes too long, and no other project waits", async () => {
		const [one, other] = [await project(), await project()];
		memory.database.lock(one.id);
		const waiting = call(one);
		await call(other);
		expect(await isOver(waiting)).toBe(false);
		expect(memory.timers.fire()).toBe(1);
		await expect(waiting).rejects.toMatchObject({ code: "locked" });
	});
});

test("publishing, settling and renewing wait if asked to, and return `locked` if that takes too long", async () => {
	const one = await project();
	const waits = { waits: true };
	const calls = () =>
		[
			storage.appendEvents({ requests: [request(one)], ...waits }),
			storage.settle({ settlements: [outcome(one)], ...waits }),
			storage.renewLeases({ holder: NODE, leases: [one.lease], ...waits }),
		] as const;
	memory.database.lock(one.id);
	const inVain = Promise.all(calls());
	expect(await isOver(inVain)).toBe(false);
	expect(memory.timers.fire()).toBe(3);
	expect(await inVain).toEqual([[{ kind: "locked" }], ["locked"], { renewed: [], locked: [one.lease] }]);
	const waiting = Promise.all(calls());
	memory.database.unlock(one.id);
	expect(await waiting).toMatchObject([[{ kind: "appended" }], ["settled"], { renewed: [one.lease], locked: [] }]);
});

test("only a few releases and a limited number of one project's changes wait", async () => {
	const one = await project();
	memory.database.lock(one.id);
	const release = () => storage.releaseLease({ lease: one.lease, wakeAt: null, seen: SEEN });
	const releases = Array.from({ length: PROJECTS.releasesWaiting }, release);
	await expect(release()).rejects.toMatchObject({ code: "locked" });
	const change = () =>
		storage.rotateSecret({ projectId: one.id, webhookId: one.webhook, sealedDigest: Buffer.from("x") });
	const most = PROJECT_WRITES.perOwner + PROJECT_WRITES.waiting;
	const changes = Array.from({ length: most - releases.length }, change);
	await expect(change()).rejects.toMatchObject({ code: "busy" });
	memory.database.unlock(one.id);
	await Promise.all(releases);
	expect(await Promise.all(changes)).toEqual(changes.map(() => true));
});

test("closing the storage waits for pending calls", async () => {
	const one = await project();
	memory.database.lock(one.id);
	const changing = storage.rotateSecret({ projectId: one.id, webhookId: one.webhook, sealedDigest: Buffer.from("x") });
	const closing = storage.close();
	expect(await isOver(closing)).toBe(false);
	memory.database.unlock(one.id);
	expect(await changing).toBe(true);
	await closing;
	await expect(storage.ping()).rejects.toMatchObject({ code: "closed" });
});
