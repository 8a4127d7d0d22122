import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { EVENT_TYPES, eventTypeEntry } from "@posthorn/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { until } from "../../../testkit/src/until.ts";
import { OPERATOR_KEY, TestApi, type TestApiOptions } from "../../test/api/api.ts";
import { askImmediately } from "../accounts/index.ts";
import { budgetHolds } from "../base/budget.fixture.ts";
import { RATES, REQUESTS, RESPONSES } from "../base/budgets.ts";
import { KEY_SCOPES, type Storage } from "../storage/port.ts";
import { type AuthParts, authorize } from "./auth/authorize.ts";
import { Admission } from "./http/admission.ts";
import type { Route } from "./route.ts";

/** All calls come at the same moment, however slow the machine: no rate refills between them. */
const AT_ONCE: TestApiOptions = { parts: ({ clock }) => ({ clock: { ...clock, elapsed: () => 0 } }) };

const isNothing = (bytes: number): boolean => bytes === 0;

const metric = async (api: TestApi, name: string, budget: string): Promise<number> =>
	Number(new RegExp(`${name}\\{budget="${budget}"\\} (\\d+)`).exec((await api.call("GET", "/metrics")).text)?.[1]);

const used = (api: TestApi, budget: string): Promise<number> => metric(api, "posthorn_budget_used", budget);

/** Storage in which calls of one verb wait for this before they begin. */
function delayed(storage: Storage, verb: keyof Storage, delay: (projectId: string) => Promise<void>): Storage {
	return new Proxy(storage, {
		get(target, name) {
			const member: unknown = Reflect.get(target, name);
			if (typeof member !== "function") return member;
			if (name !== verb) return member.bind(target);
			return async (p: { readonly projectId: string }) => {
				await delay(p.projectId);
				return member.call(target, p);
			};
		},
	});
}

// 1,785 test requests were once sent in eight seconds to a host that had never agreed to any.
// A key that may only read used up its project's changes by recording listeners, so that no one could pause a webhook.
test("recorded reads have a rate of their own, and aren't changes", async () => {
	const api = await TestApi.start(AT_ONCE);
	const project = await api.project();
	const { json } = await api.call("POST", `${project}/api-keys`, { body: { name: "reader", scopes: ["read"] } });
	const { burst } = RATES.recordedReads;
	const calls = [
		["POST", `${project}/listeners`, { target: "http://127.0.0.1:3000/hooks" }],
		["GET", `${project}/attempts/export.csv?order_id=1`, undefined],
	] as const;
	const statuses: number[] = [];
	for (let i = 0; i < burst + 6; i++) {
		const [method, path, body] = calls[i % 2]!;
		statuses.push((await api.call(method, path, { key: json.key, body })).status);
	}
	expect(statuses.slice(0, burst)).not.toContain(429);
	expect(statuses.at(-1)).toBe(429);
	const webhook = await api.webhook(project);
	const owner = await api.keyOf(project);
	for (let i = 0; i < RATES.changes.burst / 2; i++)
		expect((await api.call("PATCH", webhook, { key: owner, body: { description: String(i) } })).status).toBe(200);
	await api.close();
});

// A program with a mistake in its filter, or one that exported twice at a time, couldn't export for minutes.
test("a refused export doesn't count as a recorded read", async () => {
	const api = await TestApi.start(AT_ONCE);
	const project = await api.project();
	const key = await api.keyOf(project);
	const path = `${project}/attempts/export.csv`;
	const refused = [
		[`${path}?type=none`, 422, {}],
		[`${path}?since=yesterday`, 422, {}],
		[path, 403, { "sec-fetch-site": "cross-site" }],
	] as const;
	const { burst } = RATES.recordedReads;
	for (let i = 0; i < burst + refused.length; i++) {
		const [url, status, headers] = refused[i % refused.length]!;
		expect((await api.call("GET", url, { key, headers })).status).toBe(status);
	}
	await api.call("DELETE", `${project}/apps/developer`);
	for (let i = 0; i < burst; i++) expect((await api.call("GET", path, { key })).status).toBe(409);
	await api.call("PUT", `${project}/apps/developer`);
	const { text } = await api.call("HEAD", path, { key });
	expect(text).toBe("");
	for (let i = 0; i < burst; i++) expect((await api.call("GET", path, { key })).status).toBe(200);
	expect((await api.call("GET", path, { key })).status).toBe(429);
	const { json } = await api.call("GET", `${project}/audit`);
	expect(json.data.filter(({ action }) => action === "log.exported")).toHaveLength(burst);
	await api.close();
});

