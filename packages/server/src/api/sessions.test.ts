import { until } from "@posthorn/testkit/until";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Browser, member, PASSWORD, setUp, tokenOf } from "../../test/api/browser.ts";
import { Passwords, PasswordsBusy } from "../accounts/index.ts";
import { SIGN_IN } from "../base/budgets.ts";

const DAY_MS = 86_400_000;
const EMAIL = "ada@example.com";
const CLIENT = { userAgent: "", address: "192.0.2.1" };

let api: TestApi;
let clock: VirtualClock;
let project: string;
let ada: Browser;
beforeEach(async () => {
	clock = new VirtualClock(Date.now());
	api = await TestApi.start({ peopleClock: clock });
	await setUp(api);
	project = await api.project();
	ada = await member(api, project, "developer", "ada");
});
afterEach(() => api.close());

const isSignedIn = async (browser: Browser) => (await browser.call("GET", "/v1/session")).status === 200;

test("signing in returns the account and its roles, and then the cookie is enough", async () => {
	const browser = new Browser(api);
	const { status, json } = await browser.signIn(" ADA@example.com");
	expect(status).toBe(200);
	expect(json.account).toMatchObject({ id: ada.accountId, email: EMAIL, name: "ada", operator: false });
	expect(json.projects).toEqual([
		{ id: project.split("/").at(-1), name: "Store", apps: ["developer"], role: "developer" },
	]);
	expect((await browser.call("GET", `${project}/webhooks`)).status).toBe(200);
	expect((await new Browser(api).call("GET", "/v1/session")).status).toBe(401);
	expect((await api.call("GET", "/v1/session")).status).toBe(403);
});

// The dashboard said "attempt 3 of 8", no matter what the service was configured with.
test("a session says how this service retries, and how long it keeps the log", async () => {
	const other = await TestApi.start({ peopleClock: clock, retryDelaysMs: [50, 1_000, 90_000] });
	try {
		await setUp(other);
		const guest = await member(other, await other.project(), "viewer", "ada");
		expect((await guest.call("GET", "/v1/session")).json.retry_delays).toEqual([0.05, 1, 90]);
		expect((await new Browser(other).signIn(EMAIL)).json.retry_delays).toEqual([0.05, 1, 90]);
		expect((await guest.call("GET", "/v1/session")).json).toMatchObject({ log_retention_days: 30 });
	} finally {
		await other.close();
	}
});

test("an unknown address and a wrong password get the same response", async () => {
	const answers = [];
	for (const [email, password] of [
		[EMAIL, "wrong password"],
		["nobody@example.com", PASSWORD],
		["no address at all", PASSWORD],
		["", ""],
		[EMAIL, PASSWORD.toUpperCase()],
		[EMAIL, ` ${PASSWORD}`],
	] as const)
		answers.push(await new Browser(api).signIn(email, password));
	for (const { status, text, headers } of answers) {
		expect(status).toBe(401);
		expect(text).toBe(answers[0]!.text);
		expect(headers["set-cookie"]).toBeUndefined();
	}
	expect(answers[0]!.json.detail).toBe("The e-mail address or the password is wrong.");
});

test("signing in takes an address and a password, or a token", async () => {
	const both = { email: EMAIL, password: PASSWORD, token: "x" };
	for (const body of [{}, { email: EMAIL }, both, { token: "" }, { token: 1 }, { email: [EMAIL], password: PASSWORD }])
		expect((await new Browser(api).call("POST", "/v1/session", { body })).status, JSON.stringify(body)).toBe(422);
});

test("too many wrong passwords block a network for an account, whether it exists or not, and no other network", async () => {
	for (const email of [EMAIL, "nobody@example.com"]) {
		const stranger = new Browser(api, { from: "192.0.2.9" });
		for (let i = 0; i < SIGN_IN.wrongForAccount; i++)
			expect((await stranger.signIn(email, "wrong password")).status).toBe(401);
		const refused = await stranger.signIn(email.toUpperCase());
		expect(refused.status, email).toBe(429);
		expect(refused.headers["retry-after"]).toBe("900");
	}
	expect((await new Browser(api, { from: "192.0.2.10" }).signIn(EMAIL)).status).toBe(200);
	expect(await isSignedIn(ada)).toBe(true);
	clock.advance(900_000);
	expect((await new Browser(api, { from: "192.0.2.9" }).signIn(EMAIL)).status).toBe(200);
});

