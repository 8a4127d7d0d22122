import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { createDialer } from "./dial.ts";
import type { Shortages } from "./shortages.ts";

// Five thousand webhooks of one project once started connecting in the same turn of the event loop.
test("projects take turns to start connections", async () => {
	let elapsed = 0;
	// Makes each start use up its share of a turn of the event loop, however quick it is.
	const clock = { ...systemClock, elapsed: () => (elapsed += 1_000) };
	// Consulted just before a connection would start. Blocking it is enough for this test.
	const shortages = { blocks: () => true } as unknown as Shortages;
	const dialer = createDialer({
		guard: { refusal: () => null, permitsPort: () => true },
		resolver: { lookup: () => Promise.reject(new Error("An address needs no lookup.")) },
		clock,
		shortages,
	});
	const begun: string[] = [];
	const turnsOf: number[] = [];
	let turn = 0;
	const keepAlive = setInterval(() => undefined, 1_000);
	const count = (): void => {
		turn++;
		if (begun.length < 21) setImmediate(count);
	};
	setImmediate(count);
	const dial = (owner: string) =>
		new Promise<void>((resolve) => {
			const done = (): void => {
				begun.push(owner);
				turnsOf.push(turn);
				resolve();
			};
			dialer.dial({ hostname: "127.0.0.1", port: 443, owner, done, received: () => true });
		});
	await Promise.all([...Array.from({ length: 20 }, () => dial("many")), dial("one")]);
	clearInterval(keepAlive);
	expect(begun.indexOf("one")).toBe(1);
	expect(new Set(turnsOf).size).toBe(21);
});
