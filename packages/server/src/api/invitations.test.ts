import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Browser, invite, member, PASSWORD, setUp, tokenOf } from "../../test/api/browser.ts";
import { INVITATIONS, SIGN_IN } from "../base/budgets.ts";

const WEEK_MS = 7 * 86_400_000;

let api: TestApi;
let clock: VirtualClock;
let project: string;
let owner: Browser;
let people = 0;
beforeAll(async () => {
	clock = new VirtualClock(Date.now());
	api = await TestApi.start({ peopleClock: clock });
	await setUp(api);
});
beforeEach(async () => {
	project = await api.project();
	owner = await member(api, project, "owner", `owner${++people}`);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;
const create = (body: object, browser = owner) => browser.call("POST", `${project}/invitations`, { body });
const open = async () => (await owner.call("GET", `${project}/invitations`)).json.data;
const look = (token: string) => api.call("POST", "/v1/invitations/look", { key: null, body: { token } });
const accept = (browser: Browser, body: object) => browser.call("POST", "/v1/invitations/accept", { body });
const newPerson = () => ({ email: `new${++people}@example.com`, name: "Neu", password: PASSWORD });

test("an invitation is a link that is shown once and says what it's for", async () => {
	const { status, json } = await create({ role: "developer", email: " bob@example.com " });
	expect(status).toBe(201);
	const { url, ...shown } = json;
	expect(url).toMatch(/^http:\/\/dashboard\.test\/invitation#[\w-]{43}$/);
	expect(shown).toEqual({
		id: expect.stringMatching(/^inv_/),
		role: "developer",
		email: "bob@example.com",
		invited_by: { kind: "account", id: owner.accountId, name: expect.stringMatching(/^owner/) },
		created_at: new Date(clock.now()).toISOString(),
		expires_at: new Date(clock.now() + WEEK_MS).toISOString(),
	});
	expect(await open()).toEqual([shown]);
	expect(api.databaseBytes().includes(tokenOf(url))).toBe(false);

	const seen = await look(tokenOf(url));
	expect(seen.status).toBe(200);
	expect(seen.json).toEqual({
		project: { id: idOf(project), name: "Store" },
		role: "developer",
		email: "bob@example.com",
		expires_at: shown.expires_at,
		invited_by_name: shown.invited_by.name,
	});
});

test("the operator can invite too, and is named", async () => {
	const { json } = await api.call("POST", `${project}/invitations`, { body: { role: "owner" } });
	expect(json).toMatchObject({ email: null, invited_by: { kind: "operator_key", id: null } });
	const absent = await api.call("POST", "/v1/projects/proj_01kbjh6mrxe3q8z1v2t4w5y6a7/invitations", {
		body: { role: "owner" },
	});
	expect(absent.status).toBe(404);
});

test.each([
	[{}, "/role"],
	[{ role: "operator" }, "/role"],
	[{ role: "viewer", email: "nobody" }, "/email"],
	[{ role: "viewer", email: "" }, "/email"],
	[{ role: "viewer", expires_at: "2030-01-01T00:00:00Z" }, "/expires_at"],
])("refuses the invitation %j", async (body, pointer) => {
	const { status, json } = await create(body);
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("a project has a limited number of open invitations", async () => {
	const by = { invitedBy: { kind: "operator_key", id: null, name: "" }, by: null } as const;
	const invited = { projectId: idOf(project), role: "viewer", email: null, ...by } as const;
	for (let i = 0; i < INVITATIONS.open; i++) await api.parts.members.invite(invited);
	const { status, json } = await create({ role: "viewer" });
	expect(status).toBe(409);
	expect(json.detail).toContain("500 open invitations");
	const all = await open();
	expect((await owner.call("DELETE", `${project}/invitations/${all[0]!.id}`)).status).toBe(204);
	expect((await create({ role: "viewer" })).status).toBe(201);
});

test("a new person accepts by creating an account; the link works once", async () => {
	const token = tokenOf((await create({ role: "viewer" })).json.url);
	const browser = new Browser(api);
	const person = newPerson();
	const { status, json } = await accept(browser, { token, ...person });
	expect(status).toBe(200);
	expect(json).toMatchObject({
		account: { email: person.email, name: "Neu", operator: false },
		by_link: false,
		projects: [{ id: idOf(project), name: "Store", apps: ["developer"], role: "viewer" }],
	});
	expect((await browser.call("GET", project)).status).toBe(200);
	expect((await browser.call("GET", "/v1/projects")).json.data.map(({ id }) => id)).toEqual([idOf(project)]);
	expect(await open()).toEqual([]);

	const another = newPerson();
	expect((await accept(new Browser(api), { token, ...another })).status).toBe(404);
	expect((await new Browser(api).signIn(another.email)).status).toBe(401);
	expect((await look(token)).status).toBe(404);
});

test("a signed-in account accepts and keeps its session", async () => {
	const other = await api.project("Other");
	const browser = await member(api, other, "owner", `member${++people}`);
	const { token: session, accountId } = browser;
	const { status, json, headers } = await accept(browser, { token: await invite(api, project, "developer") });
	expect(status).toBe(200);
	expect(json.account.id).toBe(accountId);
	expect(headers["set-cookie"]).toBeUndefined();
	expect(browser.token).toBe(session);
	expect(json.projects.map(({ id, role }) => [id, role])).toEqual([
		[idOf(project), "developer"],
		[idOf(other), "owner"],
	]);
});

test("an invitation raises a member's role, and never lowers it", async () => {
	const browser = await member(api, project, "developer", `dev${++people}`);
	const roleAfter = async (role: string) => {
		const { json } = await accept(browser, { token: await invite(api, project, role) });
		return json.projects.map((each) => each.role);
	};
	expect(await roleAfter("viewer")).toEqual(["developer"]);
	expect(await roleAfter("owner")).toEqual(["owner"]);
});

test("reports invalid fields without using up the link", async () => {
	const token = await invite(api, project, "viewer");
	const person = newPerson();
	for (const [body, pointers] of [
		[{ token }, ["/email", "/name", "/password"]],
		[{ token, ...person, password: undefined }, ["/password"]],
		[{ token, ...person, password: "short" }, ["/password"]],
		[{ token, ...person, email: "nobody", name: "" }, ["/email", "/name"]],
		[{ token, ...person, email: "o\u200bwner@example.com", name: "\u202eAda" }, ["/email", "/name"]],
		[{ token, ...person, role: "owner" }, ["/role"]],
		[person, ["/token"]],
	] as const) {
		const { status, json } = await accept(new Browser(api), body);
		expect(status, JSON.stringify(body)).toBe(422);
		expect(json.errors.map((error) => error.pointer).toSorted()).toEqual(pointers);
	}
	expect((await accept(new Browser(api), { token, ...person })).status).toBe(200);
});

test("an existing account isn't taken over", async () => {
	const token = await invite(api, project, "viewer");
	const taken = newPerson();
	await accept(new Browser(api), { token: await invite(api, project, "viewer"), ...taken });
	const { status, json, headers } = await accept(new Browser(api), {
		token,
		...taken,
		email: taken.email.toUpperCase(),
		password: "another password",
	});
	expect(status).toBe(409);
	expect(json.detail).toMatch(/Sign in, then open the link again/);
	expect(headers["set-cookie"]).toBeUndefined();
	expect((await new Browser(api).signIn(taken.email, "another password")).status).toBe(401);
	expect((await look(token)).status).toBe(200);
});

// An invitation for alice@ was once accepted by mallory@.
test("an invitation to an address is only for the account with that address", async () => {
	const alice = { ...newPerson(), email: `Alice${++people}@Example.com` };
	const { json: invited } = await create({ role: "owner", email: alice.email });
	const token = tokenOf(invited.url);
	const mallory = await member(api, project, "viewer", `mallory${++people}`);
	const signedIn = await accept(mallory, { token });
	expect(signedIn.status).toBe(403);
	expect(signedIn.json.detail).toContain(`This invitation is for ${alice.email}, and you are signed in as mallory`);
	const created = await accept(new Browser(api), { token, ...newPerson() });
	expect(created.status).toBe(422);
	expect(created.json.errors).toEqual([
		{ pointer: "/email", detail: `must be ${alice.email}, whom this invitation is for` },
	]);
	expect(await open()).toHaveLength(1);
	const joined = await accept(new Browser(api), { token, ...alice, email: ` ${alice.email.toLowerCase()}` });
	expect(joined.status).toBe(200);
});

// With a valid link, a stranger could try addresses without limit.
test("a link shows only a few times whether an address has an account", async () => {
	const token = await invite(api, project, "viewer");
	const taken = { ...newPerson(), email: "operator@example.com" };
	for (let i = 0; i < SIGN_IN.wrongForAccount; i++)
		expect((await accept(new Browser(api, { from: `192.0.2.${i}` }), { token, ...taken })).status).toBe(409);
	const refused = await accept(new Browser(api, { from: "192.0.2.99" }), { token, ...taken });
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "900"]);
	const other = await accept(new Browser(api), { token: await invite(api, project, "viewer"), ...newPerson() });
	expect(other.status).toBe(200);
});

// Many at once were all answered before the first of them counted.
test("a link shows no more often whether addresses have accounts if they are tried at once", async () => {
	const token = await invite(api, project, "viewer");
	const taken = { ...newPerson(), email: "operator@example.com" };
	const tries = Array.from({ length: SIGN_IN.wrongForAccount + 5 }, (_, i) =>
		accept(new Browser(api, { from: `192.0.2.${i}` }), { token, ...taken }),
	);
	const statuses = (await Promise.all(tries)).map(({ status }) => status);
	expect(statuses.filter((status) => status === 409)).toHaveLength(SIGN_IN.wrongForAccount);
	expect(statuses.filter((status) => status === 429)).toHaveLength(5);
	expect((await look(token)).status).toBe(200);
});

test("an invitation is revoked, by an owner of its own project", async () => {
	const { json } = await create({ role: "viewer" });
	const elsewhere = await member(api, await api.project(), "owner", `else${++people}`);
	const path = `${project}/invitations/${json.id}`;
	expect((await elsewhere.call("DELETE", path)).status).toBe(404);
	expect((await elsewhere.call("DELETE", path.replace(project, await api.project()))).status).toBe(404);
	expect((await api.call("DELETE", path.replace(project, await api.project()))).status).toBe(404);
	expect((await look(tokenOf(json.url))).status).toBe(200);
	expect((await owner.call("DELETE", path)).status).toBe(204);
	expect((await owner.call("DELETE", path)).status).toBe(404);
	expect((await owner.call("DELETE", `${project}/invitations/x`)).status).toBe(404);
	expect(await open()).toEqual([]);
	const refused = await accept(new Browser(api), { token: tokenOf(json.url), ...newPerson() });
	expect(refused.status).toBe(404);
	expect(refused.json.detail).toMatch(/was accepted or revoked/);
});

// An owner who expected to be removed could come back with a link of their own.
test("the links of an owner who is removed or demoted end", async () => {
	const change = async (ada: Browser, method: string, role?: string) => {
		const body = role === undefined ? {} : { body: { role } };
		const { status } = await owner.call(method, `${project}/members/${ada.accountId}`, body);
		expect(status).toBe(method === "DELETE" ? 204 : 200);
	};
	const { url: others } = (await create({ role: "viewer" })).json;
	for (const [method, role] of [
		["PATCH", "developer"],
		["DELETE", undefined],
	] as const) {
		const ada = await member(api, project, "owner", `ada${++people}`);
		const { url } = (await create({ role: "owner" }, ada)).json;
		await change(ada, "PATCH", "owner");
		expect((await look(tokenOf(url))).status).toBe(200);
		await change(ada, method, role);
		expect((await look(tokenOf(url))).status).toBe(404);
		expect((await accept(ada, { token: tokenOf(url) })).status).toBe(404);
	}
	expect((await look(tokenOf(others))).status).toBe(200);
});

test("an invitation expires after a week", async () => {
	const { json } = await create({ role: "viewer" });
	clock.advance(WEEK_MS - 1);
	expect((await look(tokenOf(json.url))).status).toBe(200);
	expect(await open()).toHaveLength(1);
	clock.advance(1);
	expect((await look(tokenOf(json.url))).status).toBe(404);
	expect((await accept(new Browser(api), { token: tokenOf(json.url), ...newPerson() })).status).toBe(404);
	expect(await open()).toEqual([]);
});

// 20 simultaneous acceptances once left 20 accounts.
test("only one of many concurrent acceptances succeeds, and creates an account", async () => {
	const token = await invite(api, project, "viewer");
	const newPeople = Array.from({ length: 4 }, newPerson);
	const tries = newPeople.map((person) => accept(new Browser(api), { token, ...person }));
	const statuses = (await Promise.all(tries)).map(({ status }) => status);
	expect(statuses.toSorted()).toEqual([200, 404, 404, 404]);
	const signIns = await Promise.all(newPeople.map(({ email }) => new Browser(api).signIn(email)));
	expect(signIns.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401]);
	expect((await owner.call("GET", `${project}/members`)).json.data).toHaveLength(2);
});

test("too many wrong links from an address must wait", async () => {
	const from = "192.0.2.50";
	const guess = (i: number) =>
		api.call("POST", "/v1/invitations/look", { key: null, from, body: { token: `guess-${i}` } });
	for (let i = 1; i < SIGN_IN.wrongFromNetwork; i++) expect((await guess(i)).status).toBe(404);
	const refused = await guess(0);
	expect(refused.status).toBe(429);
	expect(refused.headers["retry-after"]).toBe("900");
	expect((await new Browser(api, { from }).signIn("operator@example.com")).status).toBe(429);
	expect((await look("x")).status).toBe(404);
});