// The node's rate for them is shared by its projects: one with hundreds of keys used up nearly all of it.
test("a project's keys share its rate of recorded reads", async () => {
	const api = await TestApi.start(AT_ONCE);
	const [project, other] = [await api.project(), await api.project()];
	const record = async (of: string) =>
		api.call("POST", `${of}/listeners`, { key: await api.keyOf(of), body: { target: "127.0.0.1:3000" } });
	const { burst } = RATES.recordedReads;
	const statuses: number[] = [];
	for (let i = 0; i < burst + 20; i++) statuses.push((await record(project)).status);
	expect(statuses.slice(0, burst)).not.toContain(429);
	expect(statuses.at(-1)).toBe(429);
	expect((await record(other)).status).toBeLessThan(300);
	await api.close();
});

test("a project's test events have a burst and a rate; other projects aren't affected", async () => {
	const api = await TestApi.start(AT_ONCE);
	const [project, other] = [await api.project(), await api.project()];
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(other)];
	const test = async (at: string, by: string) =>
		api.call("POST", `${at}/test`, { key: by, body: { type: "delivery.success" } });
	const [webhook, second] = [await api.webhook(project), await api.webhook(project)];
	const statuses: number[] = [];
	for (let i = 0; i < RATES.testEvents.burst + 5; i++)
		statuses.push((await test(i % 2 ? webhook : second, key)).status);
	expect(statuses.filter((status) => status === 202).length).toBeLessThan(RATES.testEvents.burst + 5);
	expect(statuses.slice(0, RATES.testEvents.burst)).not.toContain(429);
	const refused = await test(webhook, key);
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toBe(
		"Too many test events of this project: up to 20 at once and 60 per minute. Try again in 1 second.",
	);
	expect((await test(await api.webhook(other), otherKey)).status).toBe(202);
	await api.close();
});

// One project's 860 changes of a webhook a second moved a quiet project's median latency from 4 to 31 ms.
test("a project's changes have a burst and a rate, whichever they are; other projects aren't affected", async () => {
	const api = await TestApi.start(AT_ONCE);
	const [project, other] = [await api.project(), await api.project()];
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(other)];
	const [webhook, otherWebhook] = [await api.webhook(project), await api.webhook(other)];
	const change = (of: string, by: string) => api.call("PATCH", of, { key: by, body: { description: "changed" } });
	const { burst } = RATES.changes;
	for (let i = 0; i < burst; i++) expect((await change(webhook, key)).status).toBe(200);
	const refused = await change(webhook, key);
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toBe(
		"Too many changes in this project: up to 200 at once and 600 per minute. Try again in 1 second.",
	);
	const secondKey = await api.keyOf(project);
	for (const [method, path, body] of [
		["POST", `${project}/webhooks`, { url: api.receiver.url(), events: ["delivery.success"] }],
		["DELETE", webhook, undefined],
		["POST", `${webhook}/rotate-secret`, undefined],
		["POST", `${webhook}/test`, { type: "delivery.success" }],
		["POST", `${project}/replays`, { filter: {} }],
		["DELETE", `${project}/api-keys/none`, undefined],
	] as const)
		expect((await api.call(method, path, { key: secondKey, body })).status, path).toBe(429);
	expect((await api.call("GET", webhook, { key })).status).toBe(200);
	const event = { type: "delivery.success", data: {} };
	expect((await api.call("POST", `${project}/events`, { key, body: event })).status).toBe(202);
	expect((await change(otherWebhook, otherKey)).status).toBe(200);
	expect((await change(webhook, OPERATOR_KEY)).status).toBe(200);
	expect((await api.call("GET", "/metrics")).text).toContain('posthorn_rate_refusals_total{rate="changes"} 7');
	await api.close();
});

