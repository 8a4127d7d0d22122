import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unusedPort } from "../../../testkit/src/ports.ts";
import { until } from "../../../testkit/src/until.ts";
import { TestApi } from "../../test/api/api.ts";
import { member } from "../../test/api/browser.ts";
import { METRICS } from "../base/budgets.ts";
import { absentId } from "../base/ids.fixture.ts";
import type { Shortage } from "../net/shortages.ts";
import { StorageError } from "../storage/port.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

const sample = async (from: TestApi, name: string): Promise<string | undefined> =>
	(await from.call("GET", "/metrics")).text
		.split("\n")
		.find((line) => line.startsWith(`${name} `))
		?.split(" ")[1];

test("exposes counters and backlogs to Prometheus without names", async () => {
	const project = await api.project("Counted");
	const webhook = await api.webhook(project);
	await api.publish(project);
	await api.attempted();
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	const waiting = await api.publish(project);
	const { text, headers } = await api.call("GET", "/metrics");
	expect(headers["content-type"]).toMatch(/^text\/plain/);
	for (const line of [
		"posthorn_storage_up 1",
		"posthorn_projects 1",
		"posthorn_webhooks 1",
		"posthorn_backlog_events 1",
		"posthorn_backlog_paused_events 1",
		"posthorn_backlog_oldest_age_seconds 0",
		"posthorn_retries_waiting 0",
		"posthorn_dead_letters 0",
		"posthorn_events_published_total 2",
		'posthorn_attempts_total{outcome="delivered"} 1',
		"posthorn_attempt_duration_seconds_count 1",
		"posthorn_delivery_lag_seconds_count 1",
		'posthorn_http_request_duration_seconds_count{route="/v1/projects/:project_id/events",method="POST",status="2xx"} 2',
	])
		expect(text).toContain(`\n${line}\n`);
	expect(text).toMatch(/\nprocess_resident_memory_bytes \d/);
	for (const name of [project.split("/").at(-1)!, webhook.split("/").at(-1)!, waiting])
		expect(text).not.toContain(name);
});

// Attempts failed, and nothing showed whether receivers, their certificates or this network were the cause.
test("the metrics count failed attempts by cause, and each of them exists from the start", async () => {
	const own = await TestApi.start();
	const counts = async () => {
		const { text } = await own.call("GET", "/metrics");
		const samples = text.matchAll(/^posthorn_attempt_failures_total\{outcome="(\w+)",cause="(\w+)"\} (\d+)$/gm);
		return new Map([...samples].map(([, outcome, cause, count]) => [`${outcome} ${cause}`, Number(count)]));
	};
	const before = await counts();
	expect([...before.keys()]).toEqual(expect.arrayContaining(["retrying 5xx", "failed timeout", "failed deleted"]));
	expect(before.has("retrying deleted")).toBe(false);
	const [answering, refusing] = [await own.project(), await own.project()];
	await own.webhook(answering);
	await own.deliver(answering, 200, 302, 503, 503);
	await own.webhook(refusing, { url: `https://127.0.0.1:${await unusedPort()}/` });
	await own.publish(refusing);
	await own.attempted();
	const after = await counts();
	expect([...after.keys()]).toEqual([...before.keys()]);
	const changed = [...after].filter(([name, count]) => count !== before.get(name));
	expect(changed).toEqual([
		["failed 3xx", 1],
		["failed 5xx", 2],
		["failed connection_refused", 1],
	]);
	await own.close();
});

test("unexpected paths and methods share one label", async () => {
	for (let i = 0; i < 20; i++) await api.call("GET", `/nowhere/${i}`);
	await api.call("PROPFIND", "/nowhere");
	const { text } = await api.call("GET", "/metrics");
	expect(text).not.toContain("nowhere");
	expect(text).not.toContain("PROPFIND");
});

// Anyone could have them made hundreds of times a second, and a quiet project's events took 7 s.
test("makes the metrics a few times at once, then shows the last ones until there may be others", async () => {
	let now = 0;
	let made = 0;
	const own = await TestApi.start({
		parts: ({ clock, metrics }) => {
			const { registry } = metrics;
			const metricsOf = registry.metrics.bind(registry);
			registry.metrics = () => {
				made++;
				return metricsOf();
			};
			return { clock: { ...clock, elapsed: () => now } };
		},
	});
	const { burst, perMinute } = METRICS.renders;
	const texts = new Set<string>();
	for (let i = 0; i < burst + 5; i++) texts.add((await own.call("GET", "/metrics")).text);
	expect([made, texts.size]).toEqual([burst, burst]);
	now += 60_000 / perMinute;
	for (let i = 0; i < 5; i++) texts.add((await own.call("GET", "/metrics")).text);
	expect([made, texts.size]).toEqual([burst + 1, burst + 1]);
	await own.close();
});

