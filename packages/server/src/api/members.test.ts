import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { type Browser, invite, member, setUp } from "../../test/api/browser.ts";
import { absentId } from "../base/ids.fixture.ts";

let api: TestApi;
let operator: Browser;
let project: string;
let owner: Browser;
let viewer: Browser;
let people = 0;
beforeAll(async () => {
	api = await TestApi.start();
	operator = await setUp(api);
});
beforeEach(async () => {
	project = await api.project();
	owner = await member(api, project, "owner", `owner${++people}`);
	viewer = await member(api, project, "viewer", `viewer${people}`);
});
afterAll(() => api.close());

const pathOf = ({ accountId }: Browser) => `${project}/members/${accountId}`;
const setRole = (of: Browser, role: string, by = owner) => by.call("PATCH", pathOf(of), { body: { role } });
const remove = (who: Browser, by = owner) => by.call("DELETE", pathOf(who));
const roles = async () => (await operator.call("GET", `${project}/members`)).json.data.map(({ role }) => role);

test("lists members with their accounts, in pages", async () => {
	const { status, json } = await viewer.call("GET", `${project}/members`);
	expect(status).toBe(200);
	expect(json.data).toEqual(
		[owner, viewer].map(({ accountId }, i) => ({
			account_id: accountId,
			email: `${["owner", "viewer"][i]}${people}@example.com`,
			name: `${["owner", "viewer"][i]}${people}`,
			role: ["owner", "viewer"][i],
			operator: false,
			added_at: expect.stringMatching(/Z$/),
		})),
	);
	expect(json.next_cursor).toBeNull();
	const first = await viewer.call("GET", `${project}/members?limit=1`);
	expect(first.json.data).toEqual(json.data.slice(0, 1));
	const second = await viewer.call("GET", `${project}/members?limit=1&cursor=${first.json.next_cursor}`);
	expect(second.json.data).toEqual(json.data.slice(1));
	expect(second.json.next_cursor).toBeNull();
});

test("a role applies from the next request on", async () => {
	const publish = async () =>
		(await viewer.call("POST", `${project}/events`, { body: { type: "delivery.success", data: {} } })).status;
	expect(await publish()).toBe(403);
	const { status, json } = await setRole(viewer, "developer");
	expect(status).toBe(200);
	expect(json).toMatchObject({ account_id: viewer.accountId, role: "developer" });
	expect(await publish()).toBe(202);
	expect((await viewer.call("GET", "/v1/session")).json.projects[0]!.role).toBe("developer");
	await setRole(viewer, "viewer");
	expect(await publish()).toBe(403);
	for (const body of [{}, { role: "operator" }, { role: "owner", name: "x" }])
		expect((await owner.call("PATCH", pathOf(viewer), { body })).status).toBe(422);
});

test("a removed member loses access with the next request, but keeps other projects", async () => {
	const other = await api.project("Other");
	await viewer.call("POST", "/v1/invitations/accept", { body: { token: await invite(api, other, "developer") } });
	expect((await remove(viewer)).status).toBe(204);
	expect((await viewer.call("GET", `${project}/webhooks`)).status).toBe(404);
	expect((await viewer.call("GET", `${other}/webhooks`)).status).toBe(200);
	expect((await viewer.call("GET", "/v1/projects")).json.data.map(({ name }) => name)).toEqual(["Other"]);
	expect((await remove(viewer)).status).toBe(404);
	expect((await setRole(viewer, "owner")).status).toBe(404);
});

test("anyone may leave; only an owner removes others", async () => {
	const developer = await member(api, project, "developer", `dev${people}`);
	for (const by of [viewer, developer]) {
		expect((await remove(owner, by)).status).toBe(403);
		expect((await setRole(by, "owner", by)).status).toBe(403);
	}
	expect((await remove(viewer, developer)).status).toBe(403);
	expect((await remove(developer, developer)).status).toBe(204);
	expect((await remove(viewer, viewer)).status).toBe(204);
	expect(await roles()).toEqual(["owner"]);
});