// A client that repeated them had used up the rate of replays by the time that changes were possible again.
test("requests refused by one rate don't use up another", async () => {
	let elapsed = 0;
	const api = await TestApi.start({ parts: ({ clock }) => ({ clock: { ...clock, elapsed: () => elapsed } }) });
	const project = await api.project();
	const key = await api.keyOf(project);
	const body = { filter: {}, dry_run: true };
	const replay = async () => (await api.call("POST", `${project}/replays`, { key, body })).status;
	for (let i = 0; i < RATES.changes.burst; i++)
		expect((await api.call("PATCH", `${project}/webhooks/none`, { key, body: {} })).status).toBe(404);
	for (let i = 0; i < RATES.bulkReplays.burst; i++) expect(await replay()).toBe(429);
	// Enough for all of these changes, and for a fifth of a replay.
	elapsed += 1_000;
	for (let i = 0; i < RATES.bulkReplays.burst; i++) expect(await replay()).toBe(202);
	expect(await replay()).toBe(429);
	await api.close();
});

test("a project's store facts have a burst and a rate of their own", async () => {
	const api = await TestApi.start(AT_ONCE);
	const project = await api.project();
	const key = await api.keyOf(project);
	const remove = () => api.call("DELETE", `${project}/baskets/none`, { key });
	const { burst } = RATES.facts;
	for (let i = 0; i < burst; i++) expect((await remove()).status).toBe(204);
	const refused = await remove();
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toBe(
		"Too many store facts of this project: up to 2,000 at once and 30,000 per minute. Try again in 1 second.",
	);
	expect((await api.call("DELETE", `${project}/api-keys/none`, { key })).status).toBe(404);
	await api.close();
});

test("beyond the node's rate, a project that changes much gets 503, and one that changes little doesn't", async () => {
	const api = await TestApi.start(AT_ONCE);
	/** How many changes a new project may make, and the response to the next. */
	async function changes(): Promise<[allowed: number, next: number]> {
		const project = await api.project();
		const key = await api.keyOf(project);
		for (let allowed = 0; ; allowed++) {
			const { status } = await api.call("PATCH", `${project}/webhooks/none`, { key, body: {} });
			if (status !== 404) return [allowed, status];
		}
	}
	const own = RATES.changes.burst;
	expect(RATES.changes.node.burst).toBe(5 * own);
	for (let i = 0; i < 4; i++) expect(await changes()).toEqual([own, 429]);
	expect(await changes()).toEqual([own / 2, 503]);
	const project = await api.project();
	const key = await api.keyOf(project);
	expect((await api.call("PATCH", `${project}/webhooks/none`, { key, body: {} })).status).toBe(404);
	await api.close();
});

test("limits the concurrent and waiting reads of a principal", async () => {
	let reading = 0;
	let most = 0;
	let isOpen = false;
	const gates: (() => void)[] = [];
	const api = await TestApi.start({
		parts: ({ storage }) => ({
			storage: delayed(storage, "countAttempts", async () => {
				most = Math.max(most, ++reading);
				if (!isOpen) await new Promise<void>((resolve) => gates.push(resolve));
				reading--;
			}),
		}),
	});
	const project = await api.project();
	const key = await api.keyOf(project);
	const fits = RESPONSES.readsPerPrincipal + RESPONSES.readsWaiting;
	const calls = Array.from({ length: fits + 3 }, () => api.call("GET", `${project}/attempts/count`, { key }));
	const three = Promise.withResolvers<void>();
	const first: number[] = [];
	for (const call of calls)
		void call.then(({ status }) => {
			if (first.push(status) === 3) three.resolve();
		});
	await three.promise;
	expect(first).toEqual([429, 429, 429]);
	isOpen = true;
	for (const open of gates.splice(0)) open();
	const statuses = (await Promise.all(calls)).map(({ status }) => status);
	expect(statuses.filter((status) => status === 200)).toHaveLength(fits);
	expect(statuses.filter((status) => status === 429)).toHaveLength(3);
	expect(most).toBe(RESPONSES.readsPerPrincipal);
	await api.close();
});

