import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";

/** How many kinds of nonsense each route gets. */
const RUNS = 60;

let api: TestApi;
let project: string;
let webhook: string;
let routes: { method: string; path: string; hasBody: boolean; query: string[] }[];

beforeAll(async () => {
	api = await TestApi.start();
	project = await api.project();
	webhook = await api.webhook(project, { url: "https://example.com/" });
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	const { json } = await api.call("GET", "/openapi.json");
	const { paths } = json;
	routes = Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods)
			// A response that never ends; changes.test.ts reads it.
			.filter(([, { operationId }]) => operationId !== "listenToChanges")
			.map(([method, { requestBody, parameters }]) => ({
				method: method.toUpperCase(),
				path,
				hasBody: requestBody !== undefined,
				query: parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
			})),
	);
});
afterAll(() => api.close());

/** All stored data, as the API shows it. */
async function stored(): Promise<string[]> {
	const lists = ["/v1/projects", `${project}/webhooks`, `${project}/events`, `${project}/attempts`];
	return Promise.all(lists.map(async (path) => (await api.call("GET", path)).text));
}

const KEYS = [
	"__proto__",
	"constructor",
	"prototype",
	"toString",
	"valueOf",
	"length",
	"events",
	"type",
	"data",
	"url",
	"name",
	"status",
	"id",
	"",
	"a/b",
	"~",
];
const key = fc.oneof(fc.constantFrom(...KEYS), fc.string({ unit: "binary", maxLength: 8 }));
const leaf = fc.oneof(
	fc.constantFrom(
		null,
		true,
		0,
		-0,
		1e308,
		-1,
		1.5,
		Number.MAX_SAFE_INTEGER + 2,
		"",
		"\u0000",
		"\ud800",
		"evt_x",
		"https://",
		"http://[",
		"https://a b",
		"x".repeat(5_000),
	),
	fc.string({ unit: "binary", maxLength: 40 }),
	fc.double({ noNaN: true, noDefaultInfinity: true }),
);
/** JSON of every shape, including names that objects have by default. */
const json = fc.letrec((tie) => ({
	value: fc.oneof(
		{ maxDepth: 4, withCrossShrink: true },
		leaf,
		fc.array(tie("value"), { maxLength: 4 }),
		tie("object"),
	),
	object: fc
		.array(fc.tuple(key, tie("value")), { maxLength: 5 })
		.map((members) => Object.fromEntries(members.map(([name, value]) => [name, value]))),
}));
const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));
/** The unknown name ensures that no route accepts a body. */
const body = fc.oneof(
	json.value.map((value) =>
		Buffer.from(
			JSON.stringify(Array.isArray(value) ? value : isObject(value) ? { ...value, "no such field": 1 } : value),
		),
	),
	bytes.filter((buffer) => buffer.length > 0 && !isJsonObject(buffer)),
	fc
		.constantFrom(
			"",
			" ",
			"[".repeat(100_000),
			"[".repeat(100_000) + "]".repeat(100_000),
			`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
			`{"name":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
			`{"events":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
			`{"events":[${Array(50_000).fill(0)}]}`,
			'{"events":[{"valueOf":1},{"valueOf":1}]}',
			'{"name":"a","name":5}',
			'{"__proto__":{"name":"x"}}',
			'{"constructor":{"prototype":{"name":"x"}}}',
			'{"name":1e999}',
			'{"max_in_flight":1e400}',
			`{"name":${"9".repeat(1_000)}}`,
			'{"name":"\\ud800"}',
			'{"name":"\u0000"}',
			"\ufeff[]",
			"\ufeff",
			"NaN",
			"undefined",
		)
		.map((text) => Buffer.from(text)),
);
const part = fc.oneof(
	fc.constantFrom(
		"%00",
		"%",
		"%zz",
		"%ff",
		"%c0%80",
		"..",
		".",
		"%2e%2e",
		"%2f",
		"__proto__",
		"constructor",
		"*",
		":x",
		"'",
		'"',
		"proj_",
		"evt_%0a",
		"null",
		"-1",
		"x".repeat(99),
		"x".repeat(400),
		"é",
		"%F0%9F%8E%BA",
	),
	fc.string({ minLength: 1, maxLength: 20 }).map(encodeURIComponent),
);
const text = fc.oneof(
	fc.constantFrom("", "%", "%00", "%ff", "a&b", "[]", "1e9", "-1", "NaN", "0x1", "9".repeat(400), "null"),
	fc.string({ unit: "binary", maxLength: 20 }).map((given) => encodeURIComponent(given.toWellFormed())),
);
const headers = fc.record(
	{
		"content-type": fc.constantFrom(
			"application/json",
			"application/json;charset=latin1",
			"text/plain",
			"",
			";",
			"application/json,application/json",
			"multipart/form-data",
		),
		"content-encoding": fc.constantFrom("gzip", "identity", "br, gzip", "nonsense"),
		accept: fc.constantFrom("text/html", "nonsense", ""),
		"x-request-id": fc.constantFrom("", "a\tb", "é", "x".repeat(5_000)),
		"if-none-match": fc.constantFrom("*", '"x"'),
		range: fc.constantFrom("bytes=0-1", "nonsense"),
	},
	{ requiredKeys: [] },
);

function isObject(value: unknown): value is object {
	return typeof value === "object" && value !== null;
}

/** Such as `{}`, which changes nothing but is valid. */
function isJsonObject(buffer: Buffer): boolean {
	try {
		return isObject(JSON.parse(new TextDecoder().decode(buffer)));
	} catch {
		return false;
	}
}

test("nonsense of every kind gets a problem, never a 5xx, and writes nothing", async () => {
	const before = await stored();
	const call = fc.record({
		route: fc.nat(),
		ids: fc.array(fc.oneof({ weight: 1, arbitrary: part }, { weight: 3, arbitrary: fc.constant(null) }), {
			minLength: 3,
			maxLength: 3,
		}),
		query: fc.option(fc.array(fc.tuple(fc.oneof(fc.nat(), text), text), { maxLength: 4 }), { freq: 3, nil: undefined }),
		body,
		headers,
		key: fc.oneof(
			{ weight: 5, arbitrary: fc.constant(undefined) },
			{ weight: 1, arbitrary: fc.constantFrom(null, "", "x", "\u00ff") },
		),
	});
	await fc.assert(
		fc.asyncProperty(call, async (given) => {
			const route = routes[given.route % routes.length]!;
			// These calls need no body, so only nonsense in a body could be wrong.
			if (!route.hasBody && route.method !== "GET") return;
			const [a, b, c] = given.ids;
			const path = route.path
				.replace("{project_id}", a ?? project.split("/").at(-1)!)
				.replace("{webhook_id}", b ?? webhook.split("/").at(-1)!)
				.replace(/\{\w+\}/, c ?? "evt_none");
			// Clients resolve dots: this would be a call of another route, or of the dashboard.
			if (new URL(path, "http://localhost").pathname.split("/").length !== path.split("/").length) return;
			const query = (given.query ?? []).map(([name, value]) => {
				const known = typeof name === "number" ? route.query[name % Math.max(1, route.query.length)] : name;
				return `${known ?? "x"}=${value}`;
			});
			const url = `${path}${query.length > 0 ? `?${query.join("&")}` : ""}`;
			const { key: apiKey } = given;
			const answer = await api.call(route.method, url, {
				...(apiKey !== undefined && { key: apiKey }),
				...(route.method !== "GET" && { raw: given.body }),
				headers: Object.fromEntries(
					Object.entries(given.headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
				),
			});
			// `call` has checked the response against the OpenAPI document.
			expect(answer.status, `${route.method} ${url}`).toBeLessThan(500);
			if (route.method !== "GET")
				expect(answer.status, `${route.method} ${url} ${given.body.toString()}`).toBeGreaterThanOrEqual(400);
		}),
		{ numRuns: RUNS * routes.length },
	);
	expect(await stored()).toEqual(before);
	expect(api.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