test("addresses of one IPv6 network count together", async () => {
	for (let i = 0; i < SIGN_IN.wrongForAccount; i++)
		await new Browser(api, { from: `2001:db8:1:${i}::1` }).signIn(EMAIL, "wrong password");
	expect((await new Browser(api, { from: "2001:db8:1:ffff::1" }).signIn(EMAIL)).status).toBe(429);
	expect((await new Browser(api, { from: "2001:db8:2::1" }).signIn(EMAIL)).status).toBe(200);
});

test("an account has 100 sessions; a further sign-in ends the oldest", async () => {
	for (let i = 1; i < SIGN_IN.sessions; i++) await api.parts.sessions.begin(ada.accountId, CLIENT, false);
	expect(await isSignedIn(ada)).toBe(true);
	await api.parts.sessions.begin(ada.accountId, CLIENT, false);
	expect(await isSignedIn(ada)).toBe(false);
	const bob = await member(api, project, "viewer", "bob");
	expect(await isSignedIn(bob)).toBe(true);
});

test("a new password must not be easy to guess", async () => {
	for (const password of ["1234567890", EMAIL, "Password123!"]) {
		const { status, json } = await ada.call("POST", "/v1/account/password", { body: { current: PASSWORD, password } });
		expect(status, password).toBe(422);
		expect(json.errors).toEqual([
			{ pointer: "/password", detail: "is easy to guess: use several unrelated words, or a password manager" },
		]);
	}
	expect((await new Browser(api).signIn(EMAIL)).status).toBe(200);
});

// Passwords wait for their turn to be checked, for seconds if there are many. Someone who knew the old one could keep
// some waiting, and was back in after it had been changed, or changed it again.
test.each(["signs in with", "changes"])(
	"someone who %s the old password while it is changed is too late",
	async (how) => {
		const thief = new Browser(api);
		await thief.signIn(EMAIL);
		const [stolen, owners] = ["another password of the thief", "another password of the owner"];
		const { verify } = Passwords.prototype;
		vi.spyOn(Passwords.prototype, "verify").mockImplementationOnce(async function (this: Passwords, ...args) {
			const isRight = await verify.apply(this, args);
			const body = { current: PASSWORD, password: owners };
			expect((await ada.call("POST", "/v1/account/password", { body })).status).toBe(204);
			return isRight;
		});
		const late = new Browser(api);
		const { status } =
			how === "changes"
				? await thief.call("POST", "/v1/account/password", { body: { current: PASSWORD, password: stolen } })
				: await late.signIn(EMAIL);
		expect(status).toBe(401);
		for (const each of [thief, late]) expect((await each.call("GET", "/v1/session")).status).toBe(401);
		expect((await new Browser(api).signIn(EMAIL, owners)).status).toBe(200);
		expect((await ada.call("GET", "/v1/session")).status).toBe(200);
	},
);

test("concurrent tries don't bypass the limit", async () => {
	const tries = Array.from({ length: SIGN_IN.wrongForAccount + 5 }, () =>
		new Browser(api).signIn(EMAIL, "wrong password"),
	);
	const statuses = (await Promise.all(tries)).map(({ status }) => status);
	expect(statuses.filter((status) => status === 401)).toHaveLength(SIGN_IN.wrongForAccount);
	expect(statuses.filter((status) => status === 429)).toHaveLength(5);
});

test("while too many passwords are being checked, callers are told to retry, and nothing counts as a failure", async () => {
	const { json } = await api.call("POST", `${project}/invitations`, { body: { role: "viewer" } });
	const person = { email: "new@example.com", name: "New", password: "a password of the new one" };
	const busy = new PasswordsBusy();
	vi.spyOn(Passwords.prototype, "verify").mockRejectedValueOnce(busy).mockRejectedValueOnce(busy);
	vi.spyOn(Passwords.prototype, "hash").mockRejectedValueOnce(busy);
	const change = { current: PASSWORD, password: person.password };
	for (const { status, headers, json: problem } of [
		await new Browser(api).signIn(EMAIL),
		await ada.call("POST", "/v1/account/password", { body: change }),
		await new Browser(api).call("POST", "/v1/invitations/accept", { body: { token: tokenOf(json.url), ...person } }),
	]) {
		expect(status).toBe(503);
		expect(headers["retry-after"]).toBe("2");
		expect(problem.detail).toBe("Too many sign-ins are in progress. Try again in 2 seconds.");
	}
	expect(api.logs.join("\n")).not.toContain("a request failed");
});

