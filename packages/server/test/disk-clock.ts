import { Signal } from "@posthorn/testkit/signal";
import { type Clock, systemClock, type Timer } from "../src/base/clock.ts";

/** Longer waits, such as for a locked row or at shutdown, depend on what else a test does. Milliseconds. */
const SHORT_MS = 20;

let waiting = 0;
const idle = new Signal();

/** Real time, for engines whose tests wait until what they do under a virtual clock is done. */
export const diskClock: Clock = {
	...systemClock,
	setTimeout(fire, ms): Timer {
		if (ms > SHORT_MS) return systemClock.setTimeout(fire, ms);
		let isOver = false;
		const end = (): void => {
			if (isOver) return;
			isOver = true;
			waiting -= 1;
			idle.look();
		};
		waiting += 1;
		const timer = systemClock.setTimeout(() => {
			try {
				fire();
			} finally {
				end();
			}
		}, ms);
		return {
			cancel() {
				timer.cancel();
				end();
			},
		};
	},
};

/** Whether an engine waits briefly before it goes on: outcomes gather before they are committed together. */
export const isDiskWaiting = (): boolean => waiting > 0;

/** Resolves once none does. */
export const diskQuiet = (): Promise<void> => idle.until("what gathers to be committed", () => waiting === 0);
