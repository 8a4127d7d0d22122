import { once } from "node:events";
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { until } from "@posthorn/testkit/until";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OPERATOR_KEY, TestApi } from "../../test/api/api.ts";
import { Browser, member, setUp } from "../../test/api/browser.ts";
import { ApiKeys, OperatorKey, TooManyGuesses } from "../accounts/index.ts";
import { keyHash } from "../accounts/tokens.ts";
import { WAITERS } from "../base/budgets.ts";
import { Changes, COMMENT_MS, GAP_MS } from "./changes.ts";

let api: TestApi;
let clock: VirtualClock;
let project: string;
let ada: Browser;
let opened: ClientRequest[];
beforeEach(async () => {
	clock = new VirtualClock();
	opened = [];
	const operatorKey = new OperatorKey(keyHash(OPERATOR_KEY));
	api = await TestApi.start({
		changes: new Changes(clock),
		parts: (parts) => ({ apiKeys: new ApiKeys({ ...parts, clock, operatorKey }) }),
	});
	await setUp(api);
	project = await api.project();
	ada = await member(api, project, "viewer", "ada");
	await api.app.listen({ port: 0, host: "127.0.0.1" });
});
afterEach(async () => {
	for (const request of opened) request.destroy();
	await api.close();
});

const key = (value: string) => ({ authorization: `Bearer ${value}` });

interface AskOptions {
	readonly of?: string;
	readonly method?: string;
	readonly agent?: Agent;
}

/** Opens a stream over its own connection. */
async function ask(headers: Record<string, string>, { of = project, method = "GET", agent }: AskOptions = {}) {
	const { port } = api.app.server.address() as AddressInfo;
	const target = { port, host: "127.0.0.1", path: `${of}/changes`, method, headers };
	const request = httpRequest({ ...target, agent: agent ?? new Agent() });
	opened.push(request);
	request.end();
	const [response] = (await once(request, "response")) as [IncomingMessage];
	return { request, response };
}

/** A stream's text as it arrives. */
class Listening {
	readonly response: IncomingMessage;
	readonly #request: ClientRequest;
	#text = "";
	#ended = false;
	#heard: () => void = () => {};

