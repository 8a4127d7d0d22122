import { once } from "node:events";
import { expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { createDialer } from "../../net/dial.ts";
import { createGuard } from "../../net/egress.ts";
import { Shortages } from "../../net/shortages.ts";
import { shipment } from "./receiver.fixture.ts";
import { made, Rig, text } from "./rig.fixture.ts";

const rig = new Rig();

const TIMEOUT_MS = 10_000;
/** Number of connections queued ahead: enough for many turns of the event loop. */
const AHEAD = 500;

/**
 * Sends one event from the end of a queue of connections. The deadline would pass while it waits for its turn to
 * connect.
 */
async function sendBehindLine(clock: VirtualClock, onBegun?: (at: number) => void) {
	let left = AHEAD;
	/** Blocks the connections ahead as soon as their turn comes. */
	class Line extends Shortages {
		override blocks(): boolean {
			return left-- > 0;
		}
	}
	const resolved = Promise.withResolvers<void>();
	const dialer = createDialer({
		guard: createGuard({ allow: ["127.0.0.0/8"] }),
		resolver: {
			lookup: async () => {
				queueMicrotask(resolved.resolve);
				return ["127.0.0.1"];
			},
		},
		clock,
		extraCa: rig.authority.cert,
		shortages: new Line(clock),
	});
	const { target } = shipment("");
	for (let n = 0; n < AHEAD; n++)
		dialer.dial({
			hostname: "127.0.0.1",
			port: 443,
			owner: target.projectId,
			done: () => undefined,
			received: () => true,
		});
	const sender = rig.makeSender({ clock, dialer, timeoutMs: TIMEOUT_MS });
	const sending = sender.send({ ...shipment(rig.receiver.url()), ...(onBegun && { onBegun }) });
	await resolved.promise;
	await new Promise<void>((resolve) => void setImmediate(resolve));
	expect(left, "connections ahead").toBeGreaterThan(0);
	clock.advance(TIMEOUT_MS);
	return sending;
}

// The receiver was blamed for the wait, and eight such attempts dead-lettered a delivery that was never sent.
test("waiting for a turn to connect doesn't count towards an attempt's time", async () => {
	const began: number[] = [];
	const outcome = made(await sendBehindLine(new VirtualClock(), (at) => began.push(at)));
	expect(text(outcome)).toBe("ok");
	expect([outcome.endedAt - outcome.startedAt, outcome.waitedMs]).toEqual([TIMEOUT_MS, TIMEOUT_MS]);
	expect(began).toEqual([outcome.startedAt]);
});

test("once its turn has come, an attempt has exactly its full time", async () => {
	const clock = new VirtualClock();
	rig.receiver.answer = () => undefined;
	const arrived = once(rig.receiver, "request");
	const sending = sendBehindLine(clock);
	await Promise.race([arrived, sending]);
	clock.advance(TIMEOUT_MS);
	const outcome = made(await sending);
	expect(text(outcome)).toBe("timeout");
	expect([outcome.endedAt - outcome.startedAt, outcome.waitedMs]).toEqual([2 * TIMEOUT_MS, TIMEOUT_MS]);
});
