import { once } from "node:events";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { NameServer } from "../../test/api/name-server.ts";
import { createGuard, type GuardOptions } from "../net/egress.ts";
import { createResolver } from "../net/resolver.ts";
import { UrlCheck } from "../registry/url-check.ts";

const EGRESS: GuardOptions = { allow: [], deny: ["198.41.0.0/24"], ports: [[1, 9_000]] };

let api: TestApi;
let names: NameServer;
/** The clock for the check's timeout. */
const patience = new VirtualClock();
let project: string;
beforeAll(async () => {
	names = new NameServer();
	const servers = [await names.listen()];
	names.addresses["hooks.example.com"] = "93.184.215.14";
	names.addresses["inside.example.com"] = "10.1.2.3";
	names.addresses["denied.example.com"] = "198.41.0.4";
	names.addresses["metadata.example.com"] = "169.254.169.254";
	names.failing.add("broken.example.com");
	names.silent.add("silent.example.com");
	api = await TestApi.start({
		egress: EGRESS,
		parts: ({ clock }) => {
			const guard = createGuard(EGRESS);
			const limits = { maxUrlLength: 2_048 };
			const resolver = createResolver({ guard, clock, servers });
			return { urlCheck: new UrlCheck({ guard, resolver, clock: patience, limits }) };
		},
	});
	project = await api.project();
});
afterAll(async () => {
	await api.close();
	await names.close();
});

async function check(url: string) {
	const { status, json } = await api.call("POST", `${project}/webhooks/check-url`, { body: { url } });
	expect(status).toBe(200);
	expect(json.checks.map(({ name }) => name)).toEqual(["https", "reachable_name", "public_address"]);
	return json;
}

test.each([
	["https://hooks.example.com/webhooks?a=b", true, ["ok", "ok", "ok"]],
	["https://93.184.215.14/", true, ["ok", "ok", "ok"]],
	["https://HOOKS.example.com:8443/", true, ["ok", "ok", "ok"]],
	["https://hooks.example.com/#part", false, ["failed", "unknown", "unknown"]],
	["http://hooks.example.com/", false, ["failed", "unknown", "unknown"]],
	["ftp://hooks.example.com/", false, ["failed", "unknown", "unknown"]],
	["hooks.example.com", false, ["failed", "unknown", "unknown"]],
	["", false, ["failed", "unknown", "unknown"]],
	["https://user:password@hooks.example.com/", false, ["failed", "unknown", "unknown"]],
	["https://hooks.example.com:0/", false, ["ok", "ok", "failed"]],
	["https://hooks.example.com:25/", false, ["ok", "ok", "failed"]],
	["https://hooks.example.com:9001/", false, ["ok", "ok", "failed"]],
	["https://198.41.0.4/", false, ["ok", "ok", "failed"]],
	["https://denied.example.com/", false, ["ok", "ok", "failed"]],
	["https://localhost/", false, ["ok", "ok", "failed"]],
	["https://127.0.0.1/", false, ["ok", "ok", "failed"]],
	["https://[::1]/", false, ["ok", "ok", "failed"]],
	["https://10.0.0.8/", false, ["ok", "ok", "failed"]],
	["https://0x7f.1/", false, ["ok", "ok", "failed"]],
	["https://printer.local/", false, ["ok", "failed", "unknown"]],
	["https://nowhere.invalid/", false, ["ok", "failed", "unknown"]],
	["https://inside.example.com/", false, ["ok", "ok", "failed"]],
	["https://metadata.example.com/", false, ["ok", "ok", "failed"]],
] as const)("%s", async (url, ok, states) => {
	const { ok: found, checks } = await check(url);
	expect(checks.map(({ state }) => state)).toEqual(states);
	expect(found).toBe(ok);
});

test("says that an address is allowed, not that it can be reached: nothing is sent to it", async () => {
	const named = await check("https://hooks.example.com/");
	expect(named.checks[2]!.detail).toBe("Its address is allowed.");
	const numeric = await check("https://93.184.215.14/");
	expect(numeric.checks[2]!.detail).toBe("The address is allowed.");
});

test("describes what is wrong without revealing internal addresses", async () => {
	const inside = await check("https://inside.example.com/");
	expect(inside.checks[2]!.detail).toBe("inside.example.com has no public address, so nothing can be delivered there.");
	expect(JSON.stringify(inside)).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
	const denied = await check("https://denied.example.com/");
	expect(denied.checks[2]!.detail).toMatch(
		/^The operator of this service doesn't allow requests to the address of denied/,
	);
	expect(JSON.stringify(denied)).not.toMatch(/\d+\.\d+\.\d+\.\d+/);
	const port = await check("https://hooks.example.com:9001/");
	expect(port.checks[2]!.detail).toContain("allows these: 1-9000");
	const nowhere = await check("https://nowhere.invalid/");
	expect(nowhere.checks[1]!.detail).toMatch(/^There is no host named nowhere\.invalid\./);
	const local = await check("https://localhost/");
	expect(local.checks[2]!.detail).toMatch(/use a tunnel/);
	const plain = await check("http://localhost/");
	expect(plain.checks[0]!.detail).toMatch(/must begin with https:\/\//);
});

test("a failed lookup is unknown, not an error of the URL", async () => {
	const broken = await check("https://broken.example.com/");
	expect(broken.checks[1]!.detail).toBe(
		"broken.example.com could not be resolved. It may resolve when an event is sent.",
	);
	const asked = once(names, "asked");
	const checking = check("https://silent.example.com/");
	expect(await asked).toEqual(["silent.example.com"]);
	patience.advance(3_000);
	const silent = await checking;
	expect(silent.checks[1]!.detail).toMatch(/^silent\.example\.com did not resolve within 3 seconds\./);
	for (const { checks, ...rest } of [broken, silent]) {
		expect(rest).toEqual({ ok: true });
		expect(checks.map(({ state }) => state)).toEqual(["ok", "unknown", "unknown"]);
	}
});

test("sends nothing to the URL, and agrees with registration", async () => {
	const { tcpConnections } = api.receiver;
	await api.call("POST", `${project}/webhooks/check-url`, { body: { url: api.receiver.url() } });
	expect(api.receiver.tcpConnections).toBe(tcpConnections);
	const long = `https://hooks.example.com/${"x".repeat(2_048)}`;
	for (const url of [
		"http://hooks.example.com/",
		"https://10.0.0.8/",
		"https://198.41.0.4/",
		"https://hooks.example.com:9001/",
		long,
	]) {
		const { checks } = await check(url);
		const body = { url, events: ["delivery.success"] };
		const { json } = await api.call("POST", `${project}/webhooks`, { body });
		expect(json.errors).toEqual([{ pointer: "/url", detail: checks.find(({ state }) => state === "failed")?.detail }]);
	}
});

test.each([[{}], [{ url: 1 }], [{ url: "https://example.com/", x: 1 }]])("refuses to check %j", async (body) => {
	expect((await api.call("POST", `${project}/webhooks/check-url`, { body })).status).toBe(422);
});