	constructor({ request, response }: { request: ClientRequest; response: IncomingMessage }) {
		this.#request = request;
		this.response = response;
		response.setEncoding("utf8");
		response.on("data", (text: string) => {
			this.#text += text;
			this.#heard();
		});
		response.on("end", () => {
			this.#ended = true;
			this.#heard();
		});
		response.on("error", () => this.#heard());
	}

	/** The text so far, once it contains this text; then it is cleared. */
	async until(text: string): Promise<string> {
		while (!this.#text.includes(text)) {
			if (this.#ended) throw new Error(`The stream ended with: ${this.#text}`);
			await this.#more();
		}
		const said = this.#text;
		this.#text = "";
		return said;
	}

	/** The text until the service ended the stream. */
	async end(): Promise<string> {
		while (!this.#ended) await this.#more();
		return this.#text;
	}

	leave(): void {
		this.#request.destroy();
	}

	#more(): Promise<void> {
		return new Promise((resolve) => {
			this.#heard = resolve;
		});
	}
}

async function listen(headers = ada.headersFor("GET"), of = project): Promise<Listening> {
	const listening = new Listening(await ask(headers, { of }));
	expect(listening.response.statusCode).toBe(200);
	await listening.until(": listening\n\n");
	return listening;
}

const ATTEMPTS = "event: attempts\ndata: {}\n\n";
const WEBHOOKS = "event: webhooks\ndata: {}\n\n";

test("sends hints about webhooks, events and attempts as they change", async () => {
	const stream = await listen();
	expect(stream.response.headers).toMatchObject({
		"content-type": "text/event-stream; charset=utf-8",
		"cache-control": "no-store",
		"x-accel-buffering": "no",
	});
	const webhook = await api.webhook(project);
	expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
	clock.advance(GAP_MS);
	await api.publish(project);
	expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
	await api.attempted();
	clock.advance(GAP_MS);
	expect(await stream.until(ATTEMPTS)).toBe(ATTEMPTS);
	for (const body of [{ status: "paused" }, { description: "x" }]) {
		clock.advance(GAP_MS);
		await api.call("PATCH", webhook, { body });
		expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
	}
	clock.advance(GAP_MS);
	await api.call("DELETE", webhook);
	expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
});

test("sends each hint at most twice a second, and never loses the last", async () => {
	const stream = await listen();
	const id = project.split("/").at(-1)!;
	const { changes } = api.parts;
	for (let i = 0; i < 100; i++) changes.note(id, "attempts");
	clock.advance(GAP_MS - 1);
	for (let i = 0; i < 100; i++) changes.note(id, i % 2 === 0 ? "webhooks" : "attempts");
	// Another hint doesn't wait for this one: an event's row waited for the hint that it was published.
	expect(await stream.until(WEBHOOKS)).toBe(ATTEMPTS + WEBHOOKS);
	clock.advance(1);
	expect(await stream.until(ATTEMPTS)).toBe(ATTEMPTS);
	clock.advance(GAP_MS - 1);
	expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
	// There was no change since, so the next hint is about the next change.
	clock.advance(10 * GAP_MS);
	changes.note(id, "webhooks");
	expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
});

test("all listeners of a project get only its hints, by cookie and by key", async () => {
	const other = await api.project("Other");
	const streams = [await listen(), await listen(key(await api.keyOf(project))), await listen(key(OPERATOR_KEY))];
	const elsewhere = await listen(key(OPERATOR_KEY), other);
	await api.webhook(project);
	for (const stream of streams) expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
	clock.advance(GAP_MS);
	await api.webhook(other);
	expect(await elsewhere.until(WEBHOOKS)).toBe(WEBHOOKS);
	await api.webhook(project);
	for (const stream of streams) expect(await stream.until(WEBHOOKS)).toBe(WEBHOOKS);
});

test("refuses listeners without access to the project", async () => {
	const outsider = await member(api, await api.project(), "owner", "outsider");
	for (const [headers, status] of [
		[{}, 401],
		[key("wrong"), 401],
		[outsider.headersFor("GET"), 404],
	] as const)
		expect((await ask(headers)).response.statusCode).toBe(status);
});

test("limits an account to twenty open streams across its sessions", async () => {
	const streams = [];
	for (let i = 0; i < WAITERS.streams; i++) streams.push(await listen());
	const { response } = await ask(ada.headersFor("GET"));
	expect(response.statusCode).toBe(429);
	expect(response.headers["retry-after"]).toBe("30");
	expect(response.headers["content-type"]).toMatch(/^application\/problem\+json/);
	const other = new Browser(api);
	await other.signIn("ada@example.com");
	const { response: elsewhere } = await ask(other.headersFor("GET"));
	expect(elsewhere.statusCode).toBe(429);
	await listen(key(await api.keyOf(project)));
	streams[0]!.leave();
	await until("the stream to end", async () => {
		const { response } = await ask(ada.headersFor("GET"));
		response.resume();
		return response.statusCode === 200;
	});
});

// Each stream gets each change, and asks storage when someone's right ends: an owner with hundreds of keys had thousands.
test("limits a project to a number of open streams, with any number of keys", () => {
	const changes = new Changes(clock);
	const open = (of: string, i: number) =>
		changes.listen(of, `key_${Math.floor(i / WAITERS.streams)}`, async () => true);
	const streams = Array.from({ length: WAITERS.streamsOfProject }, (_, i) => open("one", i));
	for (const stream of streams) expect(stream).toBeInstanceOf(Readable);
	expect(open("one", streams.length)).toBe("project");
	expect(open("other", streams.length)).toBeInstanceOf(Readable);
	changes.close();
});

test("a HEAD request opens no stream", async () => {
	for (let i = 0; i <= WAITERS.streams; i++) {
		const { response } = await ask(ada.headersFor("GET"), { method: "HEAD" });
		expect(response.statusCode).toBe(200);
		expect(response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
	}
	await listen();
});

test("a quiet stream sends keep-alives, and ends with the session", async () => {
	const phone = new Browser(api);
	await phone.signIn("ada@example.com");
	const mine = await listen();
	const stream = await listen(phone.headersFor("GET"));
	clock.advance(COMMENT_MS);
	expect(await stream.until(":\n\n")).toBe(":\n\n");
	expect(await mine.until(":\n\n")).toBe(":\n\n");
	await phone.call("DELETE", "/v1/session");
	clock.advance(COMMENT_MS);
	expect(await stream.end()).toBe("");
	expect(await mine.until(":\n\n")).toBe(":\n\n");
});

// After too many wrong tokens from the address, the check of the session was refused, which ended the stream.
test("wrong keys from the same address don't end the stream", async () => {
	const stream = await listen();
	const flooded = vi.spyOn(api.parts.guesses, "from").mockReturnValue(() => Promise.reject(new TooManyGuesses(60)));
	try {
		clock.advance(COMMENT_MS);
		expect(await stream.until(":\n\n")).toBe(":\n\n");
	} finally {
		flooded.mockRestore();
	}
});

test("it also ends when the membership, the key or the app is removed", async () => {
	const owner = await member(api, project, "owner", "owner");
	const { json: made } = await owner.call("POST", `${project}/api-keys`, { body: { name: "k" } });
	const [asMember, asKey, asOwner] = [
		await listen(),
		await listen(key(made.key)),
		await listen(owner.headersFor("GET")),
	];
	await owner.call("DELETE", `${project}/members/${ada.accountId}`);
	await owner.call("DELETE", `${project}/api-keys/${made.id}`);
	clock.advance(COMMENT_MS);
	expect(await asMember.end()).toBe("");
	expect(await asKey.end()).toBe("");
	expect(await asOwner.until(":\n\n")).toBe(":\n\n");
	await owner.call("DELETE", `${project}/apps/developer`);
	clock.advance(COMMENT_MS);
	expect(await asOwner.end()).toBe("");
});

// It continued for up to 15 seconds.
test("it ends immediately when the right to listen ends on this node", async () => {
	const owner = await member(api, project, "owner", "owner");
	const { json: made } = await owner.call("POST", `${project}/api-keys`, { body: { name: "k" } });
	const [asMember, asKey, asOwner] = [
		await listen(),
		await listen(key(made.key)),
		await listen(owner.headersFor("GET")),
	];
	await owner.call("DELETE", `${project}/api-keys/${made.id}`);
	expect(await asKey.end()).toBe("");
	await owner.call("DELETE", `${project}/members/${ada.accountId}`);
	expect(await asMember.end()).toBe("");
	await owner.call("DELETE", "/v1/account/sessions");
	expect(await asOwner.end()).toBe("");
});

// It continued for up to 15 seconds.
test("it ends when its key expires", async () => {
	const expires_at = new Date(clock.now() + 4_000).toISOString();
	const { json: made } = await api.call("POST", `${project}/api-keys`, { body: { name: "k", expires_at } });
	const stream = await listen(key(made.key));
	clock.advance(4_000);
	expect(await stream.end()).toBe("");
});

test("closing the service ends streams without waiting for them", async () => {
	const streams = [await listen(), await listen(key(OPERATOR_KEY))];
	await api.app.close();
	for (const stream of streams) expect(await stream.end()).toBe("");
});

test("a stream opened during shutdown ends immediately", async () => {
	const changes = new Changes(clock);
	changes.close();
	const stream = changes.listen("proj_1", "ses_1", async () => true) as Readable;
	expect(Buffer.concat(await stream.toArray()).toString()).toBe(": listening\n\n");
	expect(clock.nextAt).toBeNull();
});

test("a storage outage ends the stream without leaks", async () => {
	const changes = new Changes(clock);
	const stream = changes.listen("proj_1", "ses_1", () => Promise.reject(new Error("away"))) as Readable;
	changes.note("proj_1", "attempts");
	const broken = once(stream, "close");
	clock.advance(COMMENT_MS);
	await expect(broken).rejects.toThrow("away");
	expect(stream.destroyed).toBe(true);
	expect(clock.nextAt).toBeNull();
});
