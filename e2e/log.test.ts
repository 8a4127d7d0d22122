import { expect, test } from "vitest";
import { purchase, Shop } from "./shop.ts";

test("projects can't see each other, and the operator sees all of them", async () => {
	await using shop = await Shop.open();
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/"));
	const { body: event } = await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	const other = await shop.post("/v1/projects", { name: "Another store" });
	const { key } = (await shop.post(`/v1/projects/${other.body.id}/api-keys`, { name: "theirs" })).body;
	const asOther = async (path: string): Promise<number> => {
		const response = await fetch(shop.service.url + path, { headers: { authorization: `Bearer ${key}` } });
		await response.arrayBuffer();
		return response.status;
	};
	for (const path of ["", "/webhooks", `/webhooks/${id}`, "/events", `/events/${event.id}`, "/attempts", "/api-keys"])
		expect(await asOther(shop.path(path)), path).toBe(404);
	expect(await asOther(`/v1/projects/${other.body.id}/webhooks/${id}`)).toBe(404);
	expect(await asOther(`/v1/projects/${other.body.id}/events/${event.id}`)).toBe(404);
	expect((await shop.get(`/v1/projects/${other.body.id}/webhooks`)).status).toBe(200);
});

test("an event published twice concurrently, and again after a crash, arrives once", async () => {
	await using shop = await Shop.open();
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/"));
	const event = { ...purchase(1), id: "evt_order_1" };
	const answers = await Promise.all(Array.from({ length: 5 }, () => shop.post(shop.path("/events"), event)));
	expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(202));
	expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
	await receiver.count(1);
	const last = (await shop.post(shop.path("/events"), purchase(2))).body;
	await receiver.next((request) => request.headers["x-service-event-id"] === last.id);
	await shop.service.stop();
	await shop.start();
	expect((await shop.post(shop.path("/events"), event)).body).toEqual(answers[0]!.body);
	expect((await shop.post(shop.path("/events"), { ...purchase(3), id: "evt_order_1" })).status).toBe(409);
	const end = (await shop.post(shop.path("/events"), purchase(4))).body;
	await receiver.next((request) => request.headers["x-service-event-id"] === end.id);
	expect(receiver.requests.filter((request) => request.headers["x-service-event-id"] === "evt_order_1")).toHaveLength(
		1,
	);
});

test("registration refuses localhost, private addresses and http in any notation", async () => {
	await using shop = await Shop.open({ POSTHORN_EGRESS_ALLOW: "" });
	const refused = [
		"http://example.com/",
		"https://localhost/",
		"https://127.0.0.1/",
		"https://[::1]/",
		"https://10.1.2.3/",
	];
	for (const url of [...refused, "https://0x7f000001/", "https://169.254.169.254/", "https://[::ffff:127.0.0.1]/"]) {
		const { status, body } = await shop.post(shop.path("/webhooks"), { url, events: ["purchase.completed"] });
		expect(status, url).toBe(422);
		expect(body.errors, url).toMatchObject([{ pointer: "/url" }]);
	}
	expect((await shop.all(shop.path("/webhooks"))).length).toBe(0);
});
