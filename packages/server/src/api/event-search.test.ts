import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { answered } from "../engine/send/receiver.fixture.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

interface Found {
	readonly data: readonly { readonly id: string; readonly event_id?: string; readonly excerpt?: unknown }[];
	readonly next_cursor: string | null;
	readonly searched?: unknown;
	readonly searched_back_to?: string | null;
	readonly count?: number;
}

const WHOLE = { complete: true, since: null, capped: false };

async function publish(project: string, data: object, delivered = 0): Promise<string> {
	const { status, json } = await api.call("POST", `${project}/events`, { body: { type: "delivery.success", data } });
	expect(status).toBe(202);
	await api.attempted(delivered);
	return json.id as unknown as string;
}

async function get(path: string): Promise<Found> {
	const { status, json, text } = await api.call("GET", path);
	expect(status, text).toBe(200);
	return json as unknown as Found;
}

const ids = ({ data }: Found): string[] => data.map(({ id, event_id }) => event_id ?? id);

test("an event is found by order id and customer immediately after it was published, by every list", async () => {
	const project = await api.project();
	await api.webhook(project);
	const first = await publish(project, { order_id: "ord,1", customer_email: "Ada@Example.com" }, 1);
	const second = await publish(project, { order_id: 7, customer_email: " ada@example.com" }, 1);
	await publish(project, { order_id: "ord_3" }, 1);
	for (const list of ["deliveries", "attempts", "attempts/summaries", "events/search"]) {
		const found = async (query: string) => {
			const page = await get(`${project}/${list}?${query}`);
			expect(page.searched, list).toEqual(WHOLE);
			return ids(page);
		};
		expect(await found("order_id=ord%2C1"), list).toEqual([first]);
		expect(await found("order_id=7&order_id=ord%2C1"), list).toEqual([second, first]);
		expect(await found("customer_email=ADA@example.com"), list).toEqual([second, first]);
		expect(await found("customer_email=ada@example.com&order_id=7&order_id=ord_3"), list).toEqual([second]);
		expect(await found("order_id=ord_9"), list).toEqual([]);
	}
	expect(await get(`${project}/attempts/count?customer_email=ada@example.com`)).toEqual({
		...{ count: 2, capped: false, searched: WHOLE },
	});
	expect(ids(await get(`${project}/deliveries?order_id=7&status_code=5xx`))).toEqual([]);
	expect(await get(`${project}/deliveries`)).not.toHaveProperty("searched");
	const elsewhere = await api.project();
	expect(ids(await get(`${elsewhere}/events/search?order_id=7`))).toEqual([]);
});

test("matching deliveries are counted and replayed, and the audit log keeps no address", async () => {
	const project = await api.project();
	await api.webhook(project);
	await publish(project, { customer_email: "ada@example.com" }, 1);
	await publish(project, { customer_email: "grace@example.com" }, 1);
	const filter = { customer_email: ["ada@example.com"], status: ["delivered"] };
	const body = { filter, dry_run: true };
	const { json: counted } = await api.call("POST", `${project}/replays`, { body });
	expect(counted).toMatchObject({ count: 1, next_cursor: null, searched: WHOLE });
	const { json: replayed } = await api.call("POST", `${project}/replays`, { body: { filter } });
	expect(replayed.count).toBe(1);
	await api.attempted();
	const { json: audit, text } = await api.call("GET", `${project}/audit`);
	expect(audit.data[0]?.detail).toMatchObject({ filter: { customer_emails: 1, status: ["delivered"] }, count: 1 });
	expect(text).not.toContain("ada@example.com");
});

