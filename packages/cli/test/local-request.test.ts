import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createAuthority, issueSelfSigned, writeCaFile } from "@posthorn/testkit";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { connect } from "../src/client/connection.ts";
import { lookupTarget } from "../src/client/listen/target.ts";
import { LocalReceiver, openServer, User } from "./client.fixture.ts";

let receiver: LocalReceiver;
let user: User;

beforeAll(async () => {
	receiver = await LocalReceiver.start();
});
afterAll(() => receiver.close());
beforeEach(() => {
	receiver.received.length = 0;
	user = new User();
	return () => user.close();
});

test("events for this machine never go through a proxy", async () => {
	const proxied: (string | undefined)[] = [];
	await using proxy = await openServer(
		createServer(({ url }, response) => {
			proxied.push(url);
			response.end();
		}),
	);
	const address = `http://127.0.0.1:${proxy.port}`;
	const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: address, http_proxy: address, HTTPS_PROXY: address };
	const { code } = await user.run(["trigger", "customer.created", "--to", `${receiver.port}/hooks`], { env });
	expect([code, proxied, receiver.received.length]).toEqual([0, [], 1]);
});

test("localhost and names below it are this machine, without asking DNS", async () => {
	for (const host of ["localhost", "shop.api.localhost"]) {
		const { code } = await user.run(["trigger", "customer.created", "--to", `http://${host}:${receiver.port}/hooks`]);
		expect(code, host).toBe(0);
		const all = new Promise((resolve) => lookupTarget(host, { all: true }, (_, found) => resolve(found)));
		expect(await all).toEqual([
			{ address: "127.0.0.1", family: 4 },
			{ address: "::1", family: 6 },
		]);
	}
	expect(receiver.received).toHaveLength(2);
});

// It waited five minutes for the body, although the receiver had responded. "listen" sent nothing else meanwhile.
test("a response whose body never ends counts from its status on", async () => {
	await using endless = await openServer(createServer((_, response) => response.writeHead(201).write("began")));
	const { code, out } = await user.run(["trigger", "customer.created", "--to", `${endless.port}/hooks`, "--json"]);
	expect([code, JSON.parse(out)]).toMatchObject([0, { kind: "responded", status: 201, body: "began" }]);
});

test.each([
	["http://api.localhost:8420", true],
	["http://127.0.0.1.example.com:8420", true],
	["http://localhost:8420", false],
	["http://127.0.0.1:8420", false],
	["http://[::1]:8420", false],
	["https://api.localhost:8420", false],
])("a key for %s is warned about as readable on the way: %s", async (url, isReadable) => {
	const warned = vi.spyOn(console, "error").mockReturnValue();
	await connect({ url, project: "proj_1" }, { POSTHORN_API_KEY: "phk_1" });
	expect(warned.mock.calls.flat().join("").includes("isn't encrypted")).toBe(isReadable);
	warned.mockRestore();
});

test("login warns before it sends a key without encryption", async () => {
	const url = `http://api.localhost:${receiver.port}`;
	const { err } = await user.run(["login"], { env: { POSTHORN_URL: url, POSTHORN_API_KEY: "phk_1" } });
	expect(err).toContain("isn't encrypted");
});

// It repeated Node's advice to run Node with --use-system-ca, which no command takes.
test("a certificate of an authority of one's own is refused, with the way to trust it", async () => {
	const authority = await createAuthority();
	for (const [credentials, env, code] of [
		[await authority.issue(), {}, 1],
		[await issueSelfSigned(), {}, 1],
		[await authority.issue(), { NODE_EXTRA_CA_CERTS: writeCaFile(authority) }, 0],
	] as const) {
		await using server = await openServer(createHttpsServer(credentials, (_, response) => response.end()));
		const url = `https://127.0.0.1:${server.port}/hooks`;
		const result = await user.run(["trigger", "customer.created", "--to", url], { env });
		expect(result).toMatchObject({ code });
		if (code === 1)
			expect(result.out).toMatch(/ its certificate isn't from an .*; set NODE_EXTRA_CA_CERTS to a PEM file/);
	}
});

// It asked whether the service was running.
test("a service with such a certificate is refused, with the way to trust it", async () => {
	await using server = await openServer(createHttpsServer(await issueSelfSigned()));
	const url = `https://127.0.0.1:${server.port}`;
	const { code, err } = await user.run(["login"], { env: { POSTHORN_URL: url, POSTHORN_API_KEY: "phk_1" } });
	expect([code, err]).toEqual([1, expect.stringContaining("set NODE_EXTRA_CA_CERTS to a PEM file")]);
	expect(err).not.toContain("Is the service running");
});

// It said "the connection broke".
test("says how to name a receiver that speaks HTTPS", async () => {
	await using server = await openServer(createHttpsServer(await issueSelfSigned()));
	const { port } = server;
	const { code, out } = await user.run(["trigger", "customer.created", "--to", `localhost:${port}/hooks`]);
	expect(code).toBe(1);
	expect(out).toContain(`the connection broke; if it speaks HTTPS, give its URL: https://localhost:${port}/hooks`);
});