test("asks storage once a second, however many ask whether it is ready", async () => {
	let asked = 0;
	let now = 0;
	const gate = Promise.withResolvers<void>();
	const own = await TestApi.start({
		parts: ({ storage, clock }) => ({
			clock: { ...clock, elapsed: () => now },
			storage: new Proxy(storage, {
				get(target, name) {
					if (name !== "ping") return Reflect.get(target, name, target);
					return async () => {
						asked++;
						await gate.promise;
					};
				},
			}),
		}),
	});
	const calls = Array.from({ length: 20 }, () => own.call("GET", "/readyz"));
	await until("a question to the storage", () => asked > 0);
	await own.call("GET", "/healthz");
	gate.resolve();
	for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
	await own.call("GET", "/readyz");
	expect(asked).toBe(1);
	now += 1_000;
	await own.call("GET", "/readyz");
	expect(asked).toBe(2);
	await own.close();
});

test("is not ready but alive if storage doesn't respond", async () => {
	let lost = false;
	let now = 0;
	let ready = true;
	let current: Shortage | null = null;
	let lacksConnections = false;
	const failing = await TestApi.start({
		parts: ({ storage, clock }) => ({
			clock: { ...clock, elapsed: () => now },
			ready: () => ready,
			lacksConnections: () => lacksConnections,
			shortages: {
				get current() {
					return current;
				},
			},
			storage: new Proxy(storage, {
				get: (target, name) => {
					const value = Reflect.get(target, name, target) as unknown;
					if (typeof value !== "function") return value;
					return (...args: unknown[]) =>
						lost ? Promise.reject(new StorageError("lost", "The worker is gone.")) : Reflect.apply(value, target, args);
				},
			}),
		}),
	});
	try {
		const project = await failing.project();
		expect((await failing.call("GET", "/readyz")).status).toBe(200);
		ready = false;
		expect((await failing.call("GET", "/readyz")).status).toBe(503);
		ready = true;
		current = "name_servers";
		const short = await failing.call("GET", "/readyz");
		expect(short.status).toBe(503);
		expect(short.json.detail).toContain("name servers");
		// A receiver can use up the ports towards itself: that must not take the node out of service.
		current = "ports";
		const noticed = await failing.call("GET", "/readyz");
		expect(noticed.status).toBe(200);
		expect(noticed.json).toEqual({ status: "ok", notice: expect.stringContaining("port") });
		current = null;
		// Nothing said why deliveries waited.
		lacksConnections = true;
		const few = await failing.call("GET", "/readyz");
		expect(few.status).toBe(200);
		expect(few.json).toEqual({ status: "ok", notice: expect.stringContaining("no connection left") });
		lacksConnections = false;
		expect((await failing.call("GET", "/readyz")).json).toEqual({ status: "ok" });
		lost = true;
		now += 1_000;
		const unready = await failing.call("GET", "/readyz");
		expect(unready.status).toBe(503);
		expect(unready.json.type).toBe("/problems/unavailable");
		expect((await failing.call("GET", "/healthz")).json).toEqual({ status: "ok" });
		const { status, headers, text } = await failing.call("GET", `${project}/attempts/att_01kbjh6mrxe3q8z1v2t4w5y6a7`);
		expect(status).toBe(503);
		expect(headers["retry-after"]).toBe("5");
		expect(text).not.toContain("worker");
		expect(failing.logs.join()).toContain("The worker is gone.");
		expect(await sample(failing, "posthorn_storage_up")).toBe("0");
		expect(await sample(failing, "posthorn_projects")).toBeUndefined();
	} finally {
		lost = false;
		await failing.close();
	}
});

