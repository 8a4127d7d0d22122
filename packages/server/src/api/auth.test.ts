import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_KEY, TestApi } from "../../test/api/api.ts";
import { member } from "../../test/api/browser.ts";
import { ApiKeys } from "../accounts/api-keys.ts";
import { OperatorKey } from "../accounts/operator-key.ts";
import { keyHash } from "../accounts/tokens.ts";
import { UNAUTHENTICATED } from "../base/budgets.ts";

let api: TestApi;
let project: string;
let key: string;
beforeAll(async () => {
	api = await TestApi.start();
	project = await api.project();
	key = await api.keyOf(project);
});
afterAll(() => api.close());

test("a key is shown once, works, and stops when deleted", async () => {
	const created = await api.call("POST", `${project}/api-keys`, { body: { name: "Shop" } });
	expect(created.status).toBe(201);
	expect(created.json.key).toMatch(/^phk_[\w-]{43}$/);
	expect(created.json.key).toContain(created.json.prefix);
	const mine = created.json.key;
	expect((await api.call("GET", `${project}/webhooks`, { key: mine })).status).toBe(200);

	const { json } = await api.call("GET", `${project}/api-keys`, { key: mine });
	const listed = json.data.find(({ id }) => id === created.json.id)!;
	const shown = ["id", "name", "prefix", "scopes", "expires_at", "created_by", "created_at", "last_used_at"];
	expect(Object.keys(listed)).toEqual(shown);
	expect(listed).toMatchObject({ last_used_at: expect.stringMatching(/Z$/) });
	const one = `${project}/api-keys/${created.json.id}`;
	expect((await api.call("GET", one)).json).toEqual(listed);

	expect((await api.call("DELETE", one, { key: mine })).status).toBe(204);
	expect((await api.call("GET", `${project}/webhooks`, { key: mine })).status).toBe(401);
	expect((await api.call("GET", one)).status).toBe(404);
	expect((await api.call("DELETE", one)).status).toBe(404);
});

test.each([
	[{}, "/name"],
	[{ name: "" }, "/name"],
	[{ name: "\u00ad" }, "/name"],
	[{ name: "x".repeat(101) }, "/name"],
	[{ name: "a\u0000" }, "/name"],
	[{ name: "x", key: "mine" }, "/key"],
	[{ name: "x", scopes: [] }, "/scopes"],
	[{ name: "x", scopes: ["read", "read"] }, "/scopes"],
	[{ name: "x", scopes: ["admin"] }, "/scopes/0"],
	[{ name: "x", scopes: null }, "/scopes"],
	[{ name: "x", expires_at: "tomorrow" }, "/expires_at"],
	[{ name: "x", expires_at: "2026-01-01T00:00:00Z" }, "/expires_at"],
])("a key cannot be %j", async (body, pointer) => {
	const { status, json } = await api.call("POST", `${project}/api-keys`, { body });
	expect([status, ...json.errors.map((error) => error.pointer)]).toEqual([422, pointer]);
});

test("a key's name is stored without the white space around it", async () => {
	const { json } = await api.call("POST", `${project}/api-keys`, { body: { name: " Till\u2003" } });
	expect(json.name).toBe("Till");
});

test("a key's scopes, expiry and creator are in the response and in the list", async () => {
	const ada = await member(api, project, "developer", "ada");
	const expires_at = "2099-01-01T00:00:00.000Z";
	const body = { name: "Till", scopes: ["manage", "publish"], expires_at };
	const { json: created } = await ada.call("POST", `${project}/api-keys`, { body });
	const created_by = { kind: "account", id: ada.accountId, name: "ada" };
	const granted = { scopes: ["publish", "manage"], expires_at, created_by };
	expect(created).toMatchObject(granted);
	const { json: bare } = await api.call("POST", `${project}/api-keys`, { body: { name: "Bare" } });
	const all = {
		scopes: ["publish", "read", "manage"],
		expires_at: null,
		created_by: { kind: "operator_key", id: null },
	};
	expect(bare).toMatchObject(all);
	const { data } = (await ada.call("GET", `${project}/api-keys`)).json;
	expect(data.find(({ id }) => id === created.id)).toMatchObject(granted);
	expect(data.find(({ id }) => id === bare.id)).toMatchObject(all);
});

test("a key beyond its scopes gets 403 with the scope it lacks, and nothing happens", async () => {
	const { json: created } = await api.call("POST", `${project}/api-keys`, {
		body: { name: "Reader", scopes: ["read", "publish"] },
	});
	const webhook = await api.webhook(project);
	const { status, json, headers } = await api.call("DELETE", webhook, { key: created.key });
	expect(status).toBe(403);
	expect(json.detail).toBe(
		"This key has the scopes publish and read; this requires manage. A key's scopes can't be changed: create a key that has manage, under API Keys.",
	);
	expect(headers["www-authenticate"]).toBe('Bearer realm="posthorn", error="insufficient_scope", scope="manage"');
	expect((await api.call("GET", webhook, { key: created.key })).status).toBe(200);
});

