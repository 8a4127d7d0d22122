import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { absentId } from "../base/ids.fixture.ts";

let api: TestApi;
let victim: string;
let key: string;
let paths: string[];

/** Bodies that each route accepts from permitted callers. */
const BODIES: Record<string, unknown> = {
	createApiKey: { name: "x" },
	publishEvents: { type: "delivery.success", data: {} },
	createWebhook: { url: "https://example.com/", events: ["delivery.success"] },
	updateWebhook: { description: "taken over" },
	testWebhook: { type: "delivery.success" },
	replayFailed: { status: "failed" },
	checkSignature: { signature: "0" },
};

interface Operation {
	readonly method: string;
	readonly path: string;
	readonly operationId: string;
}
let operations: Operation[];

beforeAll(async () => {
	api = await TestApi.start();
	victim = await api.project("Victim");
	const webhook = await api.webhook(victim);
	const event = await api.publish(victim);
	await api.attempted();
	const attempt = (await api.call("GET", `${victim}/attempts`)).json.data[0]!.id;
	const keyId = (await api.call("POST", `${victim}/api-keys`, { body: { name: "v" } })).json.id;
	paths = [victim, webhook, event, String(attempt), String(keyId)];
	const attacker = await api.project("Attacker");
	key = await api.keyOf(attacker);

	const { json } = await api.call("GET", "/openapi.json");
	operations = Object.entries(json.paths)
		.filter(([path]) => path.includes("{project_id}"))
		.flatMap(([path, methods]) =>
			Object.entries(methods).map(([method, { operationId }]) => ({ method: method.toUpperCase(), path, operationId })),
		);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;

function fill(path: string, projectId: string): string {
	const [, webhook, event, attempt, keyId] = paths;
	return path
		.replace("{project_id}", projectId)
		.replace("{webhook_id}", idOf(webhook!))
		.replace("{event_id}", event!)
		.replace("{attempt_id}", attempt!)
		.replace("{key_id}", keyId!);
}

test("every route returns 404 to another project's key, and changes nothing", async () => {
	expect(operations.length).toBeGreaterThan(15);
	const before = api.storedRows();
	const absent = absentId(idOf(victim));
	for (const { method, path, operationId } of operations) {
		const body = BODIES[operationId];
		const there = await api.call(method, fill(path, idOf(victim)), { key, body });
		const nowhere = await api.call(method, fill(path, absent), { key, body });
		expect(there.status, operationId).toBe(404);
		expect(there.text, operationId).toBe(nowhere.text);
		const names = (headers: Record<string, string>) => Object.keys(headers).sort();
		expect(names(there.headers), operationId).toEqual(names(nowhere.headers));
	}
	expect(api.storedRows()).toEqual(before);
});

test("other projects' resources aren't found under one's own project", async () => {
	const mine = await api.project("Mine");
	const myKey = await api.keyOf(mine);
	const singles = operations.filter(({ path }) => /\{(webhook|attempt|event|key)_id\}/.test(path));
	expect(singles.length).toBeGreaterThan(8);
	for (const { method, path, operationId } of singles) {
		const { status } = await api.call(method, fill(path, idOf(mine)), { key: myKey, body: BODIES[operationId] });
		expect(status, operationId).toBe(404);
	}
	expect((await api.call("GET", paths[1]!)).status).toBe(200);
	const filtered = await api.call("GET", `${mine}/attempts?webhook_id=${idOf(paths[1]!)}`, { key: myKey });
	expect(filtered.json.data).toEqual([]);
	const cursor = Buffer.from(paths[3]!).toString("base64url");
	expect((await api.call("GET", `${mine}/attempts?cursor=${cursor}`, { key: myKey })).json.data).toEqual([]);
});

test("a project's key can do everything in its project except create keys", async () => {
	const mine = await api.project("Own");
	const myKey = await api.keyOf(mine);
	const call = (method: string, path: string, body?: unknown) => api.call(method, mine + path, { key: myKey, body });
	const { json } = await call("POST", "/webhooks", { url: api.receiver.url(), events: ["delivery.success"] });
	expect((await call("GET", `/webhooks/${json.id}`)).status).toBe(200);
	expect((await call("POST", "/events", BODIES.publishEvents)).status).toBe(202);
	expect((await call("GET", "/events")).json.data).toHaveLength(1);
	expect((await call("GET", "/attempts")).status).toBe(200);
	expect((await call("POST", "/api-keys", { name: "second" })).status).toBe(403);
	expect((await call("DELETE", `/webhooks/${json.id}`)).status).toBe(204);
});
