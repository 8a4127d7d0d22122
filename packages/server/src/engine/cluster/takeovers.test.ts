import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { logTakeovers } from "./takeovers.ts";

test("a line sums up the batches of a second", () => {
	const clock = new VirtualClock();
	const lines: object[] = [];
	const logger: Logger = { ...silentLogger, warn: (fields) => lines.push(fields) };
	const takenOver = logTakeovers(logger, clock);
	takenOver(200);
	clock.advance(999);
	takenOver(50);
	expect(lines).toEqual([]);
	clock.advance(1);
	expect(lines).toEqual([{ projects: 250 }]);
	takenOver(3);
	clock.advance(1_000);
	expect(lines).toEqual([{ projects: 250 }, { projects: 3 }]);
	expect(clock.nextAt).toBeNull();
});