test("a project keeps its last owner", async () => {
	for (const answer of [
		await remove(owner),
		await setRole(owner, "developer"),
		await remove(owner, operator),
		await setRole(owner, "viewer", operator),
	]) {
		expect(answer.status).toBe(409);
		expect(answer.json.detail).toBe("A project needs an owner. Make someone else an owner first.");
	}
	expect((await setRole(owner, "owner")).status).toBe(200);
	await setRole(viewer, "owner");
	expect((await remove(owner)).status).toBe(204);
	expect((await remove(viewer, viewer)).status).toBe(409);
});

test("one of two owners who leave concurrently stays", async () => {
	await setRole(viewer, "owner");
	const statuses = (await Promise.all([remove(owner), remove(viewer, viewer)])).map(({ status }) => status);
	expect(statuses.toSorted()).toEqual([204, 409]);
	expect(await roles()).toEqual(["owner"]);
});

test("finds neither other projects' members nor non-members", async () => {
	const outsider = await member(api, await api.project(), "owner", `outsider${people}`);
	expect((await remove(outsider)).status).toBe(404);
	expect((await setRole(outsider, "viewer")).status).toBe(404);
	expect((await remove(viewer, outsider)).status).toBe(404);
	for (const id of ["x", "%00", "acc_01kbjh6mrxe3q8z1v2t4w5y6a7", absentId(owner.accountId)])
		expect((await owner.call("DELETE", `${project}/members/${id}`)).status, id).toBe(404);
	expect(await roles()).toEqual(["owner", "viewer"]);
});

test("the operator is an owner everywhere without being a member", async () => {
	expect((await operator.call("PATCH", project, { body: { name: "Renamed" } })).status).toBe(200);
	expect((await setRole(viewer, "developer", operator)).status).toBe(200);
	expect((await remove(operator, operator)).status).toBe(404);
	const listed = (await operator.call("GET", `${project}/members`)).json.data;
	expect(listed.map(({ account_id }) => account_id)).not.toContain(operator.accountId);
	const session = (await operator.call("GET", "/v1/session")).json;
	expect(session.projects.find(({ id }) => project.endsWith(id))).toMatchObject({ name: "Renamed", role: "owner" });
	expect((await operator.call("GET", "/v1/projects/proj_01kbjh6mrxe3q8z1v2t4w5y6a7/members")).status).toBe(404);
});

test("only owners change apps and the name, effective immediately", async () => {
	expect((await owner.call("PATCH", project, { body: { name: "Shop" } })).json).toMatchObject({ name: "Shop" });
	for (const body of [{}, { name: "" }, { name: "x", apps: [] }])
		expect((await owner.call("PATCH", project, { body })).status).toBe(422);
	expect((await owner.call("DELETE", `${project}/apps/developer`)).status).toBe(204);
	expect((await viewer.call("GET", "/v1/session")).json.projects[0]).toMatchObject({ name: "Shop", apps: [] });
	expect((await viewer.call("GET", `${project}/webhooks`)).status).toBe(409);
	expect((await owner.call("PUT", `${project}/apps/developer`)).json.apps).toEqual(["developer"]);
	expect((await viewer.call("GET", `${project}/webhooks`)).status).toBe(200);
});

test("lists an account's own projects in pages", async () => {
	for (const name of ["B", "C", "D"]) {
		const token = await invite(api, await api.project(name), "viewer");
		await viewer.call("POST", "/v1/invitations/accept", { body: { token } });
		await api.project("Not theirs");
	}
	const first = (await viewer.call("GET", "/v1/projects?limit=3")).json;
	expect(first.data.map(({ name }) => name)).toEqual(["Store", "B", "C"]);
	const rest = (await viewer.call("GET", `/v1/projects?limit=3&cursor=${first.next_cursor}`)).json;
	expect(rest.data.map(({ name }) => name)).toEqual(["D"]);
	expect(rest.next_cursor).toBeNull();
});

// Each of up to 200 projects was read separately, all at once, and the reads of others waited.
test("an account's projects are listed with one read, as each is shown on its own", async () => {
	const token = await invite(api, await api.project("Other"), "viewer");
	await viewer.call("POST", "/v1/invitations/accept", { body: { token } });
	const read = vi.spyOn(api.storage, "getProject");
	const { data } = (await viewer.call("GET", "/v1/projects")).json;
	expect(read).not.toHaveBeenCalled();
	read.mockRestore();
	expect(data).toHaveLength(2);
	for (const one of data) expect((await viewer.call("GET", `/v1/projects/${one.id}`)).json).toEqual(one);
});
