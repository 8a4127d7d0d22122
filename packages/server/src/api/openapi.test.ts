import { EVENT_TYPES } from "@posthorn/protocol";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { apiRoutes } from "./routes/index.ts";

interface Operation {
	readonly operationId: string;
	readonly security?: unknown[];
	readonly responses: Record<string, unknown>;
	readonly requestBody?: {
		readonly content: { readonly "application/json": { readonly schema: object; example?: unknown } };
	};
	readonly parameters?: {
		readonly name: string;
		readonly required: boolean;
		readonly description?: string;
		readonly schema: object;
	}[];
}
interface Document {
	readonly openapi: string;
	readonly paths: Record<string, Record<string, Operation>>;
	readonly webhooks: Record<string, { readonly post: Operation }>;
	readonly components: { readonly schemas: Record<string, { readonly examples?: unknown[] }> };
}

let api: TestApi;
let document: Document;
beforeAll(async () => {
	api = await TestApi.start();
	document = (await api.app.inject("/openapi.json")).json();
});
afterAll(() => api.close());

test("the document is valid OpenAPI 3.1", async () => {
	const result = await new Validator().validate({ ...structuredClone(document) });
	expect(result.errors ?? []).toEqual([]);
	expect(result.valid).toBe(true);
	expect(document.openapi).toBe("3.1.0");
});

test("documents exactly the routes that are served", () => {
	const routes = apiRoutes(api.parts, () => "");
	const served = routes.map(({ method, path }) => `${method} ${path}`).sort();
	const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
		Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
	);
	expect(documented.sort()).toEqual(served);
	for (const { method, path } of routes)
		expect(api.app.hasRoute({ method, url: path.replaceAll(/\{(\w+)\}/g, ":$1") }), path).toBe(true);
});

test("Allow lists exactly the documented methods of a path", async () => {
	for (const [path, operations] of Object.entries(document.paths)) {
		const documented = Object.keys(operations).map((method) => method.toUpperCase());
		const expected = documented.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
		const url = path.replaceAll(/\{\w+\}/g, "x");
		for (const method of ["OPTIONS", "PATCH", "DELETE"] as const) {
			if (documented.includes(method)) continue;
			const response = await api.call(method, url);
			expect([response.status, response.headers.allow?.split(", ").sort()], `${method} ${path}`).toEqual([
				405,
				expected.sort(),
			]);
		}
	}
});

test("every operation has a unique id, and documents how keys and input are refused", () => {
	const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
	const ids = operations.map(({ operationId }) => operationId);
	expect(new Set(ids).size).toBe(ids.length);
	for (const { operationId, security, responses, requestBody } of operations) {
		const statuses = Object.keys(responses);
		const isOpen = security?.length === 0;
		if (!isOpen) expect(statuses, operationId).toEqual(expect.arrayContaining(["401", "422", "429"]));
		else if (!requestBody) for (const status of ["401", "422"]) expect(statuses, operationId).not.toContain(status);
		if (requestBody) expect(statuses, operationId).toEqual(expect.arrayContaining(["400", "413", "415", "422"]));
	}
});

test("describes every parameter", () => {
	for (const operations of Object.values(document.paths))
		for (const { operationId, parameters = [] } of Object.values(operations))
			for (const { name, description } of parameters) expect(description, `${name} of ${operationId}`).toMatch(/\.$/);
});

test("says which scope a key needs", () => {
	const scopeOf = (path: string, method: string) => document.paths[path]![method]!.security;
	const project = "/v1/projects/{project_id}";
	for (const [path, method, scope] of [
		["/events", "post", "publish"],
		["/orders/{order_id}/refunds", "post", "publish"],
		["/events", "get", "read"],
		["/webhooks/{webhook_id}", "patch", "manage"],
	] as const)
		expect(scopeOf(project + path, method), path).toEqual([{ apiKey: [scope] }, { session: [] }]);
	for (const path of ["/v1/event-types", `${project}/members`]) expect(scopeOf(path, "get"), path).toBeUndefined();
});

test("all schemas are valid", () => {
	const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
	const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
	const schemas = [
		...Object.values(document.components.schemas),
		...operations.flatMap(({ parameters = [] }) => parameters.map(({ schema }) => schema)),
		...operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)),
	];
	expect(schemas.length).toBeGreaterThan(100);
	for (const schema of schemas) expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
});

test("examples are valid by their schemas", () => {
	const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
	ajv.addSchema({ ...document }, "api");
	let examples = 0;
	for (const [name, { examples: given = [] }] of Object.entries(document.components.schemas))
		for (const example of given) {
			const check = ajv.getSchema(`api#/components/schemas/${name}`)!;
			expect(check(example), `${name}: ${ajv.errorsText(check.errors)}`).toBe(true);
			examples++;
		}
	expect(examples).toBeGreaterThan(5);
});

test("documents the request that receivers get for each event type", () => {
	expect(Object.keys(document.webhooks)).toEqual(EVENT_TYPES.map(({ type }) => type));
	const ajv = new Ajv2020({ strict: false, validateFormats: false });
	ajv.addSchema({ ...document }, "api");
	for (const [type, { post }] of Object.entries(document.webhooks)) {
		const { example } = post.requestBody!.content["application/json"];
		const check = ajv.getSchema(`api#/webhooks/${type}/post/requestBody/content/application~1json/schema`)!;
		expect(check(example), type).toBe(true);
		expect(check({ ...(example as object), data: 7 }), type).toBe(false);
		expect(post.parameters!.map(({ name }) => name).sort()).toEqual([
			"User-Agent",
			"X-Service-Event",
			"X-Service-Event-Id",
			"X-Service-Signature",
			"X-Service-Timestamp",
			"webhook-id",
			"webhook-signature",
			"webhook-timestamp",
		]);
		expect(post.parameters!.filter(({ required }) => !required).map(({ name }) => name)).toEqual([
			"webhook-id",
			"webhook-timestamp",
			"webhook-signature",
		]);
	}
});

test("the reference only runs its own script, and names no other host", async () => {
	const page = await api.app.inject("/docs");
	expect(page.statusCode).toBe(200);
	expect(page.payload).not.toMatch(/https?:\/\//);
	const policy = String(page.headers["content-security-policy"]);
	expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[^']+';/);
	expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|https?:/);
	const src = /<script src="([^"]+)"/.exec(page.payload)![1]!;
	const script = await api.app.inject({ url: src, headers: { "accept-encoding": "gzip" } });
	expect(script.statusCode).toBe(200);
	expect(script.headers["content-encoding"]).toBe("gzip");
	// Its name was enough.
	const refused = await api.app.inject({ url: src, headers: { "accept-encoding": "gzip;q=0, identity" } });
	expect(refused.headers["content-encoding"]).toBeUndefined();
	const plain = await api.app.inject(src);
	expect(plain.payload.length).toBeGreaterThan(script.rawPayload.length);
	expect(plain.headers["content-type"]).toMatch(/^text\/javascript/);
});