// It said "ok", or only for a moment that nothing could be published.
test("is not ready while storage has no room, and says so", async () => {
	let isFull = true;
	let now = 0;
	const full = await TestApi.start({
		parts: ({ storage, clock }) => ({
			clock: { ...clock, elapsed: () => now },
			storage: new Proxy(storage, {
				get(target, name) {
					if (name !== "ping" || !isFull) return Reflect.get(target, name, target);
					return () => Promise.reject(new StorageError("full", "The disk of /var/secret.db is full."));
				},
			}),
		}),
	});
	const { status, json } = await full.call("GET", "/readyz");
	expect([status, json.detail]).toEqual([503, expect.stringMatching(/no space left.*free some/)]);
	expect(await sample(full, "posthorn_storage_up")).toBe("0");
	expect(await sample(full, "posthorn_projects")).toBe("0");
	expect(full.logs.join()).toContain("/var/secret.db");
	isFull = false;
	now += 1_000;
	expect((await full.call("GET", "/readyz")).json).toEqual({ status: "ok" });
	expect(await sample(full, "posthorn_storage_up")).toBe("1");
	await full.close();
});

// Once the clock was set back by an hour, all figures stayed as they were for an hour, and so did "storage is down".
test("keeps reading figures from storage when the clock is set back", async () => {
	let [now, elapsed, lost] = [Date.UTC(2026, 10, 21), 0, true];
	const set = await TestApi.start({
		parts: ({ storage, clock }) => ({
			clock: { ...clock, now: () => now, elapsed: () => elapsed },
			storage: new Proxy(storage, {
				get(target, name) {
					if (name !== "gauges" || !lost) return Reflect.get(target, name, target);
					return () => Promise.reject(new StorageError("lost", "The worker is gone."));
				},
			}),
		}),
	});
	expect(await sample(set, "posthorn_storage_up")).toBe("0");
	lost = false;
	now -= 3_600_000;
	elapsed += 1_000;
	expect(await sample(set, "posthorn_storage_up")).toBe("1");
	await set.project();
	expect(await sample(set, "posthorn_projects")).toBe("0");
	now += 1_000;
	expect(await sample(set, "posthorn_projects")).toBe("1");
	await set.close();
});

test("reports and logs a server error without its details", async () => {
	const broken = await TestApi.start({
		parts: ({ engine }) => ({
			engine: {
				...engine,
				publish() {
					throw new TypeError("undefined is not a password");
				},
			},
		}),
	});
	try {
		const body = { type: "delivery.success", data: {} };
		const { status, text } = await broken.call("POST", `${await broken.project()}/events`, { body });
		expect(status).toBe(500);
		expect(text).not.toContain("password");
		expect(broken.logs.join()).toContain("undefined is not a password");
	} finally {
		await broken.close();
	}
});

// On a full disk, each refused request logged a stack trace.
test("logs one of the requests that fail while storage has no room, then how many there were", async () => {
	let now = 0;
	const full = await TestApi.start({
		parts: ({ engine, clock }) => ({
			clock: { ...clock, elapsed: () => now },
			engine: { ...engine, publish: () => Promise.reject(new StorageError("full", "The disk is full.")) },
		}),
	});
	try {
		const project = await full.project();
		const fail = async () => {
			const body = { type: "delivery.success", data: {} };
			expect((await full.call("POST", `${project}/events`, { body })).status).toBe(503);
		};
		const lines = () => full.logs.filter((line) => line.includes("a request failed"));
		for (let n = 0; n < 15; n++) await fail();
		expect(lines()).toHaveLength(1);
		expect(lines()[0]).not.toContain("failures");
		now += 10_000;
		await fail();
		expect(JSON.parse(lines()[1]!)).toMatchObject({ failures: 16, forMs: 10_000 });
	} finally {
		await full.close();
	}
});

// Anyone who is signed in may ask for any project. Those names took the room in the log of the ones that failed.
test("the log names no project that a failed request had no access to", async () => {
	let isLost = false;
	const set = await TestApi.start({
		parts: ({ members }) => ({
			members: new Proxy(members, {
				get(target, name: keyof typeof members) {
					if (name !== "roleOf" || !isLost) return target[name].bind(target);
					return () => Promise.reject(new StorageError("lost", "The page is damaged."));
				},
			}),
		}),
	});
	try {
		const project = await set.project();
		const browser = await member(set, project, "viewer", "mallory");
		isLost = true;
		const invented = absentId(project);
		expect((await browser.call("GET", invented)).status).toBe(503);
		expect(set.logs.filter((line) => line.includes("a request failed"))).toHaveLength(1);
		expect(set.logs.join()).not.toContain(invented.split("/").at(-1));
	} finally {
		await set.close();
	}
});

