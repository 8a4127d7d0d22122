/** The virtual network against the real one: the same bytes from a receiver give the same outcomes on both. */
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Sender } from "../../packages/server/src/engine/send/outcome.ts";
import { type Answer, type Receiver, shipment } from "../../packages/server/src/engine/send/receiver.fixture.ts";
import { Rig } from "../../packages/server/src/engine/send/rig.fixture.ts";
import type { Behaviour } from "./index.ts";
import { answer, bodyStart, closes, cutShort, dripping, garbage, hang, redirect, twice } from "./index.ts";
import { NetworkRig, text, URL_ } from "./rig.fixture.ts";

const ok = answer(200, { body: "ok" });
const long = answer(200, { body: 5_000 });

const BEHAVIOURS: readonly (readonly [string, Behaviour])[] = [
	["an answer", ok],
	["an answer without a body", answer(200)],
	["no content", answer(204)],
	["an error", answer(500, { body: "no" })],
	["a redirect", redirect("https://elsewhere.example/")],
	["a chunked body", answer(200, { body: "in chunks", framing: "chunked" })],
	["a body that the connection's end ends", answer(200, { body: "all", framing: "until close" })],
	["Connection: close", answer(200, { close: true })],
	["an answer of HTTP/1.0", { ...ok, bytes: Buffer.from("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok") }],
	["interim responses", answer(200, { body: "ok", interim: [102, 103] })],
	["too many interim responses", answer(200, { interim: Array(17).fill(103) })],
	["a large body", long],
	["a very large body", answer(200, { body: 300_000 })],
	["a huge head", answer(200, { headers: { "x-long": "x".repeat(20_000) } })],
	["an answer that drips", dripping(ok, 5, 1)],
	["a body that stops", cutShort(long, bodyStart(long) + 3, "hang")],
	["a body that breaks off", cutShort(long, bodyStart(long) + 3, "end")],
	["a head that ends", cutShort(ok, 6, "end")],
	["a head that ends after its status line", cutShort(ok, ok.status!.end + 2, "end")],
	["an end", closes("end")],
	["a reset", closes("reset")],
	["garbage", garbage()],
	["two answers", twice(ok)],
	["a keep-alive hint of a second", answer(200, { headers: { "keep-alive": "timeout=1" } })],
];

/** These cost an attempt all of its time. */
const SILENT: readonly (readonly [string, Behaviour])[] = [
	["a head that stops after its status line", cutShort(ok, ok.status!.end + 2, "hang")],
	["silence", hang],
];

/** Does the same on a real connection. */
const really =
	(receiver: Receiver, { bytes, pieces, afterwards }: Behaviour): Answer =>
	async (socket) => {
		const size = pieces?.bytes ?? bytes.length;
		for (let at = 0; at < bytes.length; at += size) {
			socket.write(bytes.subarray(at, at + size));
			if (pieces) await wait(pieces.everyMs);
		}
		if (afterwards === "end") socket.end();
		else if (afterwards === "reset") receiver.reset(socket);
	};

/** What each of some requests comes to: the answer or why there is none, and whether there was more of it. */
async function outcomes(requests: number, send: () => ReturnType<Sender["send"]>): Promise<string[]> {
	const texts: string[] = [];
	for (let n = 0; n < requests; n++) {
		const outcome = await send();
		texts.push(`${text(outcome)}${outcome.kind === "answered" && outcome.truncated ? " …" : ""}`);
	}
	return texts;
}

describe("both networks agree on", () => {
	const real = new Rig();

	async function compare(behaviour: Behaviour, requests: number, timeoutMs: number): Promise<void> {
		const virtual = new NetworkRig();
		virtual.receiver.behave = () => behaviour;
		const node = virtual.node("node 1", { timeoutMs });
		const simulated = await outcomes(requests, () => virtual.time.until(node.sender.send(shipment(URL_))));

		real.receiver.answer = really(real.receiver, behaviour);
		const sender = real.makeSender({ timeoutMs });
		expect(simulated).toEqual(await outcomes(requests, () => sender.send(shipment(real.receiver.url()))));
		const connections = real.receiver.requests.map(({ connection }) => connection + 1);
		expect(virtual.network.requests.map(({ connection }) => connection)).toEqual(connections);
		expect([virtual.faults, real.faults]).toEqual([[], []]);
	}

	test.each(BEHAVIOURS)("%s", (_, behaviour) => compare(behaviour, 2, 15_000));

	test.each(SILENT)("%s", (_, behaviour) => compare(behaviour, 1, 2_000));
});
