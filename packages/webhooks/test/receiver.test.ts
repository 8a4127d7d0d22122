import { DatabaseSync } from "node:sqlite";
import { EVENT_TYPES } from "@posthorn/protocol";
import { Signal, until } from "@posthorn/testkit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
	createInbox,
	createReceiver,
	type HandlerContext,
	memoryStore,
	type ReceiverOptions,
	type Reply,
	type Store,
	type WebhookEvent,
} from "../src/index.ts";
import { sqliteStore } from "../src/stores/sqlite.ts";
import { sampleEvent, signEvent, type TestEvent } from "../src/testing.ts";

const SECRET = "whsec_test";
const inboxStore = sqliteStore(new DatabaseSync(":memory:"));

/** A receiver, what it reported, and requests for it. */
function setUp(options: Partial<ReceiverOptions> = {}) {
	const errors: unknown[] = [];
	const settings = { secret: SECRET, store: memoryStore(), on: {}, onError: (error: unknown) => errors.push(error) };
	const receiver = createReceiver({ ...settings, ...options });
	const receive = async (event: TestEvent, secret = SECRET) => receiver.receive(await signEvent(event, secret));
	const send = async (event: TestEvent): Promise<Reply> => (await receive(event)).reply;
	return { errors, receiver, receive, send };
}

it("can't be created without a store", () => {
	// @ts-expect-error: programs in JavaScript can leave it out.
	expect(() => createReceiver({ secret: SECRET, on: {} })).toThrow(/^store is missing: pass memoryStore\(\)/);
});

it("can't be created with something that isn't a store, such as a client or the function that makes one", () => {
	for (const store of [memoryStore, { query: () => undefined }])
		expect(() => createReceiver({ secret: SECRET, on: {}, store: store as never })).toThrow(
			/^store isn't a store: pass/,
		);
});

// Any body was smaller than "1mb".
it.each(["1mb", 0, Number.NaN, 1n])("can't be created with the limit %s for bodies", (maxBytes) => {
	expect(() => setUp({ maxBytes: maxBytes as never })).toThrow(/^maxBytes is .*; give a number of bytes above 0\.$/);
});

it("can't be created with a timeout that isn't a number", () => {
	expect(() => setUp({ timeout: 12n as never })).toThrow("timeout is 12; give a number of seconds above 0");
});

it.each(["purchase.complete", "Purchase.Completed", "purchase_completed", "purchase.completed "])(
	"can't be created with a handler for %j, which would never run",
	(type) => {
		for (const create of [createReceiver, createInbox])
			expect(() => create({ secret: SECRET, store: inboxStore, on: { [type]: () => undefined } })).toThrow(
				`on has a handler for "${type}", which isn't an event type of this version. The types are`,
			);
	},
);

it("can't be created without handlers, or with one that isn't a function", () => {
	// @ts-expect-error: programs in JavaScript can leave it out.
	expect(() => createReceiver({ secret: SECRET, store: memoryStore() })).toThrow(/^on is missing: pass the handlers/);
	for (const type of ["purchase.completed", "*"])
		expect(() => setUp({ on: { [type]: "handle" } })).toThrow(`on["${type}"] isn't a function`);
	expect(() => setUp({ on: Object.fromEntries(EVENT_TYPES.map(({ type }) => [type, () => undefined])) })).not.toThrow();
});

const event = { ...sampleEvent("purchase.refunded"), id: "evt_1" };

/** A handler that runs until the test ends it. */
function blocked() {
	const { promise, resolve, reject } = Promise.withResolvers<void>();
	const signal = new Signal();
	let calls = 0;
	const handler = () => {
		calls++;
		signal.look();
		return promise;
	};
	return {
		handler,
		end: resolve,
		fail: reject,
		started: () => signal.until("the handler", () => calls > 0),
		calls: () => calls,
	};
}

/** A handler that runs until its signal aborts. Tests look at the reason first: without one, they would wait for long. */
function endless() {
	const started = Promise.withResolvers<void>();
	let reason: unknown;
	const handler = (_event: WebhookEvent, { signal }: HandlerContext) => {
		started.resolve();
		return new Promise<void>((resolve) =>
			signal.addEventListener("abort", () => {
				({ reason } = signal);
				resolve();
			}),
		);
	};
	return { handler, started: started.promise, reason: () => reason };
}

