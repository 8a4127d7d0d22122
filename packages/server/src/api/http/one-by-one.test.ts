import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { until } from "../../../../testkit/src/until.ts";
import { TestApi } from "../../../test/api/api.ts";
import { REQUESTS } from "../../base/budgets.ts";
import { OneByOne } from "./body.ts";

test("requests of one owner take turns; other owners' run immediately", async () => {
	const late: (() => void)[] = [];
	const cancel = vi.fn();
	const setTimeout = (fn: () => void) => {
		late.push(fn);
		return { cancel };
	};
	const line = new OneByOne({ setTimeout }, 1_000);
	const entered: string[] = [];
	const [a1, a2, a3, b1] = ["a1", "a2", "a3", "b1"].map((name) => ({ name }));
	const enter = (one: { name: string }, owner: string): void => {
		void line.enter(one, owner).then((isItsTurn) => entered.push(`${one.name} ${isItsTurn}`));
	};
	for (const one of [a1!, a2!, a3!]) enter(one, "a");
	enter(b1!, "b");
	await setImmediate();
	expect(entered).toEqual(["a1 true", "b1 true"]);
	// It has waited long enough.
	late[0]!();
	await setImmediate();
	expect(entered.splice(0)).toEqual(["a1 true", "b1 true", "a2 false"]);
	line.leave(a2!);
	line.leave(a1!);
	line.leave(a1!);
	await setImmediate();
	expect(entered).toEqual(["a3 true"]);
	expect(cancel).toHaveBeenCalledTimes(1);
	line.leave(a3!);
	enter(a2!, "a");
	await setImmediate();
	expect(entered.at(-1)).toBe("a2 true");
});

/** An API whose storage holds its first batch until `write` is called. Others wait for it, however long that takes. */
async function holdFirstBatch() {
	const withoutEnd = { cancel() {} };
	const api = await TestApi.start({
		parts: ({ clock }) => ({
			clock: {
				...clock,
				setTimeout: (fn, ms) => (ms === REQUESTS.largeBodyWaitMs ? withoutEnd : clock.setTimeout(fn, ms)),
			},
		}),
	});
	const project = await api.project();
	const key = await api.keyOf(project);
	const origin = await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
	const { promise: written, resolve: write } = Promise.withResolvers<void>();
	const append = api.storage.appendEvents.bind(api.storage);
	vi.spyOn(api.storage, "appendEvents").mockImplementationOnce(async (...args) => {
		begin();
		await written;
		return append(...args);
	});
	const event = { type: "delivery.success", data: { pad: "x".repeat(1_000) } };
	const body = JSON.stringify({ events: Array(100).fill(event) });
	const post = () =>
		request(`${origin}${project}/events`, {
			method: "POST",
			headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
			agent: false,
		});
	/** Resolves with the status. */
	const publish = () =>
		new Promise<number | undefined>((resolve, reject) => {
			post()
				.on("response", (response) => resolve(response.resume().statusCode))
				.on("error", reject)
				.end(body);
		});
	const close = async () => {
		write();
		vi.restoreAllMocks();
		await api.close();
	};
	return { server: api.app.server, begun, write, post, body, publish, [Symbol.asyncDispose]: close };
}

// Its batch was still being written, and so were the next ones of its project: as many as fit into its share of bodies.
test("a client that leaves during its batch keeps its turn until the batch is written", async () => {
	await using held = await holdFirstBatch();
	const leaving = held.post().on("error", () => {});
	const arrived = once(held.server, "request");
	leaving.end(held.body);
	const [, response] = (await arrived) as [IncomingMessage, ServerResponse];
	await held.begun;
	const left = once(response, "close");
	leaving.destroy();
	await left;
	const enter = vi.spyOn(OneByOne.prototype, "enter");
	const published = held.publish();
	await until("the batch to wait", () => enter.mock.calls.length > 0);
	const entering = enter.mock.results[0]!.value as Promise<boolean>;
	expect(await Promise.race([entering, setImmediate("waits")])).toBe("waits");
	held.write();
	expect(await published).toBe(202);
});

// A client that left during its batch once blocked its project's large batches forever.
test("a client that leaves during its batch, or while waiting, delays no other", async () => {
	await using held = await holdFirstBatch();
	const leaving = [held.post(), held.post()];
	const gone = leaving.map((one) => new Promise((resolve) => one.on("error", resolve)));
	leaving[0]!.end(held.body);
	await held.begun;
	const enter = vi.spyOn(OneByOne.prototype, "enter");
	leaving[1]!.end(held.body);
	await until("the batch to wait", () => enter.mock.calls.length > 0);
	for (const one of leaving) one.destroy(new Error("gone"));
	await Promise.all(gone);
	held.write();
	expect(await held.publish()).toBe(202);
});