// With a second key, a removed developer kept access.
test("a key can't create keys, with any scopes", async () => {
	const { status, json } = await api.call("POST", `${project}/api-keys`, { key, body: { name: "second" } });
	expect(status).toBe(403);
	expect(json.detail).toContain("Only members and the operator can do this");
});

test("an expired key gets 401 with the time it expired, and doesn't count as a guess", async () => {
	const clock = new VirtualClock();
	const timed = await TestApi.start({
		parts: ({ storage, ids, logger }) => ({
			apiKeys: new ApiKeys({ storage, ids, logger, clock, operatorKey: new OperatorKey(keyHash(OPERATOR_KEY)) }),
		}),
	});
	const path = `${await timed.project()}/api-keys`;
	const expires_at = new Date(clock.now() + 60_000).toISOString();
	const { json: created } = await timed.call("POST", path, { body: { name: "Till", expires_at } });
	expect((await timed.call("GET", path, { key: created.key })).status).toBe(200);
	clock.advance(60_000);
	for (let i = 0; i <= UNAUTHENTICATED.wrongTokensPerMinute; i++) {
		const { status, json, headers } = await timed.call("GET", path, { key: created.key });
		expect(status).toBe(401);
		expect(json.detail).toBe(`This API key expired at ${expires_at}. Create another one under API Keys.`);
		expect(headers["www-authenticate"]).toBe('Bearer realm="posthorn", error="invalid_token"');
	}
	expect((await timed.call("GET", path)).json.data).toMatchObject([{ id: created.id, expires_at }]);
	await timed.close();
});

test("a missing or unknown key gets 401 and how to authenticate", async () => {
	for (const [authorization, challenge] of [
		[undefined, 'Bearer realm="posthorn"'],
		["", 'Bearer realm="posthorn"'],
		["Bearer", 'Bearer realm="posthorn"'],
		["Bearer ", 'Bearer realm="posthorn"'],
		[`Basic ${OPERATOR_KEY}`, 'Bearer realm="posthorn"'],
		[OPERATOR_KEY, 'Bearer realm="posthorn"'],
		[`Bearer ${OPERATOR_KEY}x`, 'Bearer realm="posthorn", error="invalid_token"'],
		["Bearer phk_unknown", 'Bearer realm="posthorn", error="invalid_token"'],
		["Bearer \u00ff\u00fe", 'Bearer realm="posthorn", error="invalid_token"'],
		[`Bearer ${"x".repeat(8_000)}`, 'Bearer realm="posthorn", error="invalid_token"'],
	] as const) {
		const { status, headers, json } = await api.call("GET", "/v1/projects", {
			key: null,
			headers: authorization === undefined ? {} : { authorization },
		});
		expect(status, authorization).toBe(401);
		expect(headers["www-authenticate"]).toBe(challenge);
		expect(json.type).toBe("/problems/unauthorized");
	}
});

test("distinguishes an unknown key from what isn't one", async () => {
	const detailOf = async (key: string) => (await api.call("GET", "/v1/projects", { key })).json.detail;
	expect(await detailOf("abc")).toBe("This isn't a key that Posthorn creates: those begin with phk_ or pho_.");
	for (const key of ["phk_unknown", "pho_unknown"]) expect(await detailOf(key)).toMatch(/^This API key is not known\./);
});

test("the scheme's name is case-insensitive", async () => {
	for (const scheme of ["Bearer", "bearer", "BEARER  "]) {
		const headers = { authorization: `${scheme} ${OPERATOR_KEY}` };
		expect((await api.call("GET", "/v1/projects", { key: null, headers })).status).toBe(200);
	}
});

test("a project's key gets 403 on operator routes, and can use shared ones", async () => {
	for (const [method, path] of [
		["POST", "/v1/projects"],
		["GET", project],
		["PUT", `${project}/apps/developer`],
		["DELETE", `${project}/apps/developer`],
	] as const) {
		const { status, json } = await api.call(method, path, { key });
		expect(status, `${method} ${path}`).toBe(403);
		expect(json.type).toBe("/problems/forbidden");
	}
	expect((await api.call("GET", "/v1/event-types", { key })).status).toBe(200);
	const own = await api.call("GET", "/v1/projects?limit=1", { key });
	expect([own.json.data.map(({ id }) => id), own.json.next_cursor]).toEqual([[project.split("/").at(-1)], null]);
	expect((await api.call("GET", project)).json.apps).toEqual(["developer"]);
});

test("checks the key before it reads the body", async () => {
	for (const options of [
		{ raw: "{" },
		{ raw: "" },
		{ body: { nonsense: 1 } },
		{ headers: { "content-type": "text/plain" } },
	]) {
		expect((await api.call("POST", `${project}/webhooks`, { key: "wrong", ...options })).status).toBe(401);
		expect((await api.call("POST", "/v1/projects", { key, ...options })).status).toBe(403);
	}
	const other = await api.project();
	expect((await api.call("POST", `${other}/events`, { key, raw: "{" })).status).toBe(404);
});

