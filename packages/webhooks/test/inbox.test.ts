import { DatabaseSync } from "node:sqlite";
import { Signal } from "@posthorn/testkit";
import { expect, it } from "vitest";
import { createInbox, type Inbox, type InboxOptions, type InboxStore, memoryStore } from "../src/index.ts";
import { sqliteStore } from "../src/stores/sqlite.ts";
import { sampleEvent, signEvent } from "../src/testing.ts";

const SECRET = "whsec_test";
const event = { ...sampleEvent("purchase.completed"), id: "evt_1" };

/** An inbox in memory with a clock of its own, and what it reported. */
function setUp(options: Partial<InboxOptions> = {}) {
	let now = 1_000_000_000_000;
	const errors: unknown[] = [];
	const reported = new Signal();
	const store = sqliteStore(new DatabaseSync(":memory:"), { now: () => now });
	const onError = (error: unknown) => {
		errors.push(error);
		reported.look();
	};
	const inbox = createInbox({ secret: SECRET, store, on: {}, onError, ...options });
	const pass = (seconds: number) => {
		now += seconds * 1_000;
	};
	return { inbox, store, errors, reported, pass };
}

async function send(inbox: Inbox, id: string) {
	return (await inbox.receive(await signEvent({ ...event, id }, SECRET)).reply).body;
}

