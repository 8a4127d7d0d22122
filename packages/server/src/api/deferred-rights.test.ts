import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../../../testkit/src/until.ts";
import { TestApi } from "../../test/api/api.ts";
import { member, setUp } from "../../test/api/browser.ts";
import { RESPONSES } from "../base/budgets.ts";
import { answered } from "../engine/send/receiver.fixture.ts";
import { OneByOne } from "./http/body.ts";

let api: TestApi;
let project: string;
/** Reads of statistics wait for this before they begin. */
let gate: Promise<void>;
let reads: number;
beforeEach(async () => {
	gate = Promise.resolve();
	reads = 0;
	api = await TestApi.start({
		// So long that no retry is made unless someone asks for it.
		retryDelaysMs: [3_600_000],
		parts: ({ storage }) => ({
			storage: new Proxy(storage, {
				get(target, name) {
					const member: unknown = Reflect.get(target, name);
					if (typeof member !== "function") return member;
					if (name !== "countAttempts") return member.bind(target);
					return async (...args: unknown[]) => {
						reads++;
						await gate;
						return member.apply(target, args);
					};
				},
			}),
		}),
	});
	project = await api.project();
	await api.app.listen({ port: 0, host: "127.0.0.1" });
});
afterEach(() => api.close());

/** Sends a request's header, runs `meanwhile` once it is authorized, then sends the body. @returns the response */
async function send(path: string, headers: Record<string, string>, body: object, meanwhile: () => Promise<unknown>) {
	const { port } = api.app.server.address() as AddressInfo;
	const content = Buffer.from(JSON.stringify(body));
	const request = httpRequest({
		...{ port, host: "127.0.0.1", method: "POST", path },
		headers: {
			...{ "content-type": "application/json", "content-length": content.length, expect: "100-continue" },
			...headers,
		},
	});
	request.flushHeaders();
	await once(request, "continue");
	await meanwhile();
	request.end(content);
	const [response] = (await once(request, "response")) as [IncomingMessage];
	return { status: response.statusCode, text: await text(response) };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const EVENT = { type: "delivery.success", data: {} };

async function createKey(scopes: string[]): Promise<{ id: string; key: string }> {
	return (await api.call("POST", `${project}/api-keys`, { body: { name: "short-lived", scopes } })).json;
}

// A request whose body was kept back for up to 30 seconds was authorized only when its header arrived.
test("a key that is deleted while a body arrives publishes nothing", async () => {
	const { id, key } = await createKey(["publish"]);
	const path = `${project}/events`;
	expect((await send(path, bearer(key), EVENT, async () => {})).status).toBe(202);
	const late = await send(path, bearer(key), EVENT, () => api.call("DELETE", `${project}/api-keys/${id}`));
	expect(late.status).toBe(401);
	expect((await api.call("GET", path)).json.last_seq).toBe(1);
});

// One that had arrived completely before its key was looked up was authorized only then, and could wait for ten seconds.
test("a key that is deleted while a large body waits for its turn publishes nothing", async () => {
	const { engine, apiKeys } = api.parts;
	const [publish, authenticate] = [engine.publish.bind(engine), apiKeys.authenticate.bind(apiKeys)];
	const path = `${project}/events`;
	const { id, key } = await createKey(["publish"]);
	const large = { type: "delivery.success", data: { text: "x".repeat(RESPONSES.sliceBytes) } };
	const [publishing, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	vi.spyOn(engine, "publish").mockImplementationOnce(async (...call) => {
		publishing.resolve();
		await turn.promise;
		return publish(...call);
	});
	const first = api.call("POST", path, { body: large });
	await publishing.promise;
	const accepted = once(api.app.server, "connection");
	const content = JSON.stringify(large);
	vi.spyOn(apiKeys, "authenticate").mockImplementationOnce(async (...call) => {
		const [served] = (await accepted) as [Socket];
		await until("the whole body to arrive", () => served.bytesRead > content.length);
		return authenticate(...call);
	});
	const enter = vi.spyOn(OneByOne.prototype, "enter");
	const { port } = api.app.server.address() as AddressInfo;
	const headers = { ...bearer(key), "content-type": "application/json", "content-length": content.length };
	const request = httpRequest({ port, host: "127.0.0.1", method: "POST", path, headers }).end(content);
	const response = once(request, "response");
	await until("it to wait", () => enter.mock.calls.length === 1);
	expect((await api.call("DELETE", `${project}/api-keys/${id}`)).status).toBe(204);
	turn.resolve();
	expect((await first).status).toBe(202);
	const [late] = (await response) as [IncomingMessage];
	expect(late.statusCode).toBe(401);
	expect((await api.call("GET", path)).json.last_seq).toBe(1);
});

test("a member who is removed while a body arrives creates no key", async () => {
	await setUp(api);
	const ada = await member(api, project, "developer", "ada");
	const create = (meanwhile: () => Promise<unknown>) =>
		send(`${project}/api-keys`, ada.headersFor("POST"), { name: "kept", scopes: ["read"] }, meanwhile);
	expect((await create(async () => {})).status).toBe(201);
	const remove = async () => {
		expect((await api.call("DELETE", `${project}/members/${ada.accountId}`)).status).toBe(204);
	};
	const late = await create(remove);
	expect(late.status).toBe(404);
	expect((await api.call("GET", `${project}/api-keys`)).json.data).toHaveLength(1);
});

// Writes to a project take turns, so many of them could wait while another owner removed the one who sent them.
test.each([
	["removed", "invitations", { role: "owner" }, 404],
	["demoted", "invitations", { role: "owner" }, 403],
	["removed", "api-keys", { name: "kept" }, 404],
])("an owner who is %s while their %s wait to be stored leaves none", async (how, what, body, status) => {
	await setUp(api);
	const ada = await member(api, project, "owner", "ada");
	await member(api, project, "owner", "grace");
	const path = `${project}/${what}`;
	expect((await ada.call("POST", path, { body })).status).toBe(201);
	const before = (await api.call("GET", path)).json.data.length;
	const end = () => {
		const url = `${project}/members/${ada.accountId}`;
		return how === "removed" ? api.call("DELETE", url) : api.call("PATCH", url, { body: { role: "viewer" } });
	};
	const { members, apiKeys } = api.parts;
	const invite = members.invite.bind(members);
	const createKey = apiKeys.create.bind(apiKeys);
	vi.spyOn(members, "invite").mockImplementation(async (invited) => {
		await end();
		return invite(invited);
	});
	vi.spyOn(apiKeys, "create").mockImplementation(async (key) => {
		await end();
		return createKey(key);
	});
	expect((await ada.call("POST", path, { body })).status).toBe(status);
	// All invitations of a former owner end.
	expect((await api.call("GET", path)).json.data).toHaveLength(what === "invitations" ? 0 : before);
});

// An owner who expected to be removed could still stop all deliveries and programs afterwards.
test.each([
	["removed", 404],
	["demoted", 403],
])("an owner who is %s while their removals of the app and of a key wait removes neither", async (how, status) => {
	await setUp(api);
	const ada = await member(api, project, "owner", "ada");
	await member(api, project, "owner", "grace");
	const { id } = await createKey(["read"]);
	const webhook = await api.webhook(project);
	const { storage } = api.parts;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const held = (["setDeveloperApp", "deleteApiKey"] as const).map((verb) => {
		const store = storage[verb].bind(storage) as (about: object) => Promise<unknown>;
		return vi.spyOn(storage, verb).mockImplementationOnce((async (about: object) => {
			await ended;
			return store(about);
		}) as never);
	});
	const paths = [`${project}/apps/developer`, `${project}/api-keys/${id}`];
	const waiting = paths.map((path) => ada.call("DELETE", path));
	await until("all calls to be held", () => held.every((verb) => verb.mock.calls.length === 1));
	const url = `${project}/members/${ada.accountId}`;
	const body = { role: "viewer" };
	const ending = how === "removed" ? await api.call("DELETE", url) : await api.call("PATCH", url, { body });
	expect(ending.status).toBeLessThan(300);
	end();
	expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([status, status]);
	expect((await api.call("GET", webhook)).json.status).toBe("active");
	expect((await api.call("GET", `${project}/api-keys`)).json.data.map((key) => key.id)).toContain(id);
});

test.each([
	["removed", 404],
	["demoted", 403],
])("an owner who is %s while they rename the project and revoke an invitation does neither", async (how, status) => {
	await setUp(api);
	const ada = await member(api, project, "owner", "ada");
	await member(api, project, "owner", "grace");
	const { id } = (await api.call("POST", `${project}/invitations`, { body: { role: "viewer" } })).json;
	const { storage } = api.parts;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const held = (["renameProject", "deleteInvitation"] as const).map((verb) => {
		const store = storage[verb].bind(storage) as (about: object) => Promise<unknown>;
		return vi.spyOn(storage, verb).mockImplementationOnce((async (about: object) => {
			await ended;
			return store(about);
		}) as never);
	});
	const waiting = [
		ada.call("PATCH", project, { body: { name: "Mine" } }),
		ada.call("DELETE", `${project}/invitations/${id}`),
	];
	await until("all calls to be held", () => held.every((verb) => verb.mock.calls.length === 1));
	const url = `${project}/members/${ada.accountId}`;
	const body = { role: "viewer" };
	const ending = how === "removed" ? await api.call("DELETE", url) : await api.call("PATCH", url, { body });
	expect(ending.status).toBeLessThan(300);
	end();
	expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([status, status]);
	expect((await api.call("GET", project)).json.name).toBe("Store");
	expect((await api.call("GET", `${project}/invitations`)).json.data).toHaveLength(1);
});

// Otherwise an owner who was just removed could make an accomplice an owner, and remove the others.
test.each([
	["removed", 404],
	["demoted", 403],
])("an owner who is %s while their changes of members wait to be stored changes none", async (how, status) => {
	await setUp(api);
	const ada = await member(api, project, "owner", "ada");
	const grace = await member(api, project, "owner", "grace");
	await member(api, project, "owner", "alan");
	const friend = await member(api, project, "viewer", "friend");
	const pathOf = ({ accountId }: { accountId: string }) => `${project}/members/${accountId}`;
	const { storage } = api.parts;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const held = (["setRole", "removeMember"] as const).map((verb) => {
		const store = storage[verb].bind(storage) as (about: object) => Promise<unknown>;
		return vi.spyOn(storage, verb).mockImplementationOnce((async (about: object) => {
			await ended;
			return store(about);
		}) as never);
	});
	const waiting = [ada.call("PATCH", pathOf(friend), { body: { role: "owner" } }), ada.call("DELETE", pathOf(grace))];
	await until("all calls to be held", () => held.every((verb) => verb.mock.calls.length === 1));
	const ending =
		how === "removed"
			? await grace.call("DELETE", pathOf(ada))
			: await grace.call("PATCH", pathOf(ada), { body: { role: "viewer" } });
	expect(ending.status).toBeLessThan(300);
	end();
	expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([status, status]);
	for (const verb of held) verb.mockRestore();
	const members = (await grace.call("GET", `${project}/members`)).json.data;
	const roles = members.filter(({ account_id }) => account_id !== ada.accountId).map(({ role }) => role);
	expect(roles).toEqual(["owner", "owner", "viewer"]);
});

// A removed developer's requests that were still waiting created webhooks, which kept receiving events.
test.each([
	["a removed member", 404],
	["a deleted key", 401],
])("changes of webhooks that %s left waiting aren't made", async (who, status) => {
	await setUp(api);
	const ada = await member(api, project, "developer", "ada");
	const { id: keyId, key } = await createKey(["manage"]);
	const isMember = who === "a removed member";
	const call = (method: string, path: string, body?: object) =>
		isMember ? ada.call(method, path, { body }) : api.call(method, path, { body, key });
	const webhooks = `${project}/webhooks`;
	const hook = { url: "https://receiver.example/", events: ["purchase.completed"] };
	const one = `${webhooks}/${(await call("POST", webhooks, hook)).json.id}`;
	const { json: before } = await api.call("GET", one);
	const { storage } = api.parts;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const verbs = ["createWebhook", "updateWebhook", "rotateSecret", "deleteWebhook"] as const;
	const held = verbs.map((verb) => {
		const store = storage[verb].bind(storage) as (about: object) => Promise<unknown>;
		return vi.spyOn(storage, verb).mockImplementation((async (about: object) => {
			await ended;
			return store(about);
		}) as never);
	});
	const waiting = [
		call("POST", webhooks, hook),
		call("PATCH", one, { url: "https://other.example/" }),
		call("POST", `${one}/rotate-secret`),
		call("DELETE", one),
	];
	await until("all calls to be held", () => held.every((verb) => verb.mock.calls.length === 1));
	const right = isMember ? `members/${ada.accountId}` : `api-keys/${keyId}`;
	expect((await api.call("DELETE", `${project}/${right}`)).status).toBe(204);
	end();
	expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual(waiting.map(() => status));
	for (const verb of held) verb.mockRestore();
	expect((await api.call("GET", webhooks)).json.data).toEqual([before]);
	expect((await api.call("PATCH", one, { body: { description: "kept" } })).status).toBe(200);
});

// A removed member's replay by filter continued for up to three transactions, and one of a webhook to its end.
describe.each([
	["removed", 404],
	["demoted", 403],
])("a member who is %s during a bulk action", (how, status) => {
	const NAMED = Array.from({ length: 60 }, (_, i) => ({ webhook_id: "", event_id: `evt_${i}` }));
	test.each([
		["replays by filter", "replayMatching", "replays", { filter: {} }, 202],
		["replays by webhook", "replayMatching", "replay", { status: "failed" }, status],
		["replays by name", "replayDelivery", "replays", { deliveries: NAMED }, 202],
		["retries by webhook", "retryWaiting", "retry", undefined, status],
		["retries by name", "retryDeliveries", "retries", { deliveries: NAMED }, status],
		["dismissals by name", "dismissDeliveries", "dismissals", { deliveries: NAMED }, status],
		["dismissals by filter", "dismissDeliveries", "dismissals", { filter: {} }, status],
	] as const)("can't continue %s", async (_what, verb, action, body, answer) => {
		await setUp(api);
		const ada = await member(api, project, "developer", "ada");
		const { id } = (
			await api.call("POST", `${project}/webhooks`, {
				body: { url: "https://receiver.example/", events: ["purchase.completed"] },
			})
		).json;
		const changed = vi.spyOn(api.parts.storage, verb).mockImplementation((async (given: {
			deliveries?: readonly unknown[];
		}) => {
			const path = `${project}/members/${ada.accountId}`;
			if (how === "removed") await api.call("DELETE", path);
			else await api.call("PATCH", path, { body: { role: "viewer" } });
			if (verb === "replayDelivery") return { kind: "queued" };
			const isSecond = changed.mock.calls.length > 1;
			if (verb === "retryWaiting") return { seqs: [1], next: isSecond ? null : { dueAt: 1, seq: 1 } };
			if (verb === "replayMatching") return { count: 1, next: isSecond ? null : "att_01kbjh6mrxe3q8z1v2t4w5y6a7" };
			return given.deliveries?.map(() => (verb === "dismissDeliveries" ? "dismissed" : { kind: "queued" }));
		}) as never);
		vi.spyOn(api.parts.storage, "countRetries").mockResolvedValue({ count: 2, next: null });
		const dead = {
			...{ webhookId: id, eventType: "purchase.completed", orderId: null, replay: 0, attempt: 1 },
			next: null,
		};
		const rows = NAMED.map(({ event_id }, i) => ({
			...dead,
			id: `att_${i}`,
			seq: i + 1,
			eventId: event_id,
			status: "failed",
		}));
		vi.spyOn(api.parts.storage, "listFollowedAttempts").mockResolvedValue({ rows, next: null } as never);
		const path = action === "replay" || action === "retry" ? `webhooks/${id}/${action}` : action;
		const named =
			body && "deliveries" in body ? { deliveries: NAMED.map((one) => ({ ...one, webhook_id: id })) } : body;
		const { status: got, json } = await ada.call("POST", `${project}/${path}`, { body: named });
		const done = verb === "dismissDeliveries" || (named && "deliveries" in named) ? 50 : 1;
		expect(got).toBe(answer);
		expect(changed).toHaveBeenCalledTimes(verb === "replayDelivery" ? 50 : 1);
		// What was done is in the audit log, and in the response if it has a count.
		if (got === 202) expect(json.count).toBe(done);
		const [entry] = (await api.call("GET", `${project}/audit`)).json.data.filter(
			({ action: did }: { action: string }) => did.startsWith("deliveries."),
		);
		expect(entry).toMatchObject({ detail: { count: done } });
	});
});

// Each waited for the project's rows, and was done once it got them.
test.each([
	["a removed member", 404],
	["a deleted key", 401],
])("replays, retries, dismissals and tests that %s left waiting aren't made", async (who, status) => {
	await setUp(api);
	const ada = await member(api, project, "developer", "ada");
	const { id: keyId, key } = await createKey(["manage"]);
	const isMember = who === "a removed member";
	const call = (path: string, body?: object) =>
		isMember ? ada.call("POST", path, { body }) : api.call("POST", path, { body, key });
	const webhook = await api.webhook(project);
	api.receiver.answer = answered(500);
	const [dead, waiting] = [await api.publish(project), await api.publish(project)];
	await api.attempted(2);
	const pathOf = (event: string) => `${webhook}/deliveries/${event}`;
	await api.call("POST", `${pathOf(dead)}/retry`);
	const { json: tested } = await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	await api.attempted(2);
	const look = async () =>
		Promise.all([dead, waiting, tested.event_id].map(async (event) => (await api.call("GET", pathOf(event))).json));
	const before = await look();
	expect(before.map(({ state }) => state)).toEqual(["dead_lettered", "attempting", "attempting"]);
	const { storage } = api.parts;
	const { promise: ended, resolve: end } = Promise.withResolvers<void>();
	const verbs = [
		...(["replayDelivery", "replayMatching", "retryDeliveries", "retryWaiting"] as const),
		...(["dismissDeliveries", "cancelTest", "appendTestEvent"] as const),
	];
	const held = verbs.map((verb) => {
		const store = storage[verb].bind(storage) as (about: object) => Promise<unknown>;
		return vi.spyOn(storage, verb).mockImplementation((async (about: object) => {
			await ended;
			return store(about);
		}) as never);
	});
	const named = (event_id: string) => ({
		deliveries: [{ webhook_id: webhook.slice(webhook.lastIndexOf("/") + 1), event_id }],
	});
	const calls = [
		...[call(`${pathOf(dead)}/replay`), call(`${project}/replays`, named(dead))],
		...[call(`${project}/replays`, { filter: {} }), call(`${webhook}/replay`, { status: "failed" })],
		...[call(`${pathOf(waiting)}/retry`), call(`${project}/retries`, named(waiting)), call(`${webhook}/retry`)],
		...[call(`${pathOf(dead)}/dismiss`), call(`${project}/dismissals`, named(dead))],
		...[call(`${pathOf(tested.event_id)}/cancel`), call(`${webhook}/test`, { type: "delivery.success" })],
	];
	const begun = () => held.reduce((sum, verb) => sum + verb.mock.calls.length, 0);
	await until("all calls to be held", () => begun() === calls.length);
	const right = isMember ? `members/${ada.accountId}` : `api-keys/${keyId}`;
	expect((await api.call("DELETE", `${project}/${right}`)).status).toBe(204);
	end();
	expect((await Promise.all(calls)).map((answer) => answer.status)).toEqual(calls.map(() => status));
	for (const verb of held) verb.mockRestore();
	expect(await look()).toEqual(before);
	expect((await api.call("GET", `${project}/attempts/count`)).json.count).toBe(4);
	const audited = (await api.call("GET", `${project}/audit`)).json.data.map(({ action }) => action);
	expect(audited.filter((action: string) => action.startsWith("deliver"))).toEqual(["delivery.retried"]);
});

test("a key that is deleted while a read waits for others reads nothing", async () => {
	const { id, key } = await createKey(["read"]);
	const { promise, resolve: open } = Promise.withResolvers<void>();
	gate = promise;
	const count = () => api.call("GET", `${project}/attempts/count`, { key });
	const first = Array.from({ length: RESPONSES.readsPerPrincipal }, count);
	await until("the reads", () => reads === RESPONSES.readsPerPrincipal);
	const waiting = count();
	await api.call("DELETE", `${project}/api-keys/${id}`);
	open();
	expect((await Promise.all(first)).map(({ status }) => status)).toEqual(first.map(() => 200));
	expect((await waiting).status).toBe(401);
	expect(reads).toBe(RESPONSES.readsPerPrincipal);
});