test("lists of attempts take several values of each filter", async () => {
	const project = await api.project();
	const [one, other] = [await api.webhook(project), await api.webhook(project, { url: "https://localhost:1/" })];
	const [a, b] = [one, other].map((path) => path.split("/").at(-1));
	await publish(project, {}, 2);
	const count = async (query: string) => (await get(`${project}/attempts/count?${query}`)).count;
	expect(await count(`webhook_id=${a},${b}`)).toBe(2);
	expect(await count(`webhook_id=${a}&webhook_id=${a}`)).toBe(1);
	expect(await count("status=delivered,failed")).toBe(2);
	expect(await count("type=delivery.success,purchase.refunded&status=failed")).toBe(1);
	expect(await count("error=connection_refused,timeout")).toBe(1);
	expect(await count("error=timeout")).toBe(0);
	expect(await count("error=timeout&status_code=2xx")).toBe(1);
	const { status, json } = await api.call(
		"GET",
		`${project}/attempts?${Array.from({ length: 10 }, (_, i) => `webhook_id=wh_${i}`).join("&")}&status=delivered,failed&type=delivery.success,purchase.refunded`,
	);
	expect([status, json.errors[0]?.pointer]).toEqual([422, "?type"]);
});

test("a text is searched newest first, page by page, with how far it has looked", async () => {
	const project = await api.project();
	const events: string[] = [];
	for (let n = 0; n < 5; n++) events.unshift(await publish(project, { note: `Sold OUT ${n}`, quote: '"' }));
	await publish(project, { note: "in stock" });
	const seen: string[] = [];
	let cursor = "";
	do {
		const page = await get(`${project}/events/search?text=sold%20out&limit=2${cursor}`);
		expect(page.data.length).toBeLessThanOrEqual(2);
		for (const { excerpt } of page.data)
			expect(excerpt).toMatchObject({ match: "Sold OUT", before: expect.stringMatching(/"note":"$/) });
		expect(page.searched_back_to).toMatch(/Z$/);
		seen.push(...ids(page));
		cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
	} while (cursor !== "");
	expect(seen).toEqual(events);
	const none = await get(`${project}/events/search?text=nothing`);
	expect(none).toMatchObject({ data: [], next_cursor: null, events_searched: 6 });
	expect(await get(`${await api.project()}/events/search?text=nothing`)).toMatchObject({
		...{ data: [], next_cursor: null, events_searched: 0, searched_back_to: null },
	});
});

test("a text is found in recorded responses, too, but not without the Developer app", async () => {
	const project = await api.project();
	await api.webhook(project);
	api.receiver.answer = answered(422, '{"error":"No such plan"}');
	const refused = await publish(project, { plan: "gold" }, 1);
	api.receiver.answer = answered(200);
	const other = await publish(project, { note: "There is no such plan." }, 1);
	const search = (query = "") => get(`${project}/events/search?text=no%20such%20PLAN${query}`);
	const page = await search();
	expect(page).toMatchObject({ next_cursor: null, events_searched: 2, attempts_searched: 2 });
	expect(page.data).toMatchObject([
		{ id: other, attempt: null, excerpt: { match: "no such plan" } },
		{
			...{
				id: refused,
				type: "delivery.success",
				excerpt: { before: '{"error":"', match: "No such plan", after: '"}' },
			},
			attempt: { event_id: refused, status_code: 422, status: "failed", attempt: 1 },
		},
	]);
	const first = await search("&limit=1");
	expect(ids(first)).toEqual([other]);
	const second = await search(`&limit=1&cursor=${first.next_cursor}`);
	expect([ids(second), second.next_cursor]).toEqual([[refused], null]);
	await api.call("DELETE", `${project}/apps/developer`);
	expect(await search()).toMatchObject({ data: [{ id: other }], attempts_searched: 0, next_cursor: null });
});

test.each([
	"",
	"text=a",
	"text=ab&order_id=7",
	"order_id=",
	"text=ab&cursor=eA",
	"text=ab&cursor=NA",
	"customer_email=a%00b",
])("a search for %j is refused", async (query) => {
	const { status } = await api.call("GET", `${await api.project()}/events/search?${query}`);
	expect(status).toBe(422);
});
