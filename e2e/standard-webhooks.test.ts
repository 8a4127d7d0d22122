/** Webhooks that ask for Standard Webhooks' headers, verified by that specification's own library. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ReceivedRequest } from "@posthorn/testkit";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { purchase, Shop } from "./shop.ts";

let shop: Shop;
beforeAll(async () => {
	shop = await Shop.open({ POSTHORN_RETRY_DELAYS: "0.1,0.1,0.1,0.1,0.1,0.1,0.1" });
});
afterAll(() => shop[Symbol.asyncDispose]());

const STANDARD = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/** What the library makes of a request; it throws unless the request is genuine. */
const verified = ({ rawBody, headers }: ReceivedRequest, secret: string): unknown =>
	new Webhook(secret).verify(rawBody.toString(), { ...headers });

const namesOf = ({ rawHeaders }: ReceivedRequest): string[] => rawHeaders.map(([name]) => name);

test("by default, requests carry exactly the six headers", async () => {
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/six"));
	expect((await shop.get(shop.path(`/webhooks/${id}`))).body.standard_webhooks).toBe(false);
	await shop.post(shop.path("/events"), purchase(1));
	const request = await receiver.next();
	expect(request.verified).toBe(true);
	expect(namesOf(request).filter((name) => STANDARD.includes(name))).toEqual([]);
	await shop.delete(shop.path(`/webhooks/${id}`));
});

test("events, retries, tests and replays verify with one secret in both ways, and rotation replaces both", async () => {
	const receiver = await shop.receiver({ respond: (_request, n) => ({ status: n === 1 ? 500 : 200 }) });
	const { id, secret } = await shop.webhook(receiver.url("/both"), { standard_webhooks: true });
	const webhook = shop.path(`/webhooks/${id}`);
	expect((await shop.get(webhook)).body.standard_webhooks).toBe(true);
	expect(secret).toHaveLength(94);

	const { body: event } = await shop.post(shop.path("/events"), purchase(2));
	const requests = [await receiver.next(), await receiver.next()];
	await shop.post(`${webhook}/test`, { type: "purchase.completed" });
	requests.push(await receiver.next());
	for (const request of requests) {
		expect(request.verified).toBe(true);
		expect(verified(request, secret)).toEqual(request.body);
		expect(namesOf(request).slice(-4)).toEqual([...STANDARD, "content-length"]);
		expect(request.headers["webhook-id"]).toBe(request.headers["x-service-event-id"]);
	}

	// The delivery log shows what was sent.
	const delivery = `${webhook}/deliveries/${event.id}`;
	const { attempts } = (await shop.get(delivery)).body;
	const { body: logged } = await shop.get(shop.path(`/attempts/${attempts[0].id}`));
	const sent = requests.slice(0, 2).map(({ headers }) => headers["webhook-signature"]);
	expect(sent).toContain(logged.request_headers["webhook-signature"]);
	expect(logged.request_headers["webhook-id"]).toBe(event.id);

	const { body: rotated } = await shop.post(`${webhook}/rotate-secret`, {});
	receiver.setSecret(rotated.secret);
	expect((await shop.post(`${delivery}/replay`, {})).status).toBe(202);
	const replayed = await receiver.next();
	expect(replayed.verified).toBe(true);
	expect(verified(replayed, rotated.secret)).toEqual(requests[0]!.body);
	expect(() => verified(replayed, secret)).toThrow("No matching signature");
	expect(Buffer.compare(replayed.rawBody, requests[0]!.rawBody)).toBe(0);

	expect((await shop.patch(webhook, { standard_webhooks: false })).body.standard_webhooks).toBe(false);
	await shop.post(shop.path("/events"), purchase(3));
	expect(namesOf(await receiver.next())).not.toContain("webhook-signature");
	await shop.delete(webhook);
});

test("a retry that is in flight during a rotation is signed by one secret in both ways", async () => {
	const held = Promise.withResolvers<void>();
	const receiver = await shop.receiver({
		async respond(_request, n) {
			if (n > 1) return {};
			await held.promise;
			return { status: 500 };
		},
	});
	const { id, secret } = await shop.webhook(receiver.url("/held"), { standard_webhooks: true });
	await shop.post(shop.path("/events"), purchase(4));
	const first = await receiver.next();
	const { body: rotated } = await shop.post(shop.path(`/webhooks/${id}/rotate-secret`), {});
	receiver.setSecret(rotated.secret);
	held.resolve();
	const second = await receiver.next();
	expect(verified(first, secret)).toEqual(first.body);
	expect(second.verified).toBe(true);
	expect(verified(second, rotated.secret)).toEqual(first.body);
	await shop.delete(shop.path(`/webhooks/${id}`));
});

test("a webhook with a secret of an older version must be rotated first", async () => {
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/old"));
	const database = new DatabaseSync(join(shop.folder, "posthorn.db"));
	database.prepare("UPDATE webhooks SET sealed_standard_digest = NULL WHERE id = ?").run(id);
	database.close();
	const webhook = shop.path(`/webhooks/${id}`);
	const { status, body } = await shop.patch(webhook, { standard_webhooks: true });
	expect([status, body.detail]).toEqual([409, expect.stringContaining("Rotate the secret")]);
	expect((await shop.get(webhook)).body.standard_webhooks).toBe(false);

	const { body: rotated } = await shop.post(`${webhook}/rotate-secret`, {});
	receiver.setSecret(rotated.secret);
	expect((await shop.patch(webhook, { standard_webhooks: true })).status).toBe(200);
	await shop.post(shop.path("/events"), purchase(5));
	const request = await receiver.next();
	expect(verified(request, rotated.secret)).toEqual(request.body);
	await shop.delete(webhook);
});