// Eight keys of one project once took all reads of the node.
test("a project with many keys leaves reads for others", async () => {
	const reading: unknown[] = [];
	const gate = Promise.withResolvers<void>();
	const api = await TestApi.start({
		parts: ({ storage }) => ({
			storage: delayed(storage, "countAttempts", async (projectId) => {
				reading.push(projectId);
				await gate.promise;
			}),
		}),
	});
	const [project, other] = [await api.project(), await api.project()];
	const idOf = (path: string): string => path.split("/").at(-1)!;
	const keys = await Promise.all(Array.from({ length: RESPONSES.reads }, () => api.keyOf(project)));
	const count = (of: string, key: string) => api.call("GET", `${of}/attempts/count`, { key });
	const calls = [...keys, ...keys].map((key) => count(project, key));
	await until("the project's reads", () => reading.length >= RESPONSES.readsPerProject);
	calls.push(count(other, await api.keyOf(other)));
	await until("the other project's read", () => reading.includes(idOf(other)));
	expect(reading.filter((id) => id === idOf(project))).toHaveLength(RESPONSES.readsPerProject);
	gate.resolve();
	for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
	await api.close();
});

// Eight keys with unread responses once kept all others from reading pages.
test("a project with many keys leaves room for others' responses", async () => {
	const admission = new Admission({ elapsed: () => 0 });
	const charge = async (projectId: string, keyId: string): Promise<void> => {
		const request = {
			...{ method: "GET", ip: "127.0.0.1", params: {}, headers: { authorization: "Bearer key" } },
			...{ raw: { socket: { destroyed: false } }, room: null },
		} as unknown as FastifyRequest;
		const parts = {
			apiKeys: { authenticate: async () => ({ kind: "project", projectId, keyId, scopes: KEY_SCOPES }) },
			guesses: { from: () => askImmediately, wrong: () => undefined },
		} as unknown as AuthParts;
		await authorize(request, { access: "any" } as Route, parts);
		Object.assign(request, { projectId });
		const reply = { raw: new EventEmitter() } as unknown as FastifyReply;
		admission.charge(request, reply, "x".repeat(RESPONSES.pageBytes));
	};
	const pages = RESPONSES.bytesPerProject / RESPONSES.pageBytes;
	for (let n = 0; n < pages; n++) await charge("proj_1", `key_${n}`);
	expect(admission.budget.refusals).toBe(0);
	await expect(charge("proj_1", "key_new")).rejects.toThrow("clients of this project have not read yet");
	expect(admission.budget.refusals).toBe(1);
	await charge("proj_2", "key_other");
});

