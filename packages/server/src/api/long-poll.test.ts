import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test, vi } from "vitest";
import { OPERATOR_KEY, TestApi } from "../../test/api/api.ts";
import { Browser, member, PASSWORD, setUp } from "../../test/api/browser.ts";
import type { ApiResponse } from "../../test/api/response.ts";
import { ApiKeys, OperatorKey } from "../accounts/index.ts";
import { keyHash } from "../accounts/tokens.ts";
import { WAITERS } from "../base/budgets.ts";
import { absentId } from "../base/ids.fixture.ts";
import { LongPolls } from "./changes.ts";
import type { ApiParts } from "./route.ts";

const OPERATORS = new OperatorKey(keyHash(OPERATOR_KEY));
const EVENT = { type: "delivery.success", data: {} };

async function withApi(
	run: (api: TestApi, project: string, longPolls: LongPolls, clock: VirtualClock) => Promise<void>,
	partsOf: (of: { parts: ApiParts; clock: VirtualClock }) => Partial<ApiParts> = () => ({}),
) {
	const clock = new VirtualClock();
	let begun: (() => void)[] = [];
	/** Signals that a call waits. */
	class Watched extends LongPolls {
		override wait(...args: Parameters<LongPolls["wait"]>) {
			const wait = super.wait(...args);
			for (const resolve of begun.splice(0)) resolve();
			return wait;
		}
		waiting(): Promise<void> {
			return new Promise((resolve) => begun.push(resolve));
		}
	}
	const longPolls = new Watched(clock);
	const api = await TestApi.start({ longPolls, parts: (parts) => partsOf({ parts, clock }) });
	try {
		await run(api, await api.project(), longPolls, clock);
	} finally {
		begun = [];
		await api.close();
	}
}
const waiting = (longPolls: LongPolls) => (longPolls as LongPolls & { waiting(): Promise<void> }).waiting();

test("a waiting call returns the next event, or immediately if there is one", async () => {
	await withApi(async (api, project, longPolls) => {
		const begun = waiting(longPolls);
		const polled = api.call("GET", `${project}/events?after=0&wait=30`);
		await begun;
		const { json } = await api.call("POST", `${project}/events`, { body: EVENT });
		expect((await polled).json).toMatchObject({ data: [{ id: json.id }], last_seq: 1 });
		expect((await api.call("GET", `${project}/events?after=0&wait=30`)).json.data).toHaveLength(1);
	});
});

// It held one of the project's places for 30 seconds without a connection.
test("a call whose client leaves while its key is looked up doesn't wait", async () => {
	await withApi(async (api, project, longPolls) => {
		await api.app.listen({ port: 0, host: "127.0.0.1" });
		const { port } = api.app.server.address() as { port: number };
		const { apiKeys } = api.parts;
		const authenticate = apiKeys.authenticate.bind(apiKeys);
		const accepted = once(api.app.server, "connection");
		const left = Promise.withResolvers<void>();
		vi.spyOn(apiKeys, "authenticate").mockImplementationOnce(async (...call) => {
			const [served] = (await accepted) as [Socket];
			const closed = once(served, "close");
			client.destroy();
			await closed;
			left.resolve();
			return authenticate(...call);
		});
		const client = connect(port, "127.0.0.1").on("error", () => {});
		client.write(`GET ${project}/events?wait=30 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\n\r\n`);
		await left.promise;
		// By the time this is answered, the other call has begun to wait or has ended.
		await api.call("GET", `${project}/events`);
		expect([...longPolls.projects]).toEqual([]);
	});
});

test("only events of the requested types end the wait, including those created by facts", async () => {
	await withApi(async (api, project, longPolls) => {
		const begun = waiting(longPolls);
		const polled = api.call("GET", `${project}/events?type=purchase.completed&wait=30`);
		await begun;
		await api.call("POST", `${project}/events`, { body: EVENT });
		const order = { order_id: "o", customer_email: "a@b", amount_cents: 1, currency: "EUR", items: [] };
		expect((await api.call("POST", `${project}/orders`, { body: order })).status).toBe(201);
		expect((await polled).json).toMatchObject({ data: [{ type: "purchase.completed" }], last_seq: 3 });
	});
});

test("a wait ends empty at its timeout or at shutdown, and their number is limited", async () => {
	await withApi(async (api, project, longPolls, clock) => {
		const poll = async () => {
			const begun = waiting(longPolls);
			const answer = api.call("GET", `${project}/events?after=0&wait=30`);
			await begun;
			return { answer };
		};
		const { answer: first } = await poll();
		clock.advance(30_000);
		expect((await first).json).toMatchObject({ data: [], next_cursor: null, last_seq: 0 });
		const polls = [];
		for (let i = 0; i < WAITERS.calls; i++) polls.push(await poll());
		const refused = await api.call("GET", `${project}/events?wait=1`);
		expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "5"]);
		longPolls.close();
		for (const { answer } of polls) expect((await answer).json.data).toEqual([]);
		expect((await api.call("GET", `${project}/events?wait=30`)).status).toBe(200);
	});
});

