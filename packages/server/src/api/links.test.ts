import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Browser, member, PASSWORD, setUp } from "../../test/api/browser.ts";

const EMAIL = "ada@example.com";

let api: TestApi;
let clock: VirtualClock;
let operator: Browser;
let ada: Browser;
beforeEach(async () => {
	clock = new VirtualClock(Date.now());
	api = await TestApi.start({ peopleClock: clock });
	operator = await setUp(api);
	ada = await member(api, await api.project(), "developer", "ada");
});
afterEach(() => api.close());

const isSignedIn = async (browser: Browser) => (await browser.call("GET", "/v1/session")).status === 200;

// Each of them was set.
test("of several new passwords at once without the old one, one is set", async () => {
	const { json } = await operator.call("POST", "/v1/sign-in-links", { body: { email: EMAIL } });
	const browser = new Browser(api);
	await browser.call("POST", "/v1/session", { body: { token: json.url.split("#")[1] } });
	const passwords = ["a new password", "another password", "a third password"];
	const set = passwords.map((password) => browser.call("POST", "/v1/account/password", { body: { password } }));
	expect((await Promise.all(set)).map(({ status }) => status).sort()).toEqual([204, 422, 422]);
});

test("a link signs in once, within 15 minutes, and allows a new password without the old one", async () => {
	const link = async (browser: Browser) => {
		const { status, json } = await operator.call("POST", "/v1/sign-in-links", { body: { email: "ADA@example.com" } });
		expect(status).toBe(201);
		expect(json.url).toMatch(/^http:\/\/dashboard\.test\/sign-in#[\w-]{43}$/);
		expect(json.expires_at).toBe(new Date(clock.now() + 900_000).toISOString());
		const body = { token: json.url.split("#")[1] };
		return (other = browser) => other.call("POST", "/v1/session", { body });
	};
	const browser = new Browser(api);
	const use = await link(browser);
	const { status, json } = await use();
	expect(status).toBe(200);
	expect(json).toMatchObject({ by_link: true, account: { email: EMAIL } });
	const again = await use(new Browser(api));
	expect(again.status).toBe(401);
	expect(again.json.detail).toMatch(/was used or has expired/);

	clock.advance(900_000 - 1);
	expect((await browser.call("POST", "/v1/account/password", { body: { password: "a new password" } })).status).toBe(
		204,
	);
	expect(await isSignedIn(ada)).toBe(false);
	expect((await ada.signIn(EMAIL, "a new password")).status).toBe(200);
	const refusal = [{ pointer: "/current", detail: "must be your current password" }];
	// For 15 minutes, the password could be set any number of times, and the dashboard kept asking for a new one.
	const second = await browser.call("POST", "/v1/account/password", { body: { password: "another password" } });
	expect(second.json.errors).toEqual(refusal);
	expect((await browser.call("GET", "/v1/session")).json.by_link).toBe(false);
	const slow = new Browser(api);
	expect((await (await link(slow))()).status).toBe(200);
	clock.advance(900_000);
	const late = await slow.call("POST", "/v1/account/password", { body: { password: "another password" } });
	expect(late.json.errors).toEqual(refusal);

	const unused = await link(browser);
	clock.advance(900_000 - 1);
	const last = await link(browser);
	clock.advance(1);
	expect((await unused()).status).toBe(401);
	expect((await last()).status).toBe(200);
});

test("a link that is used while the password changes is too late", async () => {
	const { json } = await operator.call("POST", "/v1/sign-in-links", { body: { email: EMAIL } });
	const { sessions } = api.parts;
	const begin = sessions.begin.bind(sessions);
	vi.spyOn(sessions, "begin").mockImplementationOnce(async (...args) => {
		const body = { current: PASSWORD, password: "another horse battery" };
		expect((await ada.call("POST", "/v1/account/password", { body })).status).toBe(204);
		return begin(...args);
	});
	const browser = new Browser(api);
	const { status } = await browser.call("POST", "/v1/session", { body: { token: json.url.split("#")[1] } });
	expect(status).toBe(401);
	expect(await isSignedIn(browser)).toBe(false);
});

// A link once survived a password change, and allowed another new password.
test("a new password ends unused links", async () => {
	const { json } = await operator.call("POST", "/v1/sign-in-links", { body: { email: EMAIL } });
	const body = { current: PASSWORD, password: "another horse battery staple" };
	expect((await ada.call("POST", "/v1/account/password", { body })).status).toBe(204);
	const use = { token: json.url.split("#")[1] };
	expect((await new Browser(api).call("POST", "/v1/session", { body: use })).status).toBe(401);
});

test("only one of many concurrent uses of a link signs in", async () => {
	const { json } = await api.call("POST", "/v1/sign-in-links", { body: { email: EMAIL } });
	const body = { token: json.url.split("#")[1] };
	const uses = Array.from({ length: 5 }, () => new Browser(api).call("POST", "/v1/session", { body }));
	const statuses = (await Promise.all(uses)).map(({ status }) => status);
	expect(statuses.toSorted()).toEqual([200, 401, 401, 401, 401]);
});

test("only the operator creates links, and only for existing accounts", async () => {
	expect((await api.call("POST", "/v1/sign-in-links", { body: { email: "nobody@example.com" } })).status).toBe(404);
	const refused = await ada.call("POST", "/v1/sign-in-links", { body: { email: EMAIL } });
	expect(refused.status).toBe(403);
	expect(refused.json.detail).toBe("Only the operator may do this.");
});