test("earlier tries don't delay a successful sign-in", async () => {
	for (let round = 0; round < 3; round++) {
		for (let i = 1; i < SIGN_IN.wrongForAccount; i++) await new Browser(api).signIn(EMAIL, "wrong password");
		expect((await new Browser(api).signIn(EMAIL)).status).toBe(200);
	}
});

test("too many wrong tries from an address block it for a while", async () => {
	const token = (i: number) =>
		new Browser(api, { from: "192.0.2.7" }).call("POST", "/v1/session", { body: { token: `${i}` } });
	for (let i = 0; i < SIGN_IN.wrongFromNetwork; i++) expect((await token(i)).status).toBe(401);
	for (const refused of [await token(0), await new Browser(api, { from: "192.0.2.7" }).signIn(EMAIL)]) {
		expect(refused.status).toBe(429);
		expect(Number(refused.headers["retry-after"])).toBe(900);
	}
	expect((await new Browser(api, { from: "192.0.2.8" }).signIn(EMAIL)).status).toBe(200);
	clock.advance(900_000);
	expect((await new Browser(api, { from: "192.0.2.7" }).signIn(EMAIL)).status).toBe(200);
});

test("neither tokens nor passwords are stored, logged or shown", async () => {
	const link = (await api.call("POST", "/v1/sign-in-links", { body: { email: EMAIL } })).json.url;
	const told = [
		(await ada.call("GET", "/v1/account/sessions")).text,
		(await ada.call("GET", "/v1/session")).text,
		(await ada.call("GET", `${project}/members`)).text,
	].join("\n");
	const logged = api.logs.join("\n");
	const stored = api.databaseBytes();
	expect(stored.includes(EMAIL)).toBe(true);
	expect(logged).toContain("/v1/session");
	expect(ada.token).toMatch(/^[\w-]{43}$/);
	for (const secret of [ada.token, PASSWORD, link.split("#")[1]!]) {
		expect(stored.includes(secret)).toBe(false);
		expect(stored.includes(Buffer.from(secret, "base64url"))).toBe(false);
		expect(logged).not.toContain(secret);
		expect(told).not.toContain(secret);
	}
	expect(logged).not.toContain(ada.csrfToken);
	expect(stored.includes(String(ada.csrfToken))).toBe(false);
});

test("lists an account's sessions, newest first, and ends them one by one", async () => {
	clock.advance(1_000);
	const phone = new Browser(api, { from: "192.0.2.1", userAgent: "Phone" });
	await phone.signIn(EMAIL);
	const { json } = await ada.call("GET", "/v1/account/sessions");
	expect(json.next_cursor).toBeNull();
	const at = (ms: number) => new Date(ms).toISOString();
	const now = clock.now();
	expect(json.data).toEqual([
		{
			id: expect.stringMatching(/^ses_/),
			created_at: at(now),
			last_seen_at: at(now),
			user_agent: "Phone",
			address: "192.0.2.1",
			current: false,
		},
		{
			id: expect.stringMatching(/^ses_/),
			created_at: at(now - 1_000),
			last_seen_at: at(now - 1_000),
			user_agent: "Test browser",
			address: "127.0.0.1",
			current: true,
		},
	]);
	const other = await member(api, project, "owner", "bob");
	const path = `/v1/account/sessions/${json.data[0]!.id}`;
	expect((await other.call("DELETE", path)).status).toBe(404);
	expect(await isSignedIn(phone)).toBe(true);
	expect((await ada.call("DELETE", path)).status).toBe(204);
	expect(await isSignedIn(phone)).toBe(false);
	expect((await ada.call("DELETE", path)).status).toBe(404);
	expect((await ada.call("DELETE", "/v1/account/sessions/x")).status).toBe(404);
	expect((await ada.call("GET", "/v1/account/sessions")).json.data).toHaveLength(1);
});

