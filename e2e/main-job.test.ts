import { createHmac } from "node:crypto";
import { until, unusedPort } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { purchase, Shop } from "./shop.ts";

const DELAYS = "0.1,0.1,0.1,0.1,0.1,0.1,0.1";

test("a purchase published over the API arrives, verified, at a receiver that knows only its secret", async () => {
	await using shop = await Shop.open();
	const receiver = await shop.receiver();
	const { secret } = await shop.webhook(receiver.url("/hooks?shop=1"));
	const published = await shop.post(shop.path("/events"), purchase(1));
	expect(published.status).toBe(202);

	const request = await receiver.next();
	expect(request.method).toBe("POST");
	expect(request.path).toBe("/hooks?shop=1");
	const { id } = published.body;
	const timestamp = request.headers["x-service-timestamp"]!;
	expect(request.headers).toMatchObject({
		"content-type": "application/json",
		"user-agent": "Service-Webhooks/1.0",
		"x-service-event": "purchase.completed",
		"x-service-event-id": id,
	});
	expect(timestamp).toMatch(/^[0-9]+$/);
	expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(300);
	const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(request.rawBody).digest("hex");
	expect(request.headers["x-service-signature"]).toBe(expected);
	expect(request.verified).toBe(true);
	expect(JSON.parse(request.rawBody.toString())).toEqual({
		id,
		type: "purchase.completed",
		created_at: published.body.created_at,
		project_id: shop.projectId,
		data: (purchase(1) as { data: object }).data,
	});
});

test("every attempt delivers data as published: big integers, key order, escapes and spaces", async () => {
	await using shop = await Shop.open({ POSTHORN_RETRY_DELAYS: DELAYS });
	const receiver = await shop.receiver({ respond: (_request, n) => ({ status: n < 3 ? 500 : 200 }) });
	await shop.webhook(receiver.url("/"), { events: ["delivery.success"] });
	const data = String.raw`{ "z":1, "10":12345678901234567890, "2" : -0.10e-2,"ü":"\u00fc 😀 \ud83d\ude00","__proto__":{"a":[ ]},"a":null }`;
	const { body } = await shop.call("POST", shop.path("/events"), `{"type":"delivery.success","data":${data}}`);
	await receiver.count(3);
	const sent = `{"id":"${body.id}","type":"delivery.success","created_at":"${body.created_at}","project_id":"${shop.projectId}","data":${data}}`;
	expect(receiver.requests.map((request) => request.rawBody.toString())).toEqual([sent, sent, sent]);
	expect(receiver.requests.every((request) => request.verified === true)).toBe(true);
});

