import { expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { answered, shipment } from "./receiver.fixture.ts";
import { Rig, text } from "./rig.fixture.ts";

const rig = new Rig();
const TIMEOUT_MS = 10_000;

class StallingClock extends VirtualClock {
	#stalledUntil = 0;

	override elapsed(): number {
		return Math.max(super.elapsed(), this.#stalledUntil);
	}

	override setTimeout(fire: () => void, ms: number): { cancel(): void } {
		return super.setTimeout(fire, this.elapsed() - super.elapsed() + ms);
	}

	/** As if the process were stopped for this long: timers fire late, before anything is read. */
	stall(ms: number): void {
		this.#stalledUntil = this.elapsed() + ms;
		this.advanceTo(this.#stalledUntil);
	}
}

// Timers fire before sockets are read: a container that was paused logged a timeout for every request in flight.
test("a response that came in time counts, even if the process stood still until after the deadline", async () => {
	const clock = new StallingClock();
	const sender = rig.makeSender({ clock, timeoutMs: TIMEOUT_MS });
	rig.receiver.answer = (socket, request) => {
		answered(200, "ok")(socket, request);
		clock.stall(2 * TIMEOUT_MS);
	};
	expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("ok");
});

test("an attempt without a response ends even if the process stands still again and again", async () => {
	const clock = new StallingClock();
	const sender = rig.makeSender({ clock, timeoutMs: TIMEOUT_MS });
	rig.receiver.answer = () => {
		clock.stall(2 * TIMEOUT_MS);
		clock.stall(1_000);
	};
	expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("timeout");
});
