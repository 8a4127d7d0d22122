import { beforeEach, expect, test } from "vitest";
import { describeClocks } from "../conformance/clocks.ts";
import { START } from "../conformance/world.ts";
import { StandingClock } from "./clock.ts";
import { MemoryDatabase, openMemoryStorage } from "./index.ts";
import { LEASE_TERM_MS } from "./world.ts";

const HOUR = 3_600_000;

let database: MemoryDatabase;
beforeEach(() => {
	database = new MemoryDatabase({ clock: new StandingClock(Date) });
});

const open = (aheadMs: number) =>
	openMemoryStorage({ database, clock: { now: () => Date.now() + aheadMs }, leaseTermMs: LEASE_TERM_MS });

describeClocks("storage in memory", open);

test("a lease ends by the database's clock, and is reported by each node's own", async () => {
	const database = new MemoryDatabase({ clock: new StandingClock({ now: () => START }) });
	const open = (aheadMs: number) =>
		openMemoryStorage({ database, clock: { now: () => START + aheadMs }, leaseTermMs: LEASE_TERM_MS });
	const [ahead, behind] = [await open(HOUR), await open(-HOUR)];
	await ahead.createProject({ id: "p", name: "Shop", apps: [], createdAt: 0 });
	const [lease] = await ahead.acquireLeases({ holder: "node_a", limit: 1, projectIds: ["p"] });
	expect(lease!.expiresAt).toBe(START + HOUR + LEASE_TERM_MS);
	expect(await behind.acquireLeases({ holder: "node_b", limit: 1, projectIds: ["p"] })).toEqual([]);
	// In an hour, for any node.
	await ahead.releaseLease({ lease: lease!, wakeAt: START + 2 * HOUR, seen: { lastSeq: 0, revision: 0 } });
	expect(await ahead.nextAlarm()).toBe(START + 2 * HOUR);
	expect(await behind.nextAlarm()).toBe(START);
});
