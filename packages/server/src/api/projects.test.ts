import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { absentId } from "../base/ids.fixture.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

test("a project is created with the Developer app, and found again", async () => {
	const created = await api.call("POST", "/v1/projects", { body: { name: "Ärger & Söhne 🎺" } });
	expect(created.status).toBe(201);
	expect(created.json).toMatchObject({ name: "Ärger & Söhne 🎺", apps: ["developer"] });
	expect(created.json.id).toMatch(/^proj_[0-9a-z]{26}$/);
	expect(created.json.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
	const found = await api.call("GET", `/v1/projects/${created.json.id}`);
	expect(found.status).toBe(200);
	expect(found.json).toEqual(created.json);
});

test("a project may be created without apps", async () => {
	const { json } = await api.call("POST", "/v1/projects", { body: { name: "Plain", apps: [] } });
	expect(json.apps).toEqual([]);
});

test("reports every fault of a body with its pointer", async () => {
	const { status, json } = await api.call("POST", "/v1/projects", {
		body: { name: "line\nbreak", apps: ["developer", "nope"], colour: "red", "a/b~c": 1 },
	});
	expect(status).toBe(422);
	expect(json).toMatchObject({ type: "/problems/invalid", status: 422 });
	expect([...json.errors].map(({ pointer }) => pointer).sort()).toEqual(["/apps/1", "/a~1b~0c", "/colour", "/name"]);
});

test.each([
	[{}, "/name"],
	[{ name: "" }, "/name"],
	[{ name: "   " }, "/name"],
	[{ name: "\u200b\ufeff" }, "/name"],
	[{ name: "x".repeat(101) }, "/name"],
	[{ name: 5 }, "/name"],
	[{ name: null }, "/name"],
	[{ name: "half \ud800" }, "/name"],
	[{ name: "nul \u0000" }, "/name"],
	[{ name: "x", apps: "developer" }, "/apps"],
	[{ name: "x", apps: ["developer", "developer"] }, "/apps"],
	[[], ""],
	["x", ""],
	[null, ""],
	[17, ""],
])("refuses the project %j", async (body, pointer) => {
	const { status, json } = await api.call("POST", "/v1/projects", { body });
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("names are stored without the white space around them", async () => {
	const { json } = await api.call("POST", "/v1/projects", { body: { name: " My store\u3000" } });
	expect(json.name).toBe("My store");
	const renamed = await api.call("PATCH", `/v1/projects/${json.id}`, { body: { name: "\u00a0Ours " } });
	expect(renamed.json.name).toBe("Ours");
});

// `call` compares each response with the document.
test("shows names that are older than their rules", async () => {
	const { id } = (await api.call("POST", "/v1/projects", { body: { name: "x" } })).json;
	await api.storage.renameProject({ projectId: id as string, name: " \u200b " });
	expect((await api.call("GET", `/v1/projects/${id}`)).json.name).toBe(" \u200b ");
});

test("a name may have a hundred characters, each of two units", async () => {
	expect((await api.call("POST", "/v1/projects", { body: { name: "🎺".repeat(100) } })).status).toBe(201);
});

test("projects are listed in pages, oldest first, each once", async () => {
	for (let i = 0; i < 5; i++) await api.project(`Listed ${i}`);
	const whole = await api.call("GET", "/v1/projects?limit=200");
	const ids: unknown[] = [];
	let cursor: unknown = null;
	do {
		const page = await api.call("GET", `/v1/projects?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
		expect(page.json.data.length).toBeLessThanOrEqual(2);
		ids.push(...page.json.data.map(({ id }) => id));
		cursor = page.json.next_cursor;
	} while (cursor !== null);
	expect(ids).toEqual(whole.json.data.map(({ id }) => id));
	expect(ids).toEqual([...ids].sort());
	expect(whole.json.next_cursor).toBeNull();
});

test.each([
	["limit=0", "?limit"],
	["limit=201", "?limit"],
	["limit=-1", "?limit"],
	["limit=abc", "?limit"],
	["limit=", "?limit"],
	["limit=1e2", "?limit"],
	["limit=0x10", "?limit"],
	["limit=1.5", "?limit"],
	["limit=99999999999999999999", "?limit"],
	["limit=1&limit=2", "?limit"],
	["cursor=nonsense", "?cursor"],
	["cursor=", "?cursor"],
	["cursor=d2hfMDFt", "?cursor"],
	["colour=red", "?colour"],
	["__proto__=1", "?__proto__"],
	["constructor=1", "?constructor"],
])("refuses the query %s", async (query, pointer) => {
	const { status, json } = await api.call("GET", `/v1/projects?${query}`);
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("without the Developer app its routes return 409, and publishing continues", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	expect((await api.call("DELETE", `${project}/apps/developer`)).status).toBe(204);
	expect((await api.call("DELETE", `${project}/apps/developer`)).status).toBe(204);
	for (const [method, path] of [
		["GET", "/webhooks"],
		["POST", "/webhooks"],
		["GET", `/${webhook.split("/").slice(4).join("/")}`],
		["GET", "/api-keys"],
		["GET", "/attempts"],
	] as const) {
		const { status, json } = await api.call(method, project + path, method === "POST" ? { body: {} } : {});
		expect(status).toBe(409);
		expect(json.type).toBe("/problems/app-not-installed");
	}
	const published = await api.call("POST", `${project}/events`, { body: { type: "delivery.success", data: {} } });
	expect(published.status).toBe(202);
	expect((await api.call("GET", `${project}/events`)).json.data).toHaveLength(1);

	const installed = await api.call("PUT", `${project}/apps/developer`);
	expect(installed.status).toBe(200);
	expect(installed.json.apps).toEqual(["developer"]);
	const paused = await api.call("GET", webhook);
	expect(paused.json).toMatchObject({ status: "paused", backlog: { events: 1 } });
	await api.call("PATCH", webhook, { body: { status: "active" } });
	await api.attempted();
	expect(api.receiver.requests).toHaveLength(1);
});

test("a missing project is 404 for every call", async () => {
	const { json } = await api.call("POST", "/v1/projects", { body: { name: "Model" } });
	const absent = `/v1/projects/${absentId(String(json.id))}`;
	for (const [method, path] of [
		["GET", ""],
		["PUT", "/apps/developer"],
		["DELETE", "/apps/developer"],
		["GET", "/webhooks"],
		["GET", "/events"],
		["GET", "/attempts"],
	] as const)
		expect((await api.call(method, absent + path)).status, `${method} ${path}`).toBe(404);
	const published = await api.call("POST", `${absent}/events`, { body: { type: "delivery.success", data: {} } });
	expect(published.status).toBe(404);
});
