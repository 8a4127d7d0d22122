import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_KEY, TestApi } from "../../test/api/api.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

test("secrets and keys appear only in the response that shows them", async () => {
	const project = await api.project();
	const body = { url: api.receiver.url(), events: ["delivery.success"] };
	const webhook = (await api.call("POST", `${project}/webhooks`, { body })).json;
	const path = `${project}/webhooks/${webhook.id}`;
	const rotated = (await api.call("POST", `${path}/rotate-secret`)).json;
	const apiKey = (await api.call("POST", `${project}/api-keys`, { body: { name: "k" } })).json;
	const key = apiKey.key;
	const event = (
		await api.call("POST", `${project}/events`, { key, body: { type: "delivery.success", data: { a: "findable" } } })
	).json;
	await api.attempted();
	await api.call("GET", `${project}/webhooks`, { key: `${key}wrong` });
	await api.call("POST", `${project}/webhooks`, { key, raw: `{"secret": ${key}` });

	const answers: string[] = [];
	for (const url of [
		"/v1/projects",
		project,
		`${project}/webhooks`,
		path,
		`${project}/api-keys`,
		`${project}/events`,
		`${project}/events/${event.id}`,
		`${project}/attempts`,
		`${path}/deliveries/${event.id}`,
		"/metrics",
		"/openapi.json",
		"/docs",
	])
		answers.push((await api.call("GET", url)).text);
	answers.push((await api.call("PATCH", path, { body: { description: "x" } })).text);
	const said = answers.join("\n");
	const logged = api.logs.join("\n");
	await api.parts.apiKeys.close();
	const stored = api.databaseBytes();

	// The search does find other stored data: an event's data and the webhook's URL.
	expect(stored.includes("findable")).toBe(true);
	expect(logged).toContain("/v1/projects/:project_id/webhooks");

	const digest = (secret: string) => createHash("sha256").update(secret).digest();
	for (const secret of [webhook.secret, rotated.secret, key, OPERATOR_KEY].map(String)) {
		const tail = secret.slice(-30);
		expect(said).not.toContain(tail);
		expect(logged).not.toContain(tail);
		expect(stored.includes(tail)).toBe(false);
	}
	// The digests of secrets can sign, so they are sealed, and aren't found either.
	for (const secret of [webhook.secret, rotated.secret].map(String)) {
		expect(stored.includes(digest(secret))).toBe(false);
		expect(stored.includes(digest(secret).toString("hex"))).toBe(false);
		expect(said).not.toContain(digest(secret).toString("hex"));
	}
	// Only a key's hash is stored.
	expect(stored.includes(digest(key))).toBe(true);
});
