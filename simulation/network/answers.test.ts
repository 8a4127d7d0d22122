/** Each behaviour of a receiver gives the outcome that the sender documents. */
import { expect, test } from "vitest";
import type { Behaviour } from "./index.ts";
import { answer, bodyStart, closes, cutShort, dripping, garbage, hang, later, redirect, twice } from "./index.ts";
import { NetworkRig, START_MS, TIMEOUT_MS, text } from "./rig.fixture.ts";

const LATENCY_MS = 10;
/** DNS, TCP, TLS, and the request on its way to the receiver. */
const UNTIL_RECEIVED_MS = 63;

const gone = answer(410, { body: "gone" });
const long = answer(200, { body: 5_000 });

test.each<[string, Behaviour, string]>([
	["an answer", answer(200, { body: "ok" }), "200 ok"],
	["no content", answer(204), "204 "],
	["a slow answer", later(14_000, answer(200, { body: "slow" })), "200 slow"],
	["gone", gone, "410 gone"],
	["too many requests", answer(429, { headers: { "retry-after": "120" } }), "429 "],
	["a redirect", redirect("https://elsewhere.example/"), "302 "],
	["a server error", answer(503, { body: "down" }), "503 down"],
	["a chunked body", answer(200, { body: "in chunks", framing: "chunked" }), "200 in chunks"],
	["an empty chunked body", answer(200, { framing: "chunked" }), "200 "],
	["a body that the end of the connection ends", answer(200, { body: "all", framing: "until close" }), "200 all"],
	["interim responses", answer(200, { body: "ok", interim: [102, 103] }), "200 ok"],
	["a large body", long, `200 ${"x".repeat(1_024)}`],
	["a head that drips", dripping(answer(200, { body: "ok" }), 4, 20), "200 ok"],
	["a head that drips for too long", dripping(answer(200, { body: "ok" }), 1, 1_000), "timeout"],
	["a body that breaks off", cutShort(long, bodyStart(long) + 3, "reset"), "200 xxx"],
	["a body that stops", cutShort(long, bodyStart(long) + 3, "hang"), "200 xxx"],
	["a head that breaks off", cutShort(gone, 6, "end"), "connection_reset"],
	["a head that breaks off after its status line", cutShort(gone, gone.status!.end + 2, "end"), "410 "],
	["silence", hang, "timeout"],
	["an end", closes("end"), "connection_reset"],
	["a reset", closes("reset"), "connection_reset"],
	["garbage", garbage(), "malformed_response"],
	["two answers", twice(answer(200, { body: "ok" })), "200 ok"],
])("%s", async (_, behaviour, expected) => {
	const rig = new NetworkRig();
	rig.receiver.behave = () => behaviour;
	const { sender } = rig.node();
	expect(text(await rig.send(sender))).toBe(expected);
	const [request] = rig.network.requests;
	expect(request).toMatchObject({ sentAt: UNTIL_RECEIVED_MS - LATENCY_MS, receivedAt: UNTIL_RECEIVED_MS });
	expect(String(request!.status)).toBe(/^\d+/.exec(expected)?.[0] ?? "null");
	expect(rig.faults).toEqual([]);
});

test("more interim responses than the sender takes hide the final one", async () => {
	const rig = new NetworkRig();
	rig.receiver.behave = () => answer(200, { interim: Array(17).fill(103) });
	expect(text(await rig.send(rig.node().sender))).toBe("malformed_response");
	expect(rig.network.requests[0]!.status).toBe(200);
});

test("an attempt lasts from its start to the last byte of the answer", async () => {
	const rig = new NetworkRig();
	rig.receiver.behave = () => later(700, answer(200));
	const outcome = await rig.send(rig.node().sender);
	expect(outcome).toMatchObject({ startedAt: START_MS, endedAt: START_MS + UNTIL_RECEIVED_MS + 700 + LATENCY_MS });
});

test("a hanging receiver costs the whole time of an attempt", async () => {
	const rig = new NetworkRig();
	rig.receiver.behave = () => hang;
	expect(await rig.send(rig.node().sender)).toMatchObject({ endedAt: START_MS + TIMEOUT_MS });
});

test("cuts a dripping body after a second, which doesn't count as response time", async () => {
	const rig = new NetworkRig();
	rig.receiver.behave = () => dripping(long, 200, 300);
	const outcome = await rig.send(rig.node().sender);
	expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
	expect(outcome).toMatchObject({ endedAt: START_MS + UNTIL_RECEIVED_MS + LATENCY_MS + 900 });
});

test("the receiver sees the exact bytes of the event", async () => {
	const rig = new NetworkRig();
	const body = JSON.stringify({ text: "ü".repeat(40_000) });
	await rig.send(rig.node().sender, "https://shop.example/a/b?c=d", body);
	const [request] = rig.network.requests;
	expect(request).toMatchObject({ method: "POST", path: "/a/b?c=d", url: "https://shop.example/a/b?c=d" });
	expect(request!.body.toString()).toBe(body);
	expect(request!.headers.get("x-posthorn-event-id")).toBe("evt_01jd0000000000000000000000");
});

test("a receiver may change its mind for each request", async () => {
	const rig = new NetworkRig();
	rig.receiver.behave = (_request, _draw, nth) => (nth === 0 ? answer(500) : answer(200, { body: "better" }));
	const { sender } = rig.node();
	expect(text(await rig.send(sender))).toBe("500 ");
	expect(text(await rig.send(sender))).toBe("200 better");
	rig.receiver.behave = () => gone;
	expect(text(await rig.send(sender))).toBe("410 gone");
	expect(rig.network.requests.map(({ behaviour }) => behaviour)).toEqual(["500", "200", "410"]);
});