test("in real time, with shortened delays: eight attempts, then Failed in the log, then a replay that arrives", async () => {
	await using shop = await Shop.open({ POSTHORN_RETRY_DELAYS: "0.05,0.1,0.05,0.1,0.05,0.1,0.05" });
	const receiver = await shop.receiver({ respond: (_request, n) => ({ status: n <= 8 ? 503 : 200, body: "busy" }) });
	const { id } = await shop.webhook(receiver.url("/"));
	const { body: event } = await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(8);
	const failed = await untilFound(shop, `/attempts?webhook_id=${id}&status=failed`);
	expect(failed).toMatchObject({
		attempt: 8,
		replay: 0,
		status: "failed",
		status_code: 503,
		response_body: "busy",
		next_retry_at: null,
	});
	const attempts = (await shop.all(shop.path(`/attempts?event_id=${event.id}`))).reverse();
	expect(attempts.map((attempt) => attempt.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
	const delays = [50, 100, 50, 100, 50, 100, 50];
	for (const [i, delay] of delays.entries()) {
		const { started_at, response_ms, next_retry_at } = attempts[i];
		expect(Date.parse(next_retry_at)).toBe(Date.parse(started_at) + response_ms + delay);
		expect(Date.parse(attempts[i + 1].started_at)).toBeGreaterThanOrEqual(Date.parse(next_retry_at));
	}
	const path = shop.path(`/webhooks/${id}/deliveries/${event.id}`);
	expect((await shop.get(path)).body).toMatchObject({ state: "dead_lettered", attempt: 8, replay: 0 });
	expect((await shop.post(`${path}/replay`, {})).status).toBe(202);
	await receiver.count(9);
	expect(receiver.requests[8]).toMatchObject({ verified: true, body: { id: event.id } });
	await untilFound(shop, `/attempts?webhook_id=${id}&status=delivered`);
	expect((await shop.get(path)).body).toMatchObject({ state: "delivered", attempt: 1, replay: 1 });
});

test("the old secret signs nothing once the rotation has returned", async () => {
	await using shop = await Shop.open();
	let letGo = (): void => {};
	const held = new Promise<{ status: number }>((resolve) => {
		letGo = () => resolve({ status: 200 });
	});
	// As many as may be in flight are held, so no other one can be in flight while the secret is rotated.
	const IN_FLIGHT = 20;
	const receiver = await shop.receiver({ respond: (_request, n) => (n <= IN_FLIGHT ? held : { status: 200 }) });
	const { id } = await shop.webhook(receiver.url("/"), { max_in_flight: IN_FLIGHT });
	const publish = (from: number) =>
		shop.post(shop.path("/events"), { events: Array.from({ length: 500 }, (_, i) => purchase(from + i)) });
	await publish(0);
	await receiver.count(IN_FLIGHT);
	const { body } = await shop.post(shop.path(`/webhooks/${id}/rotate-secret`), {});
	receiver.setSecret(body.secret);
	letGo();
	await publish(500);
	await receiver.count(1000);
	const verified = receiver.requests.map((request) => request.verified);
	expect(verified).toEqual([...Array(IN_FLIGHT).fill(true), ...Array(1000 - IN_FLIGHT).fill(true)]);
});

test("a hanging and a refusing receiver don't affect 50 healthy ones", async () => {
	await using shop = await Shop.open({ POSTHORN_RETRY_DELAYS: "600" });
	const sound = await shop.receiver({ secret: undefined, keep: 100_000 });
	const hanging = await shop.receiver({ respond: () => "hang" });
	const refused = `https://localhost:${await unusedPort()}/`;
	const all = { events: ["purchase.completed"] };
	await shop.webhook(hanging.url("/"), all);
	const refusing = await shop.webhook(refused, all);
	for (let i = 0; i < 50; i++) await shop.webhook(sound.url(`/${i}`), all);
	const EVENTS = 40;
	for (let n = 0; n < EVENTS; n++) await shop.post(shop.path("/events"), purchase(n));
	await sound.count(50 * EVENTS);
	for (let i = 0; i < 50; i++) {
		const got = sound.requests
			.filter((request) => request.path === `/${i}`)
			.map((r) => JSON.parse(r.rawBody.toString()).data.n);
		expect(got).toEqual(Array.from({ length: EVENTS }, (_, n) => n));
	}
	const entry = await untilFound(shop, `/attempts?webhook_id=${refusing.id}`);
	expect(entry).toMatchObject({ status: "retrying", status_code: null, error_code: "connection_refused" });
	expect(entry.error).not.toMatch(/127\.0\.0\.1|::1/);
});

test("stopping finishes and settles attempts in flight and exits 0; the next start continues from there", async () => {
	await using shop = await Shop.open();
	let letGo = (): void => {};
	const held = new Promise<{ status: number }>((resolve) => {
		letGo = () => resolve({ status: 200 });
	});
	const receiver = await shop.receiver({ respond: (_request, n) => (n === 1 ? held : { status: 200 }) });
	const { id } = await shop.webhook(receiver.url("/"));
	await shop.post(shop.path("/events"), { events: [purchase(0), purchase(1), purchase(2)] });
	await receiver.count(1);
	const stopped = shop.service.stop();
	letGo();
	expect(await stopped).toBe(0);
	await shop.start();
	await receiver.count(3);
	expect(receiver.requests.map((request) => JSON.parse(request.rawBody.toString()).data.n)).toEqual([0, 1, 2]);
	await untilFound(shop, `/attempts?webhook_id=${id}`);
});

/** The newest row of a list, as soon as there is one. */
// biome-ignore lint/suspicious/noExplicitAny: rows as the API gives them
async function untilFound(shop: Shop, path: string): Promise<any> {
	return until("a row", async () => (await shop.get(shop.path(path))).body.data[0]);
}
