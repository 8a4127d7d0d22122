import { until } from "@posthorn/testkit/until";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { seal, TestApi } from "../../test/api/api.ts";
import { Seal } from "../base/seal.ts";
import { header, signatureOf } from "../engine/send/receiver.fixture.ts";
import { sealLostSecret, sealSecret } from "../engine/signing-keys.ts";

/**
 * Changes of webhooks through the API while the engine runs: once the API has responded, the change is in force. Each
 * test fails if the change is stored without notifying the engine.
 */
let api: TestApi;
let project: string;
let webhook: string;
let secret: string;
/** Requests by path, in the order in which they came. */
let received: { readonly path: string; readonly id: string; readonly isGenuine: boolean }[];
/** Paths with a pending wait. */
let arrived: () => void = () => undefined;

beforeAll(async () => {
	api = await TestApi.start();
	api.receiver.on("request", (request: (typeof api.receiver.requests)[number]) => {
		const timestamp = header(request, "X-Service-Timestamp")!;
		received.push({
			path: request.head.split(" ")[1]!,
			id: header(request, "X-Service-Event-Id")!,
			isGenuine: header(request, "X-Service-Signature") === signatureOf(secret, timestamp, request.body),
		});
		arrived();
	});
});
afterAll(() => api.close());

beforeEach(async () => {
	received = [];
	project = await api.project();
	const body = { url: api.receiver.url("/one"), events: ["delivery.success", "delivery.failed"] };
	const created = (await api.call("POST", `${project}/webhooks`, { body })).json;
	webhook = `${project}/webhooks/${created.id}`;
	secret = String(created.secret);
	await api.webhook(project, { url: api.receiver.url("/witness") });
	await published("/one", "/witness");
});

/** Publishes an event, and resolves when it has reached all of these paths. */
async function published(...paths: readonly string[]): Promise<void> {
	const id = await api.publish(project);
	while (!paths.every((path) => received.some((request) => request.path === path && request.id === id)))
		await new Promise<void>((resolve) => (arrived = resolve));
}

/**
 * The requests to a path for two events that the other webhook gets: by the second, all that the first would have
 * caused has been sent.
 */
async function comesTo(path: string): Promise<number> {
	const before = received.filter((request) => request.path === path).length;
	await published("/witness");
	await published("/witness");
	return received.filter((request) => request.path === path).length - before;
}

// It stopped the whole project, until a restart or up to an hour after the secret was rotated.
test.each(["unreadable", "lost"])("a webhook whose secret is %s gets its backlog once it is rotated", async (state) => {
	const [projectId, webhookId] = [project.split("/").at(-1)!, webhook.split("/").at(-1)!];
	const sealed =
		state === "lost"
			? sealLostSecret(seal, webhookId)
			: sealSecret(new Seal([Buffer.alloc(32, 8)]), "whsec_unknown", webhookId);
	await api.parts.engine.change(
		projectId,
		() => api.storage.rotateSecret({ projectId, webhookId, ...sealed }),
		() => ({ webhookId }),
	);
	expect(await comesTo("/one")).toBe(0);
	expect((await api.call("GET", webhook)).json).toMatchObject({ status: "active", secret_state: state });
	const list = async () => (await api.call("GET", `${project}/webhooks`)).json.data;
	expect(await list()).toMatchObject([{ secret_state: state }, { secret_state: "usable" }]);
	// It was healthy, by its earlier delivery.
	const health = (await api.call("GET", `${project}/webhooks/health?webhook_id=${webhookId}`)).json.data;
	expect(health).toMatchObject([{ state: "failing" }]);
	const [counted] = (await api.call("GET", `/v1/projects/health?project_id=${projectId}`)).json.data;
	expect(counted).toMatchObject({ webhooks: { failing: 1 } });
	await until("webhooks to be counted for the metrics", () => api.parts.health.read()?.failing === 1);
	// Once the delivery before has been settled.
	await until("two events to wait", async () => (await list())[0]!.backlog.events === 2);
	const conflict = { status: 409, json: { detail: expect.stringContaining("Rotate the secret") } };
	expect(await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } })).toMatchObject(conflict);
	const [attempt] = (await api.call("GET", `${project}/attempts?webhook_id=${webhookId}`)).json.data;
	const check = `${project}/attempts/${attempt!.id}/signature-check`;
	expect(await api.call("POST", check, { body: { clock: 1 } })).toMatchObject(conflict);
	// It can be changed, and still waits.
	const changed = await api.call("PATCH", webhook, { body: { url: api.receiver.url("/two") } });
	expect(changed.json).toMatchObject({ secret_state: state });

	const rotated = await api.call("POST", `${webhook}/rotate-secret`);
	secret = String(rotated.json.secret);
	await published("/two", "/witness");
	const sent = received.filter(({ path }) => path === "/two");
	// The first ones may have come before the response with the new secret.
	expect([sent.length, sent.at(-1)!.isGenuine]).toEqual([3, true]);
	expect((await api.call("GET", webhook)).json).toMatchObject({ secret_state: "usable" });
});

test("a deleted webhook gets nothing more", async () => {
	expect((await api.call("DELETE", webhook)).status).toBe(204);
	expect(await comesTo("/one")).toBe(0);
});

test("a paused webhook gets nothing more", async () => {
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	expect(await comesTo("/one")).toBe(0);
});

test("an unsubscribed type is no longer sent", async () => {
	await api.call("PATCH", webhook, { body: { events: ["delivery.failed"] } });
	expect(await comesTo("/one")).toBe(0);
});

test("after a change of URL, only the new one is called", async () => {
	await api.call("PATCH", webhook, { body: { url: api.receiver.url("/two") } });
	await published("/two", "/witness");
	expect(await comesTo("/one")).toBe(0);
});

test("the old secret no longer signs", async () => {
	expect(received.filter(({ path }) => path === "/one").map(({ isGenuine }) => isGenuine)).toEqual([true]);
	secret = String((await api.call("POST", `${webhook}/rotate-secret`)).json.secret);
	await published("/one");
	expect(received.filter(({ path }) => path === "/one").at(-1)!.isGenuine).toBe(true);
});

test("a new webhook gets the next event", async () => {
	await api.webhook(project, { url: api.receiver.url("/new") });
	await published("/new", "/witness");
});

test("without the Developer app no webhook gets anything more", async () => {
	await api.call("DELETE", `${project}/apps/developer`);
	const other = await api.project();
	await api.webhook(other, { url: api.receiver.url("/other") });
	const before = received.length;
	await api.publish(project);
	project = other;
	await published("/other");
	await published("/other");
	expect(received.slice(before).map(({ path }) => path)).toEqual(["/other", "/other"]);
});