// With thousands of webhooks, lists without pages were refused for good.
test("a response may exceed its client's share up to the project's, if the client has read everything else", async () => {
	const admission = new Admission({ elapsed: () => 0 });
	const parts = {
		apiKeys: { authenticate: async () => ({ kind: "operator" }) },
		guesses: { from: () => askImmediately, wrong: () => undefined },
	} as unknown as AuthParts;
	const charge = async (bytes: number) => {
		const request = {
			...{ method: "GET", ip: "127.0.0.1", params: {}, headers: { authorization: "Bearer key" } },
			...{ raw: { socket: { destroyed: false } }, room: null },
		} as unknown as FastifyRequest;
		await authorize(request, { access: "any" } as Route, parts);
		const reply = { raw: new EventEmitter() } as unknown as FastifyReply;
		admission.charge(request, reply, Buffer.alloc(bytes));
		return reply.raw;
	};
	const whole = await charge(1.5 * RESPONSES.bytesPerPrincipal);
	await expect(charge(2 * RESPONSES.sliceBytes)).rejects.toThrow("that you have not read yet hold 12,582,912 of");
	whole.emit("close");
	const small = await charge(2 * RESPONSES.sliceBytes);
	await expect(charge(RESPONSES.bytesPerPrincipal + 1)).rejects.toThrow("that you have not read yet hold 131,072 of");
	small.emit("close");
	await expect(charge(RESPONSES.bytesPerProject + 1)).rejects.toThrow(
		"The response has 16,777,217 bytes, and may have at most 16,777,216. Request less at a time.",
	);
	expect(admission.budget.used).toBe(0);
});

