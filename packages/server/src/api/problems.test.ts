import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { PROBLEMS } from "./http/problem.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

test("each problem type is explained at its own URL, to programs and to people", async () => {
	for (const [kind, { status, title, meaning, action }] of Object.entries(PROBLEMS)) {
		const type = `/problems/${kind}`;
		const explained = await api.call("GET", type, { key: null });
		expect([explained.status, explained.json]).toEqual([200, { type, title, status, meaning, action }]);
		const page = await api.app.inject({ url: type, headers: { accept: "text/html,*/*;q=0.8" } });
		expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
		// The page showed backticks as they are.
		const text = page.payload.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
		const spoken = (marked: string) => marked.replaceAll("`", " ").replaceAll(/\s+/g, " ").trim();
		for (const part of [type, title, meaning, action]) expect(text).toContain(spoken(part));
		expect(text).not.toContain("`");
	}
});

test("a refused request names a type that can be looked up", async () => {
	const { json } = await api.call("GET", "/v1/nothing");
	expect((await api.call("GET", json.type, { key: null })).json).toMatchObject({ title: "Not found", status: 404 });
	const unknown = await api.call("GET", "/problems/unheard-of", { key: null });
	expect([unknown.status, unknown.json.type]).toEqual([404, "/problems/not-found"]);
});
