import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type Acceptance, answer, type Behaviour, closes, type Draw, dripping, garbage, hang, later } from "./index.ts";
import { ADDRESS, NetworkRig, shipment, text } from "./rig.fixture.ts";

const ACCEPTANCES: readonly Acceptance[] = [
	{ kind: "refuse" },
	{ kind: "silent" },
	{ kind: "reset" },
	{ kind: "mute" },
];
const BEHAVIOURS: readonly Behaviour[] = [
	answer(200, { body: "ok" }),
	answer(500, { body: 3_000, framing: "chunked" }),
	dripping(answer(200, { body: 30 }), 7, 100),
	hang,
	closes("reset"),
	garbage(),
];

const pick = <T>(list: readonly T[], draw: Draw): T => list[draw.between(0, list.length - 1)]!;

/** Two nodes send to a receiver that does anything; every packet, with its time, and every outcome. */
async function world(seed: number, paths: readonly string[]): Promise<string[]> {
	const log: string[] = [];
	const tell = (what: string): void => void log.push(`${rig.time.now()} ${what}`);
	const rig: NetworkRig = new NetworkRig({
		seed,
		latencyMs: null,
		observer: {
			connecting: (node, address) => tell(`${node} connects to ${address}`),
			sent: ({ node, no, path, headers, body }) =>
				tell(`${node} ${no} ${path} ${[...headers].flat().join()} ${createHash("sha1").update(body).digest("hex")}`),
			received: ({ no }) => tell(`received ${no}`),
			responded: ({ no, behaviour }, status) => tell(`responded ${no} ${status} (${behaviour})`),
			broken: ({ no }, why) => tell(`broken ${no} ${why}`),
		},
	});
	rig.receiver.accept = (_address, draw) => (draw.chance(0.2) ? pick(ACCEPTANCES, draw) : { kind: "accept" });
	rig.receiver.behave = (_request, draw) => later(draw.between(0, 200), pick(BEHAVIOURS, draw));
	const nodes = [rig.node("node 1"), rig.node("node 2")];
	const heal = rig.network.cut("node 2", ADDRESS);
	const sending = paths.map(async (path, n) => {
		const outcome = await nodes[n % 2]!.sender.send(shipment(`https://shop.example${path}`));
		tell(`${path} ${text(outcome)}`);
	});
	await rig.time.runTo(500);
	heal();
	await rig.time.until(Promise.all(sending));
	expect(rig.faults).toEqual([]);
	expect(rig.network.faults).toEqual([]);
	return log;
}

const PATHS = Array.from({ length: 100 }, (_, n) => `/${n}`);

test("the same seed gives the same bytes at the same times, and another one others", async () => {
	const log = await world(7, PATHS);
	expect(log.length).toBeGreaterThan(200);
	expect(await world(7, PATHS)).toEqual(log);
	expect(await world(8, PATHS)).not.toEqual(log);
});

test("what a receiver does with a request does not depend on other requests", async () => {
	const behaviours = async (paths: readonly string[]) => {
		const rig = new NetworkRig();
		rig.receiver.behave = (_request, draw) => later(draw.between(0, 1e6), answer(200));
		const { sender } = rig.node();
		void paths.map((path) => sender.send(shipment(`https://shop.example${path}`)));
		await rig.time.runTo(1_000);
		return new Map(rig.network.requests.map(({ path, behaviour }) => [path, behaviour]));
	};
	const all = await behaviours(PATHS);
	expect(new Set(all.values()).size).toBeGreaterThan(90);
	for (const [path, behaviour] of await behaviours(PATHS.filter((_, n) => n % 3 === 0)))
		expect(behaviour).toBe(all.get(path));
});
