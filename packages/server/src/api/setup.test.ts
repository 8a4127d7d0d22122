import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Browser, PASSWORD } from "../../test/api/browser.ts";
import { Passwords } from "../accounts/index.ts";
import { STARTS_TOGETHER_MS } from "../accounts/people.ts";
import { SIGN_IN } from "../base/budgets.ts";

const PERSON = { email: "Owner@Example.com ", name: "Ada", password: PASSWORD };
const WEEK_MS = 7 * 86_400_000;

let api: TestApi;
let clock: VirtualClock;
beforeEach(async () => {
	clock = new VirtualClock(Date.now());
	api = await TestApi.start({ peopleClock: clock });
});
afterEach(() => api.close());

const newToken = async (): Promise<string> => String(await api.parts.people.createSetupToken());
const setUp = (body: object, from = "192.0.2.1") => api.call("POST", "/v1/setup", { key: null, body, from });
const needed = async () => (await api.call("GET", "/v1/setup", { key: null })).json;

test("the setup link creates the operator's account once, and signs in", async () => {
	expect(await needed()).toEqual({ needed: true });
	const project = await api.project("Store");
	const token = await newToken();
	const browser = new Browser(api);
	const { status, json } = await browser.call("POST", "/v1/setup", { body: { token, ...PERSON } });
	expect(status).toBe(201);
	expect(json).toEqual({
		account: {
			id: expect.stringMatching(/^acc_/),
			email: "Owner@Example.com",
			name: "Ada",
			operator: true,
			created_at: expect.stringMatching(/Z$/),
		},
		csrf_token: expect.stringMatching(/^[\w-]{43}$/),
		by_link: false,
		projects: [{ id: project.split("/").at(-1), name: "Store", apps: ["developer"], role: "owner" }],
		retry_delays: [],
		log_retention_days: 30,
		max_description_length: 200,
		quarantine: false,
	});
	expect((await browser.call("GET", "/v1/session")).json).toEqual(json);
	expect(await needed()).toEqual({ needed: false });
	expect(await api.parts.people.createSetupToken()).toBeNull();

	const again = await setUp({ token, ...PERSON, email: "second@example.com" });
	expect(again.status).toBe(409);
	expect(again.json.type).toBe("/problems/conflict");
	expect(again.headers["set-cookie"]).toBeUndefined();
});

test("only one of many concurrent uses of the setup link succeeds", async () => {
	const token = await newToken();
	const people = ["a", "b", "c", "d"].map((name) => ({ token, ...PERSON, email: `${name}@example.com` }));
	const statuses = (await Promise.all(people.map((person) => setUp(person)))).map(({ status }) => status);
	expect(statuses.toSorted()).toEqual([201, 409, 409, 409]);
});

// Two nodes that started together each printed a link, and one of the links didn't work.
test("all setup links printed at about the same time work, for one account", async () => {
	const tokens = await Promise.all([newToken(), newToken(), newToken()]);
	const [first, second, third] = tokens.map((token, i) => ({ token, ...PERSON, email: `${i}@example.com` }));
	expect((await setUp(second!)).status).toBe(201);
	for (const late of [first!, third!]) expect((await setUp(late)).status).toBe(409);
});

test("a wrong token, one that was replaced, and one that is a week old are 403", async () => {
	const replaced = await newToken();
	clock.advance(STARTS_TOGETHER_MS + 1);
	const token = await newToken();
	for (const wrong of ["x", replaced, `${token}x`, token.toLowerCase()]) {
		const { status, json, headers } = await setUp({ token: wrong, ...PERSON });
		expect(status).toBe(403);
		expect(json.detail).toMatch(/prints a new one at startup/);
		expect(headers["set-cookie"]).toBeUndefined();
	}
	clock.advance(WEEK_MS);
	expect((await setUp({ token, ...PERSON })).status).toBe(403);
	expect(await needed()).toEqual({ needed: true });
	expect((await setUp({ token: await newToken(), ...PERSON })).status).toBe(201);
});

// Anyone could have the machine hash passwords, tens of milliseconds and 19 MB each, until the account existed.
test("hashes no password without a valid link", async () => {
	const hash = vi.spyOn(Passwords.prototype, "hash");
	try {
		const token = await newToken();
		const tries = ["x", `${token}x`].map((wrong) => setUp({ token: wrong, ...PERSON }));
		expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([403, 403]);
		expect(hash).not.toHaveBeenCalled();
		const invitation = { token: "x", email: "guest@example.com", name: "Guest", password: PASSWORD };
		expect((await api.call("POST", "/v1/invitations/accept", { key: null, body: invitation })).status).toBe(404);
		expect((await api.call("POST", "/v1/session", { key: null, body: { token: "x" } })).status).toBe(401);
		expect(hash).not.toHaveBeenCalled();
		expect((await setUp({ token, ...PERSON })).status).toBe(201);
		expect(hash).toHaveBeenCalledOnce();
	} finally {
		hash.mockRestore();
	}
});

const FAULTS = [
	[{ password: "9 letters" }, "/password"],
	[{ password: "x".repeat(201) }, "/password"],
	[{ password: "🎺".repeat(9) }, "/password"],
	[{ password: "1234567890" }, "/password"],
	[{ password: "owner@example.com" }, "/password"],
	[{ email: "nobody" }, "/email"],
	[{ email: "a b@example.com" }, "/email"],
	[{ email: "a@example" }, "/email"],
	[{ email: `${"x".repeat(250)}@example.com` }, "/email"],
	[{ name: "" }, "/name"],
	[{ name: "\u2060 " }, "/name"],
	[{ name: "x".repeat(101) }, "/name"],
	[{ name: "a\nb" }, "/name"],
	[{ token: "" }, "/token"],
	[{ operator: true }, "/operator"],
] as const;

test("reports faults by field without using up the link", async () => {
	const token = await newToken();
	for (const [fields, pointer] of FAULTS) {
		const { status, json } = await setUp({ token, ...PERSON, ...fields });
		expect(status, JSON.stringify(fields)).toBe(422);
		expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
	}
	expect((await setUp({ token, ...PERSON })).status).toBe(201);
});

test.each([
	["ten characters", "k7f9w2m4p8"],
	["two hundred characters", "xk7#".repeat(50)],
	["ten characters of two units each", "🎺🎷🎸🥁🎻🎹🎤🎧🎬🎯"],
])("accepts a password of %s", async (_, password) => {
	expect((await setUp({ token: await newToken(), ...PERSON, password })).status).toBe(201);
	expect((await new Browser(api).signIn("owner@example.com", password)).status).toBe(200);
});

test("too many wrong tokens from an address must wait; others aren't affected", async () => {
	const token = await newToken();
	const guess = (i: number) => setUp({ token: `guess-${i}`, ...PERSON });
	const statuses = new Set<number>();
	for (let i = 0; i < SIGN_IN.wrongFromNetwork; i++) statuses.add((await guess(i)).status);
	expect([...statuses]).toEqual([403]);
	const refused = await setUp({ token, ...PERSON });
	expect(refused.status).toBe(429);
	expect(refused.json.type).toBe("/problems/too-many-requests");
	expect(refused.headers["retry-after"]).toBe("900");
	clock.advance(899_500);
	expect((await setUp({ token, ...PERSON })).headers["retry-after"]).toBe("1");
	expect((await setUp({ token: "x", ...PERSON }, "192.0.2.2")).status).toBe(403);
	clock.advance(500);
	expect((await setUp({ token, ...PERSON })).status).toBe(201);
});
