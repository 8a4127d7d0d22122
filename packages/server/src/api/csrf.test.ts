import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_KEY, PUBLIC_URL, TestApi } from "../../test/api/api.ts";
import { Browser, invite, member, PASSWORD, setUp } from "../../test/api/browser.ts";
import { apiRoutes } from "./routes/index.ts";

let api: TestApi;
let project: string;
let ada: Browser;
let operator: Browser;
beforeAll(async () => {
	api = await TestApi.start();
	operator = await setUp(api);
	project = await api.project();
	ada = await member(api, project, "owner", "ada");
});
afterAll(() => api.close());

/** A change that shows in the account's name. */
let name = 0;
async function change(headers: Record<string, string | undefined>, browser = ada) {
	const wanted = `Name ${++name}`;
	const answer = await browser.call("PATCH", "/v1/account", { body: { name: wanted }, headers });
	const { json } = await browser.call("GET", "/v1/session");
	return { ...answer, changed: json.account.name === wanted };
}

test("accepts the dashboard's requests, from the public URL, or the requested address or localhost", async () => {
	for (const headers of [
		{},
		{ origin: PUBLIC_URL },
		{ origin: "http://127.0.0.1:8420", host: "127.0.0.1:8420" },
		{ origin: "http://localhost:8420", host: "localhost:8420" },
		{ origin: "http://[::1]:8420", host: "[::1]:8420" },
		{ origin: undefined, "sec-fetch-site": "same-origin" },
		{ origin: PUBLIC_URL, "sec-fetch-site": "same-origin" },
	])
		expect(await change(headers), JSON.stringify(headers)).toMatchObject({ status: 200, changed: true });
});

test("refuses requests from other origins, even with a valid cookie and token", async () => {
	for (const headers of [
		{ origin: undefined },
		{ origin: "null" },
		{ origin: "" },
		{ origin: "https://evil.example" },
		{ origin: `${PUBLIC_URL}.evil.example` },
		{ origin: `${PUBLIC_URL}:8443` },
		{ origin: "http://evil.dashboard.test" },
		// The page's own name, which now resolves to this machine.
		{ origin: "http://evil.example:8420", host: "evil.example:8420" },
		{ origin: "http://127.0.0.1.evil.example", host: "127.0.0.1.evil.example" },
		{ origin: "http://localhost:8420", host: "127.0.0.1:8420" },
		{ origin: "https://evil.example", "sec-fetch-site": "same-origin" },
		{ origin: undefined, "sec-fetch-site": "cross-site" },
		{ origin: undefined, "sec-fetch-site": "same-site" },
		{ origin: undefined, "sec-fetch-site": "none" },
		{ origin: undefined, "sec-fetch-site": "" },
		{ origin: undefined, referer: `${PUBLIC_URL}/` },
	]) {
		const { status, json, changed } = await change(headers);
		expect(status, JSON.stringify(headers)).toBe(403);
		expect(json.detail).toMatch(/comes from another site's page/);
		expect(changed).toBe(false);
	}
});

test("refuses requests without the session's token, even from the dashboard", async () => {
	const other = await new Browser(api).signIn("ada@example.com");
	expect(other.json.csrf_token).not.toBe(ada.csrfToken);
	for (const token of [
		undefined,
		"",
		"x",
		`${ada.csrfToken}x`,
		ada.csrfToken?.slice(1),
		ada.csrfToken?.toUpperCase(),
		ada.token,
		other.json.csrf_token,
		operator.csrfToken,
	]) {
		const { status, json, changed } = await change({ "x-csrf-token": token });
		expect(status, token).toBe(403);
		expect(json.detail).toMatch(/X-CSRF-Token is missing or wrong/);
		expect(changed).toBe(false);
	}
});

test("every changing route checks both", async () => {
	const unsafe = apiRoutes(api.parts, () => "").filter(({ method, access }) => method !== "GET" && access !== "open");
	expect(unsafe.length).toBeGreaterThan(20);
	for (const { method, path, operationId } of unsafe) {
		const url = path.replace("{project_id}", project.split("/").at(-1)!).replaceAll(/\{\w+\}/g, "x");
		for (const headers of [{ origin: "https://evil.example" }, { origin: undefined }, { "x-csrf-token": undefined }]) {
			const { status, json } = await operator.call(method, url, { body: {}, headers });
			expect(status, operationId).toBe(403);
			expect(json.detail, operationId).toMatch(/another site's page|X-CSRF-Token/);
		}
	}
	expect((await operator.call("GET", "/v1/session")).status).toBe(200);
});

test("GET skips origin and CSRF checks", async () => {
	for (const url of ["/v1/session", project, `${project}/webhooks`])
		for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }])
			expect((await ada.call("GET", url, { headers })).status, url).toBe(200);
});

test("open routes refuse other sites' pages", async () => {
	const token = await invite(api, project, "viewer");
	const person = { email: "bob@example.com", name: "Bob", password: PASSWORD };
	for (const [url, body] of [
		["/v1/session", { email: "ada@example.com", password: PASSWORD }],
		["/v1/setup", { token: "x", ...person }],
		["/v1/invitations/look", { token }],
		["/v1/invitations/accept", { token, ...person }],
	] as const)
		for (const headers of [
			{ origin: "https://evil.example" },
			{ origin: "null" },
			{ origin: undefined, "sec-fetch-site": "cross-site" },
		]) {
			const { status, headers: answered } = await new Browser(api).call("POST", url, { body, headers });
			expect(status, url).toBe(403);
			expect(answered["set-cookie"]).toBeUndefined();
		}
	// Clients other than browsers send neither.
	const headers = { origin: undefined };
	const credentials = { email: "ada@example.com", password: PASSWORD };
	expect((await new Browser(api).call("POST", "/v1/session", { body: credentials, headers })).status).toBe(200);
	const accept = { body: { token, ...person }, headers };
	expect((await new Browser(api).call("POST", "/v1/invitations/accept", accept)).status).toBe(200);
});

test("only the dashboard can accept an invitation for a session", async () => {
	const token = await invite(api, await api.project("Other"), "viewer");
	for (const headers of [{ "x-csrf-token": undefined }, { origin: undefined }])
		expect((await ada.call("POST", "/v1/invitations/accept", { body: { token }, headers })).status).toBe(403);
	expect((await ada.call("POST", "/v1/invitations/accept", { body: { token } })).status).toBe(200);
});

test("keys are not affected, since other sites' pages don't have them", async () => {
	const key = await api.keyOf(project);
	const body = { type: "delivery.success", data: {} };
	for (const headers of [{}, { origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }])
		expect((await api.call("POST", `${project}/events`, { key, body, headers })).status).toBe(202);
});

test("a key takes precedence over a cookie", async () => {
	const other = await api.project("Another");
	const key = await api.keyOf(other);
	const cookie = String(ada.cookie);
	expect((await api.call("GET", `${project}/webhooks`, { key, headers: { cookie } })).status).toBe(404);
	expect((await api.call("GET", `${project}/webhooks`, { key: "wrong", headers: { cookie } })).status).toBe(401);
	expect((await api.call("GET", "/v1/session", { key: OPERATOR_KEY, headers: { cookie } })).status).toBe(403);
	expect((await api.call("PATCH", project, { body: { name: "By key" }, headers: { cookie } })).status).toBe(200);
});