test("stores part of the user agent, as text", async () => {
	const odd = new Browser(api, { userAgent: `\u00ff${"x".repeat(1_000)}` });
	await odd.signIn(EMAIL);
	const silent = new Browser(api);
	await silent.call("POST", "/v1/session", {
		body: { email: EMAIL, password: PASSWORD },
		headers: { "user-agent": "" },
	});
	const { json } = await silent.call("GET", "/v1/account/sessions");
	const names = (json.data as unknown as { user_agent: string }[]).map(({ user_agent }) => user_agent);
	expect(names).toEqual(["", `\u00ff${"x".repeat(299)}`, "Test browser"]);
});

test("signing out ends this session; everywhere, all of the account's", async () => {
	const phone = new Browser(api);
	await phone.signIn(EMAIL);
	const stolen = phone.cookie;
	expect((await phone.call("DELETE", "/v1/session")).status).toBe(204);
	expect(phone.cookie).toBeNull();
	phone.cookie = stolen;
	const over = await phone.call("GET", "/v1/session");
	expect(over.status).toBe(401);
	expect(over.json.detail).toBe("Your session has ended. Sign in again.");
	expect(await isSignedIn(ada)).toBe(true);

	const other = await member(api, project, "viewer", "bob");
	await phone.signIn(EMAIL);
	expect((await phone.call("DELETE", "/v1/account/sessions")).status).toBe(204);
	expect(phone.cookie).toBeNull();
	expect(await isSignedIn(ada)).toBe(false);
	expect(await isSignedIn(other)).toBe(true);
});

test("a session ends thirty days after it was last used", async () => {
	for (let i = 0; i < 2; i++) {
		clock.advance(29 * DAY_MS);
		expect(await isSignedIn(ada)).toBe(true);
		const now = new Date(clock.now()).toISOString();
		// The use is written in the background.
		await until("the use to be shown", async () => {
			const { data } = (await ada.call("GET", "/v1/account/sessions")).json;
			return data[0]!.last_seen_at === now;
		});
	}
	clock.advance(30 * DAY_MS - 1);
	expect(await isSignedIn(ada)).toBe(true);
	clock.advance(30 * DAY_MS);
	expect(await isSignedIn(ada)).toBe(false);
});

test("a new password ends other sessions, needs the old one, and follows the rules", async () => {
	const phone = new Browser(api);
	await phone.signIn(EMAIL);
	const change = (body: object) => ada.call("POST", "/v1/account/password", { body });
	for (const [body, pointer] of [
		[{ password: "a new password" }, "/current"],
		[{ current: "wrong password", password: "a new password" }, "/current"],
		[{ current: PASSWORD, password: "short" }, "/password"],
		[{ current: PASSWORD }, "/password"],
	] as const) {
		const { status, json } = await change(body);
		expect(status).toBe(422);
		expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
	}
	expect(await isSignedIn(phone)).toBe(true);
	expect((await change({ current: PASSWORD, password: "a new password" })).status).toBe(204);
	expect(await isSignedIn(ada)).toBe(true);
	expect(await isSignedIn(phone)).toBe(false);
	expect((await phone.signIn(EMAIL)).status).toBe(401);
	expect((await phone.signIn(EMAIL, "a new password")).status).toBe(200);
});

test("limits password tries from a signed-in browser", async () => {
	const body = { current: "wrong password", password: "a new password" };
	const change = () => ada.call("POST", "/v1/account/password", { body });
	const statuses = (await Promise.all(Array.from({ length: SIGN_IN.wrongForAccount + 2 }, change))).map(
		({ status }) => status,
	);
	expect(statuses.filter((status) => status === 422)).toHaveLength(SIGN_IN.wrongForAccount);
	const refused = await ada.call("POST", "/v1/account/password", { body: { ...body, current: PASSWORD } });
	expect(refused.status).toBe(429);
	expect(refused.headers["retry-after"]).toBe("900");
});

test("a changed name appears everywhere", async () => {
	const renamed = await ada.call("PATCH", "/v1/account", { body: { name: " Ada L. " } });
	expect(renamed.status).toBe(200);
	expect(renamed.json.name).toBe("Ada L.");
	expect((await ada.call("GET", "/v1/session")).json.account.name).toBe("Ada L.");
	expect((await ada.call("GET", `${project}/members`)).json.data[0]!.name).toBe("Ada L.");
	for (const body of [
		{},
		{ name: "" },
		{ name: "\u200f" },
		{ name: "x", email: "else@example.com" },
		{ name: "x", operator: true },
	])
		expect((await ada.call("PATCH", "/v1/account", { body })).status).toBe(422);
});