test("a client that doesn't read gets no more pages, others do, and all is released", async () => {
	const api = await TestApi.start();
	const project = await api.project();
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(project)];
	const text = "x".repeat(250_000);
	for (let i = 0; i < 17; i++) await api.publish(project, { text });
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const page = `${project}/events?limit=200`;
	const request = `GET ${page} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
	const deaf = Array.from({ length: 6 }, () => connect(port, "127.0.0.1"));
	for (const socket of deaf) {
		socket.on("error", () => {});
		await once(socket, "connect");
		socket.pause();
		socket.write(request.repeat(4));
	}
	const refused = await until("a refused request", async () => {
		const answer = await api.call("GET", page, { key });
		return answer.status === 429 && answer;
	});
	expect(refused.headers["retry-after"]).toBe("1");
	expect(refused.json.detail).toMatch(/^Responses that you have not read yet hold [\d,]+ of 8,388,608 bytes/);
	// Responses refused before any work was done weren't counted.
	const counted = await metric(api, "posthorn_budget_refusals_total", "response_bytes");
	expect((await api.call("GET", page, { key })).status).toBe(429);
	expect(await metric(api, "posthorn_budget_refusals_total", "response_bytes")).toBeGreaterThan(counted);
	expect(await used(api, "response_bytes")).toBeLessThanOrEqual(RESPONSES.bytesPerPrincipal);
	expect((await api.call("GET", page, { key: otherKey })).status).toBe(200);
	for (const socket of deaf) socket.destroy();
	await budgetHolds("response_bytes", isNothing);
	expect((await api.call("GET", page, { key })).status).toBe(200);
	await api.close();
});

test.each([
	["GET", 1],
	["HEAD", 0],
])("a response to %s counts as often as it has a body: %i", async (method, times) => {
	const admission = new Admission({ elapsed: () => 0 });
	const request = {
		...{ method, ip: "127.0.0.1", params: {}, headers: { authorization: "Bearer key" } },
		...{ raw: { socket: { destroyed: false } }, room: null },
	} as unknown as FastifyRequest;
	const reply = { raw: new EventEmitter() } as unknown as FastifyReply;
	const parts = {
		apiKeys: { authenticate: async () => ({ kind: "operator" }) },
		guesses: { from: () => askImmediately, wrong: () => undefined },
	} as unknown as AuthParts;
	await authorize(request, { access: "any" } as Route, parts);
	const payload = "x".repeat(2 * RESPONSES.sliceBytes);
	admission.charge(request, reply, payload);
	expect(admission.budget.used).toBe(times * payload.length);
	reply.raw.emit("close");
	expect(admission.budget.used).toBe(0);
});

// The events were published, and the response said that nothing was done, so publishers sent them again.
test("a batch whose response there is no room for is refused before its events are published", async () => {
	const api = await TestApi.start();
	const project = await api.project();
	const pages = RESPONSES.bytesPerPrincipal / RESPONSES.pageBytes;
	const readers = await Promise.all(
		Array.from({ length: RESPONSES.bytesPerProject / RESPONSES.bytesPerPrincipal }, () => api.keyOf(project)),
	);
	const key = await api.keyOf(project);
	// Sixteen of these nearly fill a page.
	const text = "x".repeat(260_000);
	for (let i = 0; i < 17; i++) await api.publish(project, { text });
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const deaf = readers.flatMap((reader) =>
		Array.from({ length: pages }, () => {
			const socket = connect(port, "127.0.0.1").on("error", () => {});
			socket.pause();
			socket.write(`GET ${project}/events?limit=200 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${reader}\r\n\r\n`);
			return socket;
		}),
	);
	const isFull = async () => (await used(api, "response_bytes")) > RESPONSES.bytesPerProject - 200_000;
	await until("the project's budget to be full", isFull);
	const events = Array.from({ length: REQUESTS.batchEvents }, () => ({ type: "delivery.success", data: {} }));
	const publish = () => api.call("POST", `${project}/events`, { key, body: { events } });
	const refused = await publish();
	expect(refused.status).toBe(429);
	expect(refused.json.detail).toMatch(/^Responses that clients of this project have not read yet hold/);
	const after = async () => (await api.call("GET", `${project}/events?after=17&limit=1`, { key: OPERATOR_KEY })).json;
	expect((await after()).last_seq).toBe(17);
	for (const socket of deaf) socket.destroy();
	await budgetHolds("response_bytes", isNothing);
	expect((await publish()).status).toBe(202);
	expect((await after()).last_seq).toBe(18);
	await api.close();
});

// Batches at the same moment all found the same room.
test("room that was made is held until the response is sent, which isn't refused, or its client has left", async () => {
	const admission = new Admission({ elapsed: () => 0 });
	const parts = {
		apiKeys: { authenticate: async () => ({ kind: "operator" }) },
		guesses: { from: () => askImmediately, wrong: () => undefined },
	} as unknown as AuthParts;
	const begin = async () => {
		const request = {
			...{ method: "POST", ip: "127.0.0.1", params: {}, headers: { authorization: "Bearer key" } },
			...{ raw: { socket: { destroyed: false } }, room: null },
		} as unknown as FastifyRequest;
		await authorize(request, { access: "any" } as Route, parts);
		return { request, reply: { raw: new EventEmitter() } as unknown as FastifyReply };
	};
	type Begun = Awaited<ReturnType<typeof begin>>;
	const charge = ({ request, reply }: Begun, bytes: number) => admission.charge(request, reply, Buffer.alloc(bytes));
	const makeRoom = ({ request, reply }: Begun) => admission.makeRoom(request, reply, bytes);
	const { bytesPerPrincipal, sliceBytes } = RESPONSES;
	const bytes = 2 * sliceBytes;
	const all = await Promise.all(Array.from({ length: 6 }, begin));
	const [unread, change, failing, larger, leaving, other] = all as [Begun, Begun, Begun, Begun, Begun, Begun];
	charge(unread, bytesPerPrincipal - 4 * bytes);
	for (const one of [change, failing, larger, leaving]) makeRoom(one);
	expect(admission.budget.used).toBe(bytesPerPrincipal);
	const full = "that you have not read yet hold 8,388,608 of";
	expect(() => makeRoom(other)).toThrow(full);
	expect(() => charge(other, bytes)).toThrow(full);
	expect(() => charge(larger, bytes + 1)).toThrow("that you have not read yet hold 8,257,536 of");
	charge(failing, 100);
	leaving.reply.raw.emit("close");
	expect(admission.budget.used).toBe(bytesPerPrincipal - 3 * bytes);
	charge(other, 3 * bytes);
	charge(change, bytes);
	expect(admission.budget.used).toBe(bytesPerPrincipal);
	for (const { reply } of all) reply.raw.emit("close");
	expect(admission.budget.used).toBe(0);
});

test("room is made for the largest response about a list whose elements are accepted", async () => {
	const api = await TestApi.start();
	const project = await api.project();
	const type = EVENT_TYPES.map((entry) => entry.type).reduce((a, b) => (b.length > a.length ? b : a));
	const ids = Array.from({ length: 100 }, (_, i) => String(i).padStart(60, "x"));
	const events = ids.map((id) => ({ id: `evt_${id}`, type, data: {} }));
	const published = await api.call("POST", `${project}/events`, { body: { events } });
	expect(published.status).toBe(202);
	// Numbers of events may have ten more digits.
	expect(published.text.length).toBeLessThanOrEqual(ids.length * (RESPONSES.publishedBytes - 10));
	const { sample } = eventTypeEntry("purchase.completed");
	const orders = ids.map((id) => ({ ...sample, order_id: id.padStart(100, "x"), customer_email: `${id}@example.com` }));
	const recorded = await api.call("POST", `${project}/orders/batch`, { body: { orders } });
	expect(recorded.text.match(/"outcome":"recorded"/g)).toHaveLength(ids.length);
	expect(recorded.text.match(/"seq":/g)).toHaveLength(2 * ids.length);
	expect(recorded.text.length).toBeLessThanOrEqual(ids.length * (RESPONSES.recordedBytes - 20));
	await api.close();
});

// Its share was never released: a few such clients kept all others from reading pages until a restart.
test("a client that leaves during a request releases its share of the responses", async () => {
	let isGated = true;
	const { promise: reading, resolve: onReading } = Promise.withResolvers<void>();
	const { promise: gate, resolve: open } = Promise.withResolvers<void>();
	const api = await TestApi.start({
		parts: ({ storage }) => ({
			storage: delayed(storage, "readLog", async () => {
				onReading();
				if (isGated) await gate;
			}),
		}),
	});
	const project = await api.project();
	const key = await api.keyOf(project);
	for (let i = 0; i < 2; i++) await api.publish(project, { text: "x".repeat(250_000) });
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const accepted = once(api.app.server, "connection");
	const socket = connect(port, "127.0.0.1").on("error", () => {});
	const [served] = (await accepted) as [Socket];
	socket.write(`GET ${project}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
	await reading;
	const closed = once(served, "close");
	socket.destroy();
	await closed;
	isGated = false;
	open();
	expect((await api.call("GET", `${project}/events`, { key })).status).toBe(200);
	await budgetHolds("response_bytes", isNothing);
	await api.close();
});

