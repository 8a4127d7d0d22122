/**
 * Two nodes on one PostgreSQL: calls that wait at one node notice what is published, changed and delivered at the
 * other.
 */
import { randomBytes } from "node:crypto";
import { Posthorn, until, unusedPort } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { purchase, Shop } from "./shop.ts";

/** Less than a call may wait, so that a response at the end of its wait is too late. */
const TIMEOUT_MS = 25_000;

let server: PostgresServer;
let shop: Shop;
let other: Posthorn;

beforeAll(async () => {
	server = await PostgresServer.start();
	shop = await Shop.open({
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
	});
	other = await Posthorn.start({ settings: { ...shop.settings, POSTHORN_PORT: String(await unusedPort()) } });
});

afterAll(async () => {
	await other?.kill();
	await shop?.[Symbol.asyncDispose]();
	await server?.stop();
});

function atOther(path: string): Promise<Response> {
	return fetch(other.url + shop.path(path), { headers: { authorization: `Bearer ${shop.operatorKey}` } });
}

/** Reads the stream until each of these hints has arrived, then closes it. */
async function hear(stream: Response, hints: string[]): Promise<void> {
	const missing = new Set(hints);
	for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) {
		for (const [, hint] of text.matchAll(/^event: (\w+)$/gm)) missing.delete(hint!);
		if (missing.size === 0) return;
	}
	throw new Error(`The stream ended without ${[...missing]}.`);
}

test("a call that waits at one node returns an event published at another", { timeout: TIMEOUT_MS }, async () => {
	for (let after = 0; after < 5; after++) {
		const waiting = atOther(`/events?after=${after}&wait=30`);
		const { body } = await shop.post(shop.path("/events"), purchase(after));
		expect(await (await waiting).json()).toMatchObject({ data: [{ id: body.id }], last_seq: after + 1 });
	}
});

test("events of other types don't end the wait", { timeout: TIMEOUT_MS }, async () => {
	const waiting = atOther("/events?type=chargeback.created&wait=30");
	const watching = atOther("/events?after=5&wait=30");
	await shop.post(shop.path("/events"), purchase(6));
	await watching; // by now the other node knows about it
	const chargeback = { chargeback_id: "cb_1", order_id: "ord_1", amount_cents: 100, currency: "EUR", reason: "fraud" };
	const { status, body } = await shop.post(shop.path("/events"), { type: "chargeback.created", data: chargeback });
	expect({ status, body }).toMatchObject({ status: 202 });
	expect(await (await waiting).json()).toMatchObject({ data: [{ id: body.id }] });
});

test("an open page of either node gets hints about webhooks and attempts", { timeout: TIMEOUT_MS }, async () => {
	const receiver = await shop.receiver();
	const stream = { authorization: `Bearer ${shop.operatorKey}`, accept: "text/event-stream" };
	const streams = await Promise.all(
		[shop.service.url, other.url].map((url) => fetch(url + shop.path("/changes"), { headers: stream })),
	);
	await shop.webhook(receiver.url("/"));
	await shop.post(shop.path("/events"), purchase(7));
	await Promise.all(streams.map((each) => hear(each, ["webhooks", "attempts"])));
});

// It kills a node, so it is the last test.
test("a node logs that it took over the projects of one that was killed", async () => {
	const receiver = await shop.receiver({ respond: () => "hang" });
	await shop.webhook(receiver.url("/"));
	await shop.post(shop.path("/events"), purchase(8));
	await receiver.waitFor(() => receiver.requests.length === 1);
	const metric = async ({ url }: Posthorn, name: string): Promise<number> => {
		const text = await (await fetch(`${url}/metrics`)).text();
		return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
	};
	const runsIt = (await metric(other, "posthorn_node_projects")) === 1;
	const [killed, survivor] = runsIt ? [other, shop.service] : [shop.service, other];
	expect(await metric(killed, "posthorn_node_projects")).toBe(1);
	await killed.kill();
	const [line] = await until("the takeover to be logged", () => /^.*took over projects.*$/m.exec(survivor.output));
	expect(JSON.parse(line!)).toMatchObject({ level: "warn", projects: 1 });
	expect(await metric(survivor, "posthorn_projects_taken_over_total")).toBe(1);
});