// `next build` and others load the modules of routes, where the secret may not be set.
describe("a secret that is a function", () => {
	it("says to pass one if there is no secret yet", () => {
		expect(() => setUp({ secret: "" })).toThrow(/signing secret is missing.* pass a function: secret: \(\) =>/);
	});

	it("is called for each request", async () => {
		let secret: string | string[] | undefined;
		const { errors, receive } = setUp({ secret: () => secret, on: { "*": () => undefined } });
		const status = async (signedWith: string) => (await (await receive(event, signedWith)).reply).status;
		expect(await status("whsec_a")).toBe(503);
		expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/signing secret is missing/) })]);
		secret = "whsec_a";
		expect(await status("whsec_a")).toBe(200);
		secret = ["whsec_b", "whsec_a"];
		expect([await status("whsec_a"), await status("whsec_b"), await status("whsec_c")]).toEqual([200, 200, 401]);
	});

	it("may read the secret from elsewhere, and responds with 503 while it can't", async () => {
		const down = new Error("down");
		const { errors, send } = setUp({ secret: () => Promise.reject(down) });
		expect((await send(event)).status).toBe(503);
		expect(errors).toEqual([down]);
		const other = setUp({ secret: async () => SECRET, on: { "*": () => undefined } });
		expect((await other.send(event)).status).toBe(200);
	});
});