// Each byte took its own buffer: bodies charged as four megabytes held gigabytes.
test("a body that arrives a few bytes at a time is read completely", async () => {
	const api = await TestApi.start();
	const project = await api.project();
	const key = await api.keyOf(project);
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const body = `{"type":"delivery.success","data":{"text":"${"x".repeat(20_000)}ä"}}`;
	const head = `POST ${project}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
	const chunks = (
		Buffer.from(body)
			.toString("latin1")
			.match(/.{1,9}/gs) ?? []
	).map((piece) => Buffer.from(`${piece.length}\r\n${piece}\r\n`, "latin1"));
	for (const bytes of [
		Buffer.concat([Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`), ...chunks, Buffer.from("0\r\n\r\n")]),
		Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
	]) {
		const socket = connect(port, "127.0.0.1");
		socket.write(bytes);
		const [answer] = (await once(socket, "data")) as [Buffer];
		expect(answer.toString().split("\r\n", 1)).toEqual(["HTTP/1.1 202 Accepted"]);
		socket.destroy();
	}
	const { data } = (await api.call("GET", `${project}/events`, { key })).json;
	expect(data.map((event) => event.data)).toEqual(Array(2).fill({ text: `${"x".repeat(20_000)}ä` }));
	await budgetHolds("request_body_bytes", isNothing);
	await api.close();
});

