import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { REQUESTS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";

let api: TestApi;
let project: string;
let key: string;
/** Every slice takes its share of a turn of the event loop, however quick it is. */
let elapsed = 0;
const slowClock = (clock: Clock): Clock => ({
	...clock,
	elapsed: () => {
		elapsed += REQUESTS.turnMs;
		return elapsed;
	},
});
beforeAll(async () => {
	api = await TestApi.start({ parts: ({ clock }) => ({ clock: slowClock(clock) }) });
	project = await api.project();
	key = await api.keyOf(project);
});
afterAll(() => api.close());

/** Publishes while counting how much text is parsed: in total, and at most in one turn of the event loop. */
async function publishCounted(text: string) {
	const parse = vi.spyOn(JSON, "parse");
	let most = 0;
	let all = 0;
	let over = false;
	const count = (): void => {
		const bytes = parse.mock.calls.reduce((sum, [given]) => sum + String(given).length, 0);
		parse.mockClear();
		most = Math.max(most, bytes);
		all += bytes;
	};
	const counting = (async () => {
		while (!over) {
			count();
			await nextTurn();
		}
	})();
	const response = await api.app
		.inject({
			method: "POST",
			url: `${project}/events`,
			headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
			payload: text,
		})
		.finally(() => {
			// The parsing in the turn of the response counts as well.
			count();
			over = true;
		});
	await counting;
	parse.mockRestore();
	return {
		status: response.statusCode,
		json: response.json() as { errors?: unknown[]; events?: unknown[] },
		most,
		all,
	};
}

// A batch of 5.6 million empty objects blocked the event loop for seconds and took 400 MB before it was refused.
test("refuses a batch with too many elements without parsing it", async () => {
	for (const element of ["{}", "[]", "0", '"x"']) {
		const count = Math.floor((REQUESTS.batchBytes - 20) / (element.length + 1));
		const text = `{"events":[${`${element},`.repeat(count - 1)}${element}]}`;
		const { status, json, all } = await publishCounted(text);
		expect([status, all]).toEqual([422, 0]);
		expect(json.errors).toEqual([{ pointer: "/events", detail: "must have at most 1000 items" }]);
	}
});

test("a large batch is parsed in slices, and others run in between", async () => {
	const event = (i: number) => `{"type":"delivery.success","data":{"n":${i},"a":[${"[],".repeat(600)}0]}}`;
	const text = `{"events":[${Array.from({ length: 1_000 }, (_, i) => event(i)).join(",")}]}`;
	expect(text.length).toBeGreaterThan(REQUESTS.batchBytes * 0.85);
	const { status, json, most, all } = await publishCounted(text);
	expect([status, json.events?.length]).toEqual([202, 1_000]);
	expect(all).toBeGreaterThan(text.length * 0.99);
	expect(most).toBeLessThan(2 * REQUESTS.sliceBytes);
});

test("refuses a batch if an element isn't JSON, and writes nothing", async () => {
	project = await api.project();
	const before = 0;
	const event = '{"type":"delivery.success","data":{}}';
	for (const [element, detail] of [
		["{]", 'in element 1 of "events"'],
		["", 'in element 1 of "events"'],
		[`${event} ${event}`, 'in element 1 of "events"'],
	] as const) {
		const { status, json } = await api.call("POST", `${project}/events`, { raw: `{"events":[${event},${element}]}` });
		expect(status).toBe(400);
		expect(json.detail).toContain(detail);
	}
	for (const raw of [
		`{"events":[${event}`,
		`{"events":[${event}},"a":0}`,
		`{"events":[],"events":[${event}]}`,
		// The list was published, although JSON.parse takes the last member.
		`{"events":[${event}],"events":null}`,
	]) {
		const { status, json } = await api.call("POST", `${project}/events`, { raw });
		expect([status, json.type]).toEqual([400, "/problems/malformed-request"]);
	}
	const { json } = await api.call("GET", `${project}/events?after=${before}`);
	expect(json.last_seq).toBe(before);
});

test("limits single events to the event size, and the frame of a batch", async () => {
	const path = `${project}/events`;
	const junk = `"${"x".repeat(REQUESTS.batchBytes / 2)}"`;
	const single = await api.call("POST", path, { raw: `{"type":${junk},"data":{}}` });
	expect(single.status).toBe(413);
	expect(single.json.detail).toMatch(/^The body has 1,048,\d\d\d bytes and no list "events"; without one/);
	const frame = await api.call("POST", path, { raw: `{"events":[0],"more":${junk}}` });
	expect([frame.status, frame.json.errors[0]?.detail]).toEqual([
		422,
		'must have at most 65536 bytes in addition to "events"',
	]);
	const item = await api.call("POST", path, { raw: `{"events":[0,{"type":${junk}}]}` });
	expect([item.status, item.json.errors[0]?.pointer]).toEqual([413, "/events/1"]);
});

test("a batch of orders is bounded in the same way", async () => {
	const order = (i: number) => ({
		order_id: `o${i}`,
		customer_email: "a@example.com",
		amount_cents: 1,
		currency: "EUR",
		items: [{}],
	});
	const path = `${project}/orders/batch`;
	const fits = await api.call("POST", path, { body: { orders: [order(1), { ...order(2), currency: "eur" }] } });
	expect(fits.status).toBe(200);
	const long = await api.call("POST", path, { raw: `{"orders":[${"0,".repeat(1_000)}0]}` });
	expect([long.status, long.json.errors[0]?.pointer]).toEqual([422, "/orders"]);
});
