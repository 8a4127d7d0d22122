import { Signal } from "@posthorn/testkit/signal";
import { type Clock, systemClock, type Timer } from "../src/base/clock.ts";

/** Longer waits, such as for a locked row or at shutdown, may end only with what a test does next. Milliseconds. */
const SHORT_MS = 20;

let waiting = 0;
const idle = new Signal();

/** Real time for an engine's batches. Tests that drive the engine by a virtual clock can wait for them. */
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

/** Whether an engine is waiting briefly, to batch outcomes into one commit. */
export const isDiskWaiting = (): boolean => waiting > 0;

/** Resolves once no engine is. */
export const diskQuiet = (): Promise<void> => idle.until("batches to be committed", () => waiting === 0);