// 40 uploads that stopped midway held 633 MB for half a minute.
test("endless uploads count against their project, and are refused beyond its share", async () => {
	const api = await TestApi.start();
	const [project, other] = [await api.project(), await api.project()];
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(other)];
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const head = `POST ${project}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
	const stalled = [];
	for (let held = 0; held < REQUESTS.bodyBytesPerProject; held += REQUESTS.batchBytes) {
		const socket = connect(port, "127.0.0.1");
		socket.on("error", () => {});
		socket.write(`${head}Content-Length: ${REQUESTS.batchBytes}\r\n\r\n{`);
		stalled.push(socket);
	}
	await budgetHolds("request_body_bytes", (bytes) => bytes >= REQUESTS.bodyBytesPerProject);
	const one = { type: "delivery.success", data: {} };
	const refused = await api.call("POST", `${project}/events`, { key, body: one });
	expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
	expect(refused.json.detail).toMatch(
		/^Request bodies of this project hold 8,388,608 bytes, and this one needs \d+ more/,
	);
	// Its length is unknown, so it is charged as it arrives.
	const chunked = connect(port, "127.0.0.1");
	chunked.write(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`);
	expect(String((await once(chunked, "data"))[0])).toMatch(/^HTTP\/1.1 429 /);
	expect((await api.call("POST", `${other}/events`, { key: otherKey, body: one })).status).toBe(202);
	for (const socket of stalled) socket.destroy();
	chunked.destroy();
	await budgetHolds("request_body_bytes", isNothing);
	expect((await api.call("POST", `${project}/events`, { key, body: one })).status).toBe(202);
	await api.close();
});

test("limits the total of all bodies, and says that it isn't the project's fault", async () => {
	const api = await TestApi.start({
		parts: ({ config }) => ({ config: { ...config, maxBodyBytesInFlight: REQUESTS.bodyBytesPerProject } }),
	});
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	const { port } = api.app.server.address() as { port: number };
	const projects = await Promise.all(Array.from({ length: 5 }, () => api.project()));
	const keys = await Promise.all(projects.map((project) => api.keyOf(project)));
	const stalled = [0, 1, 2, 3].map((i) => {
		const socket = connect(port, "127.0.0.1");
		socket.write(
			`POST ${projects[i]}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys[i]}\r\nContent-Type: application/json\r\nContent-Length: ${REQUESTS.batchBytes}\r\n\r\n{`,
		);
		return socket;
	});
	await budgetHolds("request_body_bytes", (bytes) => bytes >= REQUESTS.bodyBytesPerProject);
	const body = { type: "delivery.success", data: {} };
	const refused = await api.call("POST", `${projects[4]}/events`, { key: keys[4]!, body });
	expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
	expect(refused.json.detail).toMatch(/^All request bodies in flight hold 8,388,608 bytes/);
	for (const socket of stalled) socket.destroy();
	await api.close();
});

// Reads were only limited in number: pages of 4 MiB at that rate needed more than the whole event loop.
test("a large page counts as many reads", async () => {
	const api = await TestApi.start(AT_ONCE);
	const [project, other] = [await api.project(), await api.project()];
	const [key, otherKey] = [await api.keyOf(project), await api.keyOf(other)];
	const data = { text: "a".repeat(250_000) };
	for (let i = 0; i < 12; i++)
		await api.call("POST", `${project}/events`, { key, body: { type: "delivery.success", data } });
	const read = (of: string, by: string) => api.call("GET", `${of}/events`, { key: by });
	const pages = RATES.reads.burst / (3_000_000 / RESPONSES.countedBytes);
	let refused = await read(project, key);
	let answered = 0;
	for (; refused.status === 200 && answered < 2 * pages; answered++) refused = await read(project, key);
	expect(answered).toBeLessThan(1.5 * pages);
	expect(refused.status).toBe(429);
	expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
	expect(refused.json.detail).toContain("large responses counting as several");
	expect((await read(other, otherKey)).status).toBe(200);
	await api.close();
});
