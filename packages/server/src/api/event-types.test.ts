import { EVENT_TYPES } from "@posthorn/protocol";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

test("serves each type's JSON Schema to anyone, and the catalogue's sample is valid by it", async () => {
	const ajv = new Ajv2020({ strict: false });
	for (const { type, sample } of EVENT_TYPES) {
		const { status, headers, json } = await api.call("GET", `/v1/event-types/${type}/schema.json`, { key: null });
		expect([status, headers["content-type"], headers["access-control-allow-origin"]], type).toEqual([
			200,
			"application/schema+json; charset=utf-8",
			"*",
		]);
		expect(json).toMatchObject({ title: type, type: "object" });
		const check = ajv.compile(json);
		expect(check({ ...sample, a_field_of_ours: true }), ajv.errorsText(check.errors)).toBe(true);
		expect(check(7), type).toBe(false);
	}
});

test("lists the types if there is no such one", async () => {
	const { status, json } = await api.call("GET", "/v1/event-types/purchase.complete/schema.json", { key: null });
	expect(status).toBe(404);
	expect(json.detail).toContain("purchase.completed");
});

// It said "24 hours, unless the operator has set another time", whatever the setting was.
test("says after how long this service takes a basket for abandoned", async () => {
	const set = await TestApi.start({ basketIdleMs: 5_400_000 });
	onTestFinished(() => set.close());
	const description = "A basket with at least one item sat untouched for 90 minutes.";
	const { json } = await set.call("GET", "/v1/event-types");
	expect(json).toContainEqual(expect.objectContaining({ type: "basket.abandoned", description }));
	const schema = await set.call("GET", "/v1/event-types/basket.abandoned/schema.json", { key: null });
	expect(schema.json).toMatchObject({ description });
});
