import { expect, test } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { silentLogger } from "../base/logger.ts";
import type { Gauges } from "../storage/port.ts";
import { GaugeReader } from "./gauge-reader.ts";

const COUNTS = { projects: 1, webhooks: 2, backlog: 3, pausedBacklog: 0, retriesWaiting: 4, deadLetters: 5 };
const GAUGES: Gauges = { ...COUNTS, oldestAt: null };

function rig() {
	const clock = new VirtualClock();
	const reads: PromiseWithResolvers<Gauges>[] = [];
	const gauges = () => {
		reads.push(Promise.withResolvers<Gauges>());
		return reads.at(-1)!.promise;
	};
	const lines: string[] = [];
	const log = (_fields: object, message: string): void => void lines.push(message);
	const reader = new GaugeReader({ gauges }, clock, { ...silentLogger, warn: log, error: log });
	/** What a scrape returns if storage doesn't respond while it waits. */
	const scrape = async () => {
		const read = reader.read();
		await clock.advance(4_000);
		return read;
	};
	return { clock, reads, reader, scrape, lines };
}

// While the database hung, a scrape took 10 s, when Prometheus gives up: it reported the node as down, without metrics.
test("a scrape doesn't wait for gauges that take too long, and reads them once", async () => {
	const { reads, scrape, reader, clock } = rig();
	expect(await scrape()).toBe("late");
	await clock.advance(60_000);
	expect(await scrape()).toBe("late");
	expect(reads).toHaveLength(1);
	reads[0]!.resolve(GAUGES);
	await reads[0]!.promise;
	await clock.advance(1_000);
	const next = reader.read();
	expect(reads).toHaveLength(2);
	reads[1]!.resolve({ ...GAUGES, projects: 7 });
	expect(await next).toMatchObject({ projects: 7 });
});

test("returns the previous gauges for a minute while a read takes too long", async () => {
	const { clock, reads, scrape, reader } = rig();
	const first = reader.read();
	reads[0]!.resolve(GAUGES);
	expect(await first).toEqual(GAUGES);
	await clock.advance(1_000);
	expect(await scrape()).toEqual(GAUGES);
	await clock.advance(55_000);
	expect(await scrape()).toBe("late");
	expect(reads).toHaveLength(2);
});

test("reads at most once a second, and returns no previous gauges once storage has failed", async () => {
	const { clock, reads, scrape, reader } = rig();
	const both = [reader.read(), reader.read()];
	reads[0]!.resolve(GAUGES);
	expect(await Promise.all(both)).toEqual([GAUGES, GAUGES]);
	await clock.advance(999);
	expect(await reader.read()).toEqual(GAUGES);
	expect(reads).toHaveLength(1);
	await clock.advance(1);
	const failed = reader.read();
	reads[1]!.reject(new Error("gone"));
	expect(await failed).toBe("failed");
	await clock.advance(1_000);
	expect(await scrape()).toBe("late");
});

// Each scrape logged a stack trace while the database was away.
test("logs that storage fails when that begins and ends", async () => {
	const { clock, reads, reader, lines } = rig();
	for (let n = 0; n < 5; n++) {
		const failed = reader.read();
		reads[n]!.reject(new Error("gone"));
		expect(await failed).toBe("failed");
		await clock.advance(1_000);
	}
	const read = reader.read();
	reads[5]!.resolve(GAUGES);
	await read;
	expect(lines).toEqual(["failed to read gauges from storage", "gauges are read from storage again"]);
});