test("health, metrics and documents are open", async () => {
	for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"])
		expect((await api.call("GET", path, { key: null })).status, path).toBe(200);
});

/** A fresh API that counts the storage lookups of keys and sessions, and how many ran concurrently. */
async function counting() {
	const lookups = { all: 0, running: 0, most: 0 };
	const counted =
		<A extends unknown[], R>(find: (...args: A) => Promise<R>) =>
		async (...args: A): Promise<R> => {
			lookups.all++;
			lookups.most = Math.max(lookups.most, ++lookups.running);
			return find(...args).finally(() => lookups.running--);
		};
	const measured = await TestApi.start();
	const { storage } = measured;
	storage.findApiKey = counted(storage.findApiKey.bind(storage));
	storage.findSession = counted(storage.findSession.bind(storage));
	return { measured, lookups };
}

/** Tokens in the format of keys and sessions that belong to no one. */
const unknownToken = (i: number) => String(i).padStart(43, "x");

const FROM = "192.0.2.7";

test.each([
	["API keys", (token: string) => ({ authorization: `Bearer phk_${token}` })],
	["sessions", (token: string) => ({ cookie: `posthorn_session=${token}` })],
])("unknown %s cost few lookups, one at a time; valid ones aren't affected", async (_, headersFor) => {
	const { measured, lookups } = await counting();
	const known = { authorization: `Bearer ${await measured.keyOf(await measured.project())}` };
	const fresh = { authorization: `Bearer ${await measured.keyOf(await measured.project())}` };
	const status = async (headers: Record<string, string>) =>
		(await measured.app.inject({ url: "/v1/event-types", headers, remoteAddress: FROM })).statusCode;
	expect(await status(known)).toBe(200);
	lookups.all = 0;

	// Tokens in the wrong format aren't looked up, but count.
	const statuses = new Set<number>();
	for (let i = 0; i < UNAUTHENTICATED.wrongTokensPerMinute - 10; i++)
		statuses.add(await status(headersFor(`guess-${i}`)));
	expect(lookups.all).toBe(0);
	for (let i = 0; i < 10; i++) statuses.add(await status(headersFor(unknownToken(i))));
	expect([...statuses]).toEqual([401]);
	expect(lookups.all).toBe(10);

	// The limit is reached: only a few tokens of a flood are looked up, one at a time.
	lookups.all = lookups.most = 0;
	const flood = Array.from({ length: 1_000 }, (_, i) => status(headersFor(unknownToken(1_000 + i))));
	const during = status(known);
	expect(new Set(await Promise.all(flood))).toEqual(new Set([429]));
	expect(await during).toBe(200);
	expect(lookups.all).toBeLessThanOrEqual(1 + UNAUTHENTICATED.lookupsWaitingThen);
	expect(lookups.most).toBe(1);
	expect(await status(fresh)).toBe(200);
	expect(await status({ authorization: `Bearer ${OPERATOR_KEY}` })).toBe(200);
	await measured.close();
});

// A client with a /48 could once send 300 wrong keys a minute from each of its 65,536 /64s.
test("wrong keys from two /64s of one IPv6 /48 count together", async () => {
	const guess = async (remoteAddress: string, i: number) =>
		(await api.app.inject({ url: "/v1/projects", headers: { authorization: `Bearer guess-${i}` }, remoteAddress }))
			.statusCode;
	for (let i = 0; i < UNAUTHENTICATED.wrongTokensPerMinute; i++) expect(await guess("2001:db8:7:1::1", i)).toBe(401);
	expect(await guess("2001:db8:7:2::1", UNAUTHENTICATED.wrongTokensPerMinute)).toBe(429);
	expect(await guess("2001:db8:8:1::1", UNAUTHENTICATED.wrongTokensPerMinute)).toBe(401);
});

test("too many wrong keys from an address get 429; a valid key still works", async () => {
	const guess = (i: number) =>
		api.app.inject({
			url: "/v1/projects",
			headers: { authorization: `Bearer guess-${i}` },
			remoteAddress: "192.0.2.7",
		});
	const statuses = new Set<number>();
	for (let i = 0; i < UNAUTHENTICATED.wrongTokensPerMinute; i++) statuses.add((await guess(i)).statusCode);
	expect([...statuses]).toEqual([401]);
	const refused = await guess(UNAUTHENTICATED.wrongTokensPerMinute);
	expect(refused.statusCode).toBe(429);
	expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
	expect(refused.json()).toMatchObject({ type: "/problems/too-many-requests", status: 429 });
	const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
	expect((await api.app.inject({ url: "/v1/projects", headers, remoteAddress: "192.0.2.7" })).statusCode).toBe(200);
	expect((await api.call("GET", "/v1/projects", { key: "wrong" })).status).toBe(401);
});
