import { EVENT_TYPES } from "@posthorn/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;

const publish = (project: string, body: object) => api.call("POST", `${project}/samples`, { body });

test("a sample goes to every subscribed webhook, and its id says what it is", async () => {
	const project = await api.project();
	const [first, second] = [await api.webhook(project), await api.webhook(project)];
	await api.webhook(project, { events: ["basket.abandoned"] });
	await api.call("PATCH", second, { body: { status: "paused" } });
	const data = { order_id: "ord_10482", note: "ä" };
	const { status, json } = await publish(project, { type: "delivery.success", data, webhooks: 2 });
	expect([status, json]).toEqual([
		202,
		expect.objectContaining({ id: expect.stringMatching(/^evt_sample_[0-9a-z]{26}$/), type: "delivery.success" }),
	]);
	await api.attempted();
	expect(JSON.parse(api.receiver.requests.at(-1)!.body.toString())).toMatchObject({ id: json.id, data });
	const delivery = await api.call("GET", `${first}/deliveries/${json.id}`);
	expect(delivery.json.state).toBe("delivered");
	await api.call("PATCH", second, { body: { status: "active", from: "backlog" } });
	await api.attempted();
	expect(
		(await api.call("GET", `${project}/audit`)).json.data.find(({ action }) => action === "sample.published"),
	).toMatchObject({ target: { id: json.id }, detail: { type: "delivery.success", webhooks: 2 } });
});

// It was parsed and written again: 12345678901234567890 became 12345678901234567000.
test("the data of a sample is delivered as it was sent", async () => {
	const project = await api.project();
	const data = '{ "order_id": "1", "n": 12345678901234567890, "10": 1.0, "2": "\\u00e4" }';
	const raw = `{"type":"delivery.success","webhooks":0,"data":${data}}`;
	const { json } = await api.call("POST", `${project}/samples`, { raw });
	expect((await api.call("GET", `${project}/events/${json.id}`)).text).toContain(`"data":${data}}`);
});

test("publishes nothing if the number of webhooks differs", async () => {
	const project = await api.project();
	await api.webhook(project);
	for (const webhooks of [0, 2]) {
		const { status, json } = await publish(project, {
			...{ type: "delivery.success", data: { order_id: "ord_10482" }, webhooks },
		});
		expect([status, json.detail]).toEqual([409, expect.stringMatching(/has 1 subscribed webhooks, not/)]);
	}
	expect((await api.call("GET", `${project}/events`)).json.data).toEqual([]);
});

test.each(EVENT_TYPES.map(({ type, sample }) => [type, sample] as const))(
	"the data of %s must be valid by its schema",
	async (type, sample) => {
		const project = await api.project();
		const [field] = Object.keys(sample);
		const { status, json } = await publish(project, { type, data: { ...sample, [field!]: null }, webhooks: 0 });
		expect([status, json.errors]).toEqual([422, [expect.objectContaining({ pointer: `/data/${field}` })]]);
		expect((await publish(project, { type, data: sample, webhooks: 0 })).status).toBe(202);
	},
);

test("other fields and values are refused", async () => {
	const project = await api.project();
	const sample = { type: "delivery.success", data: { order_id: "ord_10482" }, webhooks: 0 };
	for (const change of [{ id: "evt_1" }, { type: "nope" }, { data: [] }, { webhooks: -1 }, { webhooks: undefined }])
		expect((await publish(project, { ...sample, ...change })).status).toBe(422);
	expect(idOf(project)).toMatch(/^proj_/);
});