// A call that waited got an event after its caller was removed and signed out.
test("a waiting call returns nothing once its caller has lost the right to read", async () => {
	await withApi(async (api, project, longPolls) => {
		await setUp(api);
		const [removed, out] = [await member(api, project, "viewer", "ada"), await member(api, project, "viewer", "bob")];
		const elsewhere = await member(api, project, "viewer", "eve");
		const { json: made } = await api.call("POST", `${project}/api-keys`, { body: { name: "k" } });
		const path = `${project}/events?after=0&wait=30`;
		const poll = async (call: () => Promise<ApiResponse>) => {
			const begun = waiting(longPolls);
			const answer = call();
			await begun;
			return { answer };
		};
		const asRemoved = await poll(() => removed.call("GET", path));
		const asKey = await poll(() => api.call("GET", path, { key: made.key }));
		const asOut = await poll(() => out.call("GET", path));
		expect((await api.call("DELETE", `${project}/members/${removed.accountId}`)).status).toBe(204);
		// Nothing has happened yet that it waited for.
		expect((await asRemoved.answer).status).toBe(404);
		expect((await api.call("DELETE", `${project}/api-keys/${made.id}`)).status).toBe(204);
		expect((await asKey.answer).status).toBe(401);
		// It once waited on, for up to 30 seconds.
		expect((await out.call("DELETE", "/v1/session")).status).toBe(204);
		expect((await asOut.answer).status).toBe(401);
		// As on another node.
		const asElsewhere = await poll(() => elsewhere.call("GET", path));
		await api.storage.deleteSessions({ accountId: elsewhere.accountId });
		expect((await api.call("POST", `${project}/events`, { body: EVENT })).status).toBe(202);
		const answer = await asElsewhere.answer;
		expect([answer.status, answer.text]).toEqual([401, expect.not.stringContaining("delivery.success")]);
	});
});

test("a change of one's account ends only the calls of sessions that have ended", async () => {
	await withApi(async (api, project, longPolls) => {
		await setUp(api);
		const ada = await member(api, project, "viewer", "ada");
		const phone = new Browser(api);
		await phone.signIn("ada@example.com");
		const bob = await member(api, project, "viewer", "bob");
		const polls: Promise<ApiResponse>[] = [];
		for (const each of [ada, phone, bob]) {
			const begun = waiting(longPolls);
			polls.push(each.call("GET", `${project}/events?after=0&wait=30`));
			await begun;
		}
		const again = waiting(longPolls);
		const body = { current: PASSWORD, password: "another horse battery staple" };
		expect((await ada.call("POST", "/v1/account/password", { body })).status).toBe(204);
		expect((await polls[1]!).status).toBe(401);
		await again;
		await api.call("POST", `${project}/events`, { body: EVENT });
		for (const answer of await Promise.all([polls[0]!, polls[2]!])) expect(answer.json.last_seq).toBe(1);
	});
});

test("a waiting call ends when its key expires", async () => {
	await withApi(
		async (api, project, longPolls, clock) => {
			const expires_at = new Date(clock.now() + 10_000).toISOString();
			const { json: made } = await api.call("POST", `${project}/api-keys`, { body: { name: "k", expires_at } });
			const begun = waiting(longPolls);
			const polled = api.call("GET", `${project}/events?after=0&wait=30`, { key: made.key });
			await begun;
			clock.advance(10_000);
			expect((await polled).status).toBe(401);
		},
		({ parts, clock }) => ({ clock, apiKeys: new ApiKeys({ ...parts, clock, operatorKey: OPERATORS }) }),
	);
});

test("limits the wait, and refuses one for a missing project", async () => {
	await withApi(async (api, project) => {
		for (const wait of ["31", "-1", "x", "0.5"])
			expect((await api.call("GET", `${project}/events?wait=${wait}`)).status, wait).toBe(422);
		expect((await api.call("GET", `${absentId(project)}/events?wait=30`)).status).toBe(404);
	});
});

test("people leave half of a project's waiting calls to keys", () => {
	const longPolls = new LongPolls(new VirtualClock());
	const wait = (account: string | null) => longPolls.wait("p", undefined, 1_000, account);
	expect(
		Array.from({ length: WAITERS.calls }, (_, i) => wait(`acc_${i}`)).filter((each) => each !== null),
	).toHaveLength(WAITERS.callsOfPeople);
	expect(Array.from({ length: WAITERS.calls }, () => wait(null)).filter((each) => each !== null)).toHaveLength(
		WAITERS.calls - WAITERS.callsOfPeople,
	);
	longPolls.close();
});
