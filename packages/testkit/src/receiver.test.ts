import { createHmac } from "node:crypto";
import { Agent, type RequestOptions, request as send } from "node:https";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Receiver, type ReceiverOptions, startReceiver } from "./receiver.ts";
import { type Authority, createAuthority } from "./tls/certificates.ts";

let authority: Authority;
let agent: Agent;
const open: Receiver[] = [];

beforeAll(async () => {
	authority = await createAuthority();
	agent = new Agent({ ca: authority.pem, keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
	await Promise.all(open.splice(0).map((receiver) => receiver.close()));
});
afterAll(() => agent.destroy());

async function start(options: Omit<ReceiverOptions, "authority"> = {}): Promise<Receiver> {
	const receiver = await startReceiver({ authority, ...options });
	open.push(receiver);
	return receiver;
}

/** @returns status and body, or the error's code */
async function post(url: string, body = "{}", options: RequestOptions = {}): Promise<string> {
	return await new Promise((resolve) => {
		send(url, { method: "POST", agent, family: 4, ...options }, (response) => {
			let text = `${response.statusCode} `;
			response.setEncoding("utf8");
			response.on("data", (chunk) => {
				text += chunk;
			});
			response.on("end", () => resolve(text));
		})
			.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
			.end(body);
	});
}

function signed(secret: string, body: string): RequestOptions {
	const timestamp = String(Math.floor(Date.now() / 1000));
	const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
	return { headers: { "X-Service-Timestamp": timestamp, "X-Service-Signature": signature } };
}

test("keeps requests byte for byte, and responds 200 ok", async () => {
	const receiver = await start();
	const headers = ["X-One", "a", "x-one", "b", "host", "localhost", "content-length", "10"];
	expect(await post(receiver.url("/hook?a=1"), '{"ü": 1 }', { headers })).toBe("200 ok");
	expect(receiver.requests).toMatchObject([
		{ method: "POST", path: "/hook?a=1", body: { ü: 1 }, verified: null, connection: 1, headers: { "x-one": "a, b" } },
	]);
	expect(receiver.requests[0]?.rawHeaders.slice(0, 2)).toEqual([
		["X-One", "a"],
		["x-one", "b"],
	]);
	expect(receiver.requests[0]?.rawBody).toEqual(Buffer.from('{"ü": 1 }'));
	expect(await post(receiver.ipUrl(), "no JSON")).toBe("200 ok");
	expect(receiver.requests[1]).toMatchObject({ path: "/", body: undefined });
});

test("numbers connections, which requests share if kept alive", async () => {
	const receiver = await start();
	await post(receiver.url());
	await post(receiver.url());
	await post(receiver.url(), "{}", { agent: new Agent({ ca: authority.pem }) });
	expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
	expect(receiver.connections).toBe(2);
});

test("verifies with one secret, with one for each path, and with a new one", async () => {
	const receiver = await start({ secret: "whsec_a" });
	await post(receiver.url("/1"), "{}", signed("whsec_a", "{}"));
	await post(receiver.url("/2"), "{}", signed("whsec_b", "{}"));
	receiver.setSecret((path) => (path === "/3" ? "whsec_b" : undefined));
	await post(receiver.url("/3"), "{}", signed("whsec_b", "{}"));
	await post(receiver.url("/4"), "{}", signed("whsec_b", "{}"));
	expect(receiver.requests.map(({ verified }) => verified)).toEqual([true, false, true, null]);
});

test("responds as configured, by request and number, even if changed while running", async () => {
	const receiver = await start({
		respond: ({ path }, n) => ({ status: 500 + n, headers: { "x-n": String(n) }, body: path, delayMs: 1 }),
	});
	expect(await post(receiver.url("/a"))).toBe("501 /a");
	expect(await post(receiver.url("/b"))).toBe("502 /b");
	receiver.respondWith(async () => ({ status: 204 }));
	expect(await post(receiver.url())).toBe("204 ");
	receiver.respondWith(() => "reset");
	expect(await post(receiver.url())).toBe("ECONNRESET");
});

test("a hanging receiver never responds, and closing it frees the sender", async () => {
	const receiver = await start({ respond: () => "hang" });
	const answer = post(receiver.url());
	await receiver.count(1);
	await receiver.close();
	expect(await answer).toBe("ECONNRESET");
});

test("next returns each request once, earlier ones first, and waits for new ones", async () => {
	const receiver = await start();
	await post(receiver.url("/1"));
	await post(receiver.url("/2"));
	expect((await receiver.next(({ path }) => path === "/2")).path).toBe("/2");
	expect((await receiver.next()).path).toBe("/1");
	const both = Promise.all([receiver.next(), receiver.next()]);
	await post(receiver.url("/3"));
	await post(receiver.url("/4"));
	expect((await both).map(({ path }) => path)).toEqual(["/3", "/4"]);
});

test("count and waitFor resolve on arrival; memory is bounded, and counting continues", async () => {
	const receiver = await start({ keep: 2 });
	const three = receiver.count(3);
	const seen = receiver.waitFor((requests) => requests.some(({ path }) => path === "/2"));
	for (let i = 0; i < 3; i++) await post(receiver.url(`/${i}`));
	await Promise.all([three, seen]);
	expect(receiver.received).toBe(3);
	expect(receiver.requests.map(({ path }) => path)).toEqual(["/1", "/2"]);
});

test("a wait for what respond records ends with its request, even if that is the last one", async () => {
	const noted: string[] = [];
	const receiver = await start({
		respond: ({ path }) => {
			noted.push(path);
			return {};
		},
	});
	const waiting = receiver.waitFor(() => noted.includes("/last"));
	expect(await post(receiver.url("/last"))).toBe("200 ok");
	await waiting;
});

test("a wait that times out says what did arrive", async () => {
	const receiver = await start();
	await expect(receiver.next(undefined, { timeoutMs: 1 })).rejects.toThrow("Nothing arrived");
	await post(receiver.url("/odd"));
	await expect(receiver.count(2, { timeoutMs: 1 })).rejects.toThrow(/2 in all.*\n.*POST \/odd/s);
	await expect(receiver.waitFor(() => false, { timeoutMs: 1 })).rejects.toThrow("POST /odd");
});

test("a respond that throws rejects all waits, and close()", async () => {
	const receiver = await startReceiver({
		authority,
		respond: () => {
			throw new Error("wrong expectation");
		},
	});
	const waiting = receiver.count(2);
	const failed = expect(waiting).rejects.toMatchObject({ cause: { message: "wrong expectation" } });
	expect(await post(receiver.url())).toMatch(/^500 /);
	await failed;
	await expect(receiver.next()).rejects.toThrow("`respond` failed");
	await expect(receiver.close()).rejects.toThrow("`respond` failed");
});