it("can't be created without a store that keeps events", () => {
	// @ts-expect-error: programs in JavaScript can leave it out.
	expect(() => createInbox({ secret: SECRET, on: {} })).toThrow(/^store is missing: pass sqliteStore\(/);
	// @ts-expect-error: it only remembers events.
	expect(() => createInbox({ secret: SECRET, on: {}, store: memoryStore() })).toThrow(/^store can't hold events/);
});

it("responds once the event is stored, and handles it afterwards, in order", async () => {
	const seen: string[] = [];
	const { inbox } = setUp({ on: { "purchase.completed": ({ id }) => seen.push(id) } });
	expect(await send(inbox, "evt_1")).toEqual({ result: "stored" });
	expect(await send(inbox, "evt_2")).toEqual({ result: "stored" });
	expect(await send(inbox, "evt_1")).toEqual({ result: "duplicate" });
	expect(seen).toEqual([]);
	await inbox.drain();
	expect(seen).toEqual(["evt_1", "evt_2"]);
	expect(await send(inbox, "evt_1")).toEqual({ result: "duplicate" });
	await inbox.drain();
	expect(seen).toHaveLength(2);
});

it("handles events as they arrive once it is started, and none after stop", async () => {
	const seen: string[] = [];
	const arrived = new Signal();
	const on = {
		"*": ({ id }: { id: string }) => {
			seen.push(id);
			arrived.look();
		},
	};
	const { inbox } = setUp({ on });
	await send(inbox, "evt_before");
	inbox.start();
	await arrived.until("the stored event", () => seen.includes("evt_before"));
	await send(inbox, "evt_after");
	await arrived.until("the next event", () => seen.includes("evt_after"));
	await inbox.stop();
	await send(inbox, "evt_stopped");
	expect(seen).toEqual(["evt_before", "evt_after"]);
	await inbox.drain();
	expect(seen).toEqual(["evt_before", "evt_after", "evt_stopped"]);
});

// A drain that began just then used to join the loop that was ending, and to resolve without having looked.
it.each([0, 1, 2, 3, 4, 5, 6, 7])(
	"drains an event that is stored %i microtasks after the last look",
	async (microtasks) => {
		const seen: string[] = [];
		const { store } = setUp();
		const looked = Promise.withResolvers<void>();
		const empty: InboxStore = {
			...store,
			next: (...args) => {
				const entry = store.next(...args);
				entry.then((found) => found ?? looked.resolve());
				return entry;
			},
		};
		const { inbox } = setUp({ store: empty, on: { "*": ({ id }) => seen.push(id) } });
		const { body } = await signEvent(event, SECRET);
		const first = inbox.drain();
		await looked.promise;
		for (let i = 0; i < microtasks; i++) await undefined;
		await Promise.all([store.put("key", body), inbox.drain()]);
		expect(seen).toEqual(["evt_1"]);
		await first;
	},
);

it("stops after the current handler, although a drain has more to do", async () => {
	const seen: string[] = [];
	const started = new Signal();
	const slow = Promise.withResolvers<void>();
	const { inbox } = setUp({
		on: {
			"*": ({ id }) => {
				seen.push(id);
				started.look();
				return slow.promise;
			},
		},
	});
	for (const id of ["evt_1", "evt_2", "evt_3"]) await send(inbox, id);
	const drained = inbox.drain();
	await started.until("the first handler", () => seen.length === 1);
	const stopped = inbox.stop();
	slow.resolve();
	await Promise.all([stopped, drained]);
	expect(seen).toEqual(["evt_1"]);
	await inbox.drain();
	expect(seen).toEqual(["evt_1", "evt_2", "evt_3"]);
});

it("repeats a handler that fails, later each time, and lets other events pass", async () => {
	const seen: string[] = [];
	let isBroken = true;
	const { inbox, errors, pass } = setUp({
		on: {
			"*": ({ id }) => {
				seen.push(id);
				if (id === "evt_1" && isBroken) throw new Error("broken");
			},
		},
	});
	await send(inbox, "evt_1");
	await send(inbox, "evt_2");
	await inbox.drain();
	expect(seen).toEqual(["evt_1", "evt_2"]);
	pass(1.9);
	await inbox.drain();
	expect(seen).toHaveLength(2);
	pass(0.2);
	await inbox.drain();
	expect(seen).toHaveLength(3);
	pass(3.9);
	await inbox.drain();
	expect(seen).toHaveLength(3);
	isBroken = false;
	pass(0.2);
	await inbox.drain();
	pass(10_000);
	await inbox.drain();
	expect(seen).toEqual(["evt_1", "evt_2", "evt_1", "evt_1"]);
	expect(errors).toHaveLength(2);
});

it("gives an event to onDead once its last attempt has failed, and stops handling it", async () => {
	const failure = new Error("broken");
	const dead: unknown[][] = [];
	let calls = 0;
	const { inbox, errors, pass } = setUp({
		maxAttempts: 2,
		onDead: ({ id }, error) => dead.push([id, error]),
		on: {
			"*": ({ id }) => {
				if (id === "evt_2") return;
				calls++;
				throw failure;
			},
		},
	});
	await send(inbox, "evt_1");
	await send(inbox, "evt_2");
	await inbox.drain();
	expect(dead).toEqual([]);
	pass(10);
	await inbox.drain();
	expect(dead).toEqual([["evt_1", failure]]);
	pass(100_000);
	await inbox.drain();
	expect(await send(inbox, "evt_1")).toEqual({ result: "duplicate" });
	expect(calls).toBe(2);
	expect(dead).toHaveLength(1);
	expect(errors).toEqual([failure, failure]);
});

it("calls onDead until it succeeds, also for an event whose last attempt ended with its process", async () => {
	const dead: unknown[][] = [];
	let isDown = true;
	let calls = 0;
	const { inbox, store, errors, pass } = setUp({
		maxAttempts: 1,
		onDead: ({ id }, error) => {
			if (isDown) throw new Error("down");
			dead.push([id, error]);
		},
		on: { "*": () => void calls++ },
	});
	await send(inbox, "evt_1");
	await store.next("died", 60_000);
	pass(60);
	await inbox.drain();
	expect(errors).toHaveLength(1);
	isDown = false;
	pass(10);
	await inbox.drain();
	expect(dead).toEqual([["evt_1", undefined]]);
	expect(calls).toBe(0);
});

// onDead got the event from this process and from the one that had taken it.
it("doesn't give up an event whose claim was lost during its last attempt", async () => {
	const dead: unknown[] = [];
	const { store, pass } = setUp();
	const lost: InboxStore = {
		...store,
		async renew() {
			pass(60);
			await store.next("another", 60_000);
			return false;
		},
	};
	const { inbox, errors } = setUp({
		store: lost,
		lease: 0.05,
		maxAttempts: 1,
		onDead: ({ id }, error) => dead.push([id, error]),
		on: {
			"*": (_event, { signal }) =>
				new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
		},
	});
	await send(inbox, "evt_1");
	await inbox.drain();
	expect(errors).toMatchObject([{ message: expect.stringContaining("was lost") }]);
	expect(dead).toEqual([]);
	// The other process dies.
	pass(60);
	await inbox.drain();
	expect(dead).toEqual([["evt_1", undefined]]);
});

it.each<Partial<InboxOptions>>([
	{ maxAttempts: 3 },
	{ onDead: () => undefined },
	{ maxAttempts: 0, onDead: () => undefined },
	{ maxAttempts: 1.5, onDead: () => undefined },
])("refuses the options %j when it is created", (options) => {
	expect(() => setUp(options)).toThrow(/maxAttempts/);
});

it("handles an event that an inbox left behind when its process died", async () => {
	const seen: string[] = [];
	const { inbox, store, pass } = setUp({ on: { "*": ({ id }) => seen.push(id) } });
	await send(inbox, "evt_1");
	await store.next("died", 60_000);
	await inbox.drain();
	expect(seen).toEqual([]);
	pass(60);
	await inbox.drain();
	expect(seen).toEqual(["evt_1"]);
});

it("keeps looking after the store failed", async () => {
	const { store } = setUp();
	let failures = 2;
	const flaky: InboxStore = {
		...store,
		next: (...args) => (failures-- > 0 ? Promise.reject(new Error("down")) : store.next(...args)),
	};
	const handled = Promise.withResolvers<string>();
	const { inbox, errors, reported } = setUp({ store: flaky, poll: 0.01, on: { "*": ({ id }) => handled.resolve(id) } });
	await send(inbox, "evt_1");
	inbox.start();
	await reported.until("both failures", () => errors.length === 2);
	expect(await handled.promise).toBe("evt_1");
	await inbox.stop();
});

it("responds with 503 unless the event is stored", async () => {
	const { store } = setUp();
	const { inbox } = setUp({
		store: { ...store, put: () => Promise.reject(new Error("disk full")) },
		on: { "*": () => undefined },
	});
	expect(await send(inbox, "evt_1")).toMatchObject({ code: "receiver_unavailable" });
});