describe("createReceiver", () => {
	// Timeouts and leases end when a test says so: on a busy machine, even a duplicate took longer than 20 ms to verify.
	beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
	afterEach(() => void vi.useRealTimers());
	const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

	it("runs the type's handler once, and acknowledges duplicates", async () => {
		const seen: boolean[] = [];
		const { send } = setUp({ on: { "purchase.refunded": ({ data }) => seen.push(data.partial) } });
		expect(await send(event)).toEqual({ status: 200, body: { result: "handled" } });
		expect(await send(event)).toEqual({ status: 200, body: { result: "duplicate" } });
		expect(seen).toEqual([event.data.partial]);
	});

	it("tells events with the same id apart by project, and receivers that share a store by name", async () => {
		let calls = 0;
		const on = { "purchase.refunded": () => void calls++ };
		const store = memoryStore();
		const billing = setUp({ on, store, name: "billing" });
		await billing.send(event);
		await billing.send({ ...event, project_id: "proj_other" });
		await setUp({ on, store, name: "mail" }).send(event);
		await setUp({ on, store, name: "mail" }).send(event);
		expect(calls).toBe(3);
	});

	it("gives `*` what has no handler of its own, unknown types too, and ignores the rest", async () => {
		const seen: string[] = [];
		const { send } = setUp({ on: { "*": ({ type }) => seen.push(type), "purchase.refunded": () => seen.push("own") } });
		await send(event);
		await send(sampleEvent("customer.created"));
		await send({ type: "constructor", data: {} });
		expect(seen).toEqual(["own", "customer.created", "constructor"]);
		expect(await setUp().send(event)).toEqual({ status: 200, body: { result: "ignored" } });
		expect(await setUp().send({ type: "constructor", data: {} })).toMatchObject({ body: { result: "ignored" } });
	});

	it("responds with 500 if the handler fails, and runs it again for the retry", async () => {
		let calls = 0;
		const failure = new Error("secret detail");
		const { send, errors } = setUp({
			on: {
				"purchase.refunded": () => {
					if (++calls === 1) throw failure;
				},
			},
		});
		const first = await send(event);
		expect(first).toMatchObject({ status: 500, body: { code: "handler_failed" } });
		expect(JSON.stringify(first)).not.toContain("secret detail");
		expect(errors).toEqual([failure]);
		expect(await send(event)).toMatchObject({ body: { result: "handled" } });
	});

	it("responds with 503 while a handler is slow and to duplicates meanwhile, and with 200 once it has ended", async () => {
		const slow = blocked();
		const { receive, send } = setUp({ on: { "purchase.refunded": slow.handler }, timeout: 0.02 });
		const { reply, done } = await receive(event);
		await slow.started();
		await pass(20);
		expect(await reply).toMatchObject({ status: 503, body: { code: "timeout" } });
		expect(await send(event)).toMatchObject({ status: 503, body: { code: "in_progress" } });
		slow.end();
		await done;
		expect(await send(event)).toMatchObject({ status: 200, body: { result: "duplicate" } });
		expect(slow.calls()).toBe(1);
	});

	it("runs a slow handler again if it fails after the 503", async () => {
		const slow = blocked();
		const { receive, send, errors } = setUp({ on: { "purchase.refunded": slow.handler }, timeout: 0.02 });
		const { reply, done } = await receive(event);
		await slow.started();
		await pass(20);
		expect(await reply).toMatchObject({ status: 503 });
		slow.fail(new Error("too late"));
		await done;
		expect(errors).toHaveLength(1);
		expect(await send(event)).toMatchObject({ status: 500 });
		expect(slow.calls()).toBe(2);
	});

	it("renews its claim while the handler runs, however long that takes", async () => {
		let renewed = 0;
		const memory = memoryStore();
		const store: Store = {
			...memory,
			renew: async (...args) => {
				renewed++;
				return memory.renew(...args);
			},
		};
		const slow = blocked();
		const { receive, send } = setUp({ on: { "purchase.refunded": slow.handler }, store, lease: 0.3 });
		const first = await receive(event);
		await slow.started();
		await pass(400);
		expect(renewed).toBe(4);
		expect(await send(event)).toMatchObject({ body: { code: "in_progress" } });
		slow.end();
		expect(await first.reply).toMatchObject({ body: { result: "handled" } });
		const counted = renewed;
		expect(await send(event)).toMatchObject({ body: { result: "duplicate" } });
		expect(renewed).toBe(counted);
	});

	it("aborts the handler's signal when its claim is lost, and reports that", async () => {
		const store: Store = { ...memoryStore(), renew: async () => false, finish: async () => false };
		const { handler, started, reason } = endless();
		const { send, errors } = setUp({ store, lease: 0.3, on: { "purchase.refunded": handler } });
		const reply = send(event);
		await started;
		await pass(100);
		expect(String(reason())).toContain("was lost");
		expect(await reply).toMatchObject({ status: 200 });
		expect(String(errors)).toContain("may be handled twice");
	});

	it("keeps trying to renew while the store fails, until the lease is over", async () => {
		const outage = new Error("down");
		const store: Store = { ...memoryStore(), renew: async () => Promise.reject(outage) };
		const { handler, started, reason } = endless();
		const { send, errors } = setUp({ store, lease: 0.3, on: { "purchase.refunded": handler } });
		const reply = send(event);
		await started;
		await pass(300);
		expect(reason()).toBeInstanceOf(Error);
		expect(await reply).toMatchObject({ status: 200 });
		expect(errors.length).toBeGreaterThan(1);
		expect(new Set(errors)).toEqual(new Set([outage]));
	});

	it("responds with 503 if the store is unavailable before the handler, which then doesn't run", async () => {
		const outage = new Error("down");
		const store: Store = { ...memoryStore(), claim: async () => Promise.reject(outage) };
		let calls = 0;
		const { send, errors } = setUp({ store, on: { "purchase.refunded": () => void calls++ } });
		expect(await send(event)).toMatchObject({ status: 503, body: { code: "receiver_unavailable" } });
		expect(errors).toEqual([outage]);
		expect(calls).toBe(0);
	});

	it("responds with 200 if only the end can't be stored, since a retry would repeat the work", async () => {
		const outage = new Error("down");
		const store: Store = { ...memoryStore(), finish: async () => Promise.reject(outage) };
		const { send, errors } = setUp({ store, on: { "purchase.refunded": () => undefined } });
		expect(await send(event)).toMatchObject({ status: 200 });
		expect(errors).toEqual([outage]);
	});

	describe.each<{ how: string; onError: NonNullable<ReceiverOptions["onError"]> }>([
		{
			how: "throws",
			onError: () => {
				throw new Error("logger down");
			},
		},
		{ how: "rejects", onError: async () => Promise.reject(new Error("logger down")) },
	])("with an onError that $how", ({ onError }) => {
		const outage = new Error("down");
		const fails = async () => Promise.reject(outage);
		const unhandled: unknown[] = [];
		const noteUnhandled = (error: unknown) => void unhandled.push(error);
		const logged: unknown[][] = [];
		beforeEach(() => {
			process.on("unhandledRejection", noteUnhandled);
			vi.spyOn(console, "error").mockImplementation((...args) => void logged.push(args));
		});
		afterEach(async () => {
			// Node reports unhandled rejections before the next turn of its event loop.
			await new Promise(setImmediate);
			process.off("unhandledRejection", noteUnhandled);
			vi.restoreAllMocks();
			expect(unhandled.splice(0)).toEqual([]);
			expect(logged.splice(0).every((args) => args.includes(outage) && String(args).includes("logger down"))).toBe(
				true,
			);
		});

		it.each<{ step: string; store: Partial<Store>; status: number }>([
			{ step: "claim", store: { claim: fails }, status: 503 },
			{ step: "finish", store: { finish: fails }, status: 200 },
		])("responds if the store fails to $step", async ({ store, status }) => {
			const { send } = setUp({ onError, store: { ...memoryStore(), ...store }, on: { "*": () => undefined } });
			expect(await send(event)).toMatchObject({ status });
			expect(logged).toHaveLength(1);
		});

		it("responds if the handler fails, and releases the event", async () => {
			const { send } = setUp({ onError, on: { "*": fails } });
			expect(await send(event)).toMatchObject({ status: 500 });
			expect(await send(event)).toMatchObject({ status: 500 });
			expect(logged).toHaveLength(2);
		});

		it("aborts the handler's signal when its lease ends, even if the store doesn't respond to a renewal", async () => {
			const store: Store = { ...memoryStore(), renew: () => new Promise(() => undefined) };
			const { handler, started, reason } = endless();
			const { send } = setUp({ store, lease: 0.3, on: { "*": handler } });
			const reply = send(event);
			await started;
			await pass(300);
			expect(reason()).toMatchObject({
				message: expect.stringMatching(/^The claim on .* was lost: another process may/),
			});
			await reply;
		});

		it("still aborts the handler's signal once renewals have failed for a lease", async () => {
			const { handler, started, reason } = endless();
			const store = { ...memoryStore(), renew: fails };
			const { send } = setUp({ onError, store, lease: 0.3, on: { "*": handler } });
			const reply = send(event);
			await started;
			await pass(300);
			expect(reason()).toBeInstanceOf(Error);
			expect(await reply).toMatchObject({ status: 200 });
			expect(logged.length).toBeGreaterThan(1);
		});
	});

	it("refuses requests that aren't genuine, and never calls a handler or onError for them", async () => {
		let calls = 0;
		const { receive, receiver, errors } = setUp({ on: { "*": () => void calls++ } });
		expect(await (await receive(event, "whsec_other")).reply).toMatchObject({ status: 401 });
		const broken = Promise.reject(new Error("reset"));
		expect(await receiver.receive({ headers: {}, body: broken }).reply).toMatchObject({ status: 400 });
		expect(calls).toBe(0);
		expect(errors).toEqual([]);
	});

	it.each<Partial<ReceiverOptions>>([
		{ secret: "" },
		{ timeout: 0 },
		{ timeout: Number.NaN },
		{ timeout: 1e9 },
		{ lease: -1 },
		{ tolerance: -1 },
		{ brand: "" },
		{ brand: "My shop" },
	])("refuses the options %j when it is created", (options) => {
		expect(() => setUp(options)).toThrow(/secret|seconds|brand is ".*"; give the word/);
	});
});

describe("memoryStore", () => {
	it("forgets the oldest finished events beyond its limit, but no claim", async () => {
		const store = memoryStore({ limit: 2 });
		await store.claim("held", "t", 60_000);
		for (const key of ["a", "b", "c"]) {
			await store.claim(key, "t", 60_000);
			await store.finish(key, "t");
		}
		const claims = await Promise.all(["held", "c", "a"].map((key) => store.claim(key, "u", 60_000)));
		expect(claims).toEqual(["in_progress", "done", "claimed"]);
	});
});

// Also shows that a process may end while a claim waits for its renewal: nothing else of the library runs on.
it("handles events that arrive concurrently once each", async () => {
	const counts = new Map<string, number>();
	const count = ({ id }: WebhookEvent) => void counts.set(id, (counts.get(id) ?? 0) + 1);
	const { send } = setUp({ on: { "*": async (one) => count(one) } });
	const ids = Array.from({ length: 20 }, (_, i) => `evt_${i % 5}`);
	await Promise.all(ids.map((id) => send({ ...event, id })));
	await until("every event", () => counts.size === 5);
	expect([...counts.values()]).toEqual([1, 1, 1, 1, 1]);
});