test("responses have the request's id, or a new one", async () => {
	const given = await api.call("GET", "/healthz", { headers: { "x-request-id": "abc-123" } });
	expect(given.headers["x-request-id"]).toBe("abc-123");
	for (const odd of ["", "a b", "x".repeat(101), "é"]) {
		const { headers } = await api.call("GET", "/healthz", { headers: { "x-request-id": odd } });
		expect(headers["x-request-id"]).toMatch(/^node_\w+-\d+$/);
	}
});

test("responses can't be cached, framed, sniffed, or read by other origins", async () => {
	for (const path of ["/healthz", "/nowhere", "/v1/projects"]) {
		const { headers } = await api.call("GET", path, { headers: { origin: "https://evil.example" } });
		expect(headers["cache-control"]).toBe("no-store");
		expect(headers["x-content-type-options"]).toBe("nosniff");
		expect(headers["content-security-policy"]).toBe("default-src 'none';frame-ancestors 'none'");
		expect(headers["access-control-allow-origin"]).toBeUndefined();
	}
});

test.each([
	["GET", "/nowhere", 404, undefined],
	["POST", "/nowhere", 404, undefined],
	["GET", "/v1", 404, undefined],
	["GET", "/v1/projects/", 404, undefined],
	["PUT", "/v1/projects", 405, "POST, GET, HEAD"],
	["DELETE", "/healthz", 405, "GET, HEAD"],
	["OPTIONS", "/v1/projects", 405, "POST, GET, HEAD"],
	["PROPFIND", "/v1/projects", 405, "POST, GET, HEAD"],
	["POST", `/v1/projects/proj_x/webhooks/wh_y`, 405, "GET, HEAD, PATCH, DELETE"],
	["GET", `/v1/projects/${"x".repeat(300)}`, 404, undefined],
	["GET", "/v1/projects/%", 400, undefined],
	["GET", "/v1/projects/%E0%A4%A", 400, undefined],
	["GET", "/v1/projects/%00", 404, undefined],
	["GET", "/v1/projects/..%2f..%2fetc", 404, undefined],
] as const)("%s %s is %i", async (method, url, expected, allow) => {
	const { status, headers } = await api.call(method, url, method === "POST" ? { raw: "{" } : {});
	expect(status).toBe(expected);
	expect(headers.allow).toBe(allow);
	expect(headers).toMatchObject({ "posthorn-api": "v1", "x-request-id": expect.anything() });
});

test("the operators' page names every budget and rate in the metrics", async () => {
	const { text } = await api.call("GET", "/metrics");
	const ofApi = [...text.matchAll(/posthorn_budget_limit\{budget="(\w+)"\}/g)].map(([, name]) => name!);
	const names = [...new Set([...ofApi, ...api.engine.budgets.map(({ name }) => name)])];
	const page = readFileSync(new URL("../../../../docs/operations/monitoring.md", import.meta.url), "utf8");
	const rates = [...text.matchAll(/posthorn_rate_refusals_total\{rate="(\w+)"\}/g)].map(([, name]) => `\`${name}\``);
	expect(page).toContain(`${rates.slice(0, -1).join(", ")} or ${rates.at(-1)}`);
	const table = /\| `budget` \| counts \|\n\|---\|---\|\n([\s\S]*?)\n\n/.exec(page)![1]!;
	const told = table
		.split("\n")
		.flatMap((row) => [...row.split("|")[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
	expect(told.sort()).toEqual(names.sort());
});

test("the metrics count webhooks by their health", async () => {
	const own = await TestApi.start();
	const project = await own.project();
	const webhook = await own.webhook(project);
	await own.webhook(project, { events: ["purchase.refunded"] });
	await own.call("PATCH", webhook, { body: { status: "paused" } });
	const counted = /^posthorn_webhook_health\{health="(\w+)"\} (\d+)$/gm;
	const text = await until("the count", async () => {
		const metrics = (await own.call("GET", "/metrics")).text;
		return metrics.includes("posthorn_webhook_health{") && metrics;
	});
	expect(Object.fromEntries([...text.matchAll(counted)].map(([, health, count]) => [health, Number(count)]))).toEqual({
		paused: 1,
		failing: 0,
		unstable: 0,
		healthy: 0,
		idle: 1,
	});
	await own.close();
});
