import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../testkit/src/until.ts";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/logger.ts";
import type { Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import { holdText, type RetentionClock, type RetentionClockOptions, startRetentionClock } from "./retention-clock.ts";

const DAY = 86_400_000;
const RETENTION = 30 * DAY;

/** A machine whose wall clock can be set without the monotonic one. */
class Machine extends VirtualClock {
	wrongBy = 0;
	override now(): number {
		return super.now() + this.wrongBy;
	}
}

let folder: string;
let storage: Storage;
let machine: Machine;
let logs: string[];
let clocks: RetentionClock[];
const start = async (clock: Clock = machine, more: Partial<RetentionClockOptions> = {}) => {
	const logger = { ...silentLogger, warn: note, error: note };
	const started = await startRetentionClock({ storage, clock, logger, retentionMs: RETENTION, ...more });
	clocks.push(started);
	return started;
};
const note = (_: object, text: string): void => void logs.push(text);

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-clock-"));
	machine = new Machine();
	logs = [];
	clocks = [];
	storage = await openSqliteStorage({ path: join(folder, "test.db"), clock: machine, leaseTermMs: 10_000 });
});
afterEach(async () => {
	for (const clock of clocks) await clock.stop();
	await storage.close();
	rmSync(folder, { recursive: true });
});

test("follows the clock", async () => {
	const clock = await start();
	expect(clock.now()).toBe(machine.now());
	machine.advance(40 * DAY);
	expect(clock.now()).toBe(machine.now());
	expect(clock.isTrusted()).toBe(true);
	await clock.observe();
	expect(clock.hold).toBeNull();
	expect(logs).toEqual([]);
});

test("a clock that jumps ahead ages nothing, before and after it is noticed, until it is set back", async () => {
	const clock = await start();
	const before = machine.now();
	machine.wrongBy = 40 * DAY;
	expect(clock.now()).toBeLessThanOrEqual(before + 60_000);
	expect(clock.isTrusted()).toBe(false);
	await clock.observe();
	expect(clock.now()).toBe(Number.NEGATIVE_INFINITY);
	expect(clock.hold).toEqual({ kind: "ahead", now: before + 40 * DAY, seenAt: before, jumpedMs: 40 * DAY });
	expect(logs).toEqual([holdText(clock.hold!)]);
	// It doesn't vouch for itself.
	await clock.observe();
	expect(clock.hold).toMatchObject({ kind: "ahead", jumpedMs: 40 * DAY });
	expect(logs[0]).toMatch(/40\.0 days after .* Nothing is deleted .* POST \/v1\/clock\/confirm/);
	machine.wrongBy = 0;
	await clock.observe();
	expect(clock.hold).toBeNull();
	expect(clock.now()).toBe(machine.now());
});

test("a restart while the clock is ahead doesn't make it trusted", async () => {
	await (await start()).stop();
	machine.wrongBy = 40 * DAY;
	for (let i = 0; i < 3; i++) {
		const clock = await start();
		expect(clock.hold).toMatchObject({ kind: "ahead" });
		expect(clock.now()).toBe(Number.NEGATIVE_INFINITY);
		await clock.stop();
	}
});

// Each time, the other one's clock lowered the record, and the month up to now seemed to have passed.
test("a clock that creeps ahead is held even if another node's is far behind", async () => {
	const creeping = await start();
	const other = new Machine();
	other.wrongBy = -30 * DAY;
	const behind = await start(other);
	for (let n = 0; n < 29; n++) {
		expect(creeping.hold).toBeNull();
		machine.wrongBy += DAY / 4;
		await behind.observe();
		await creeping.observe();
	}
	expect(creeping.hold).toMatchObject({ kind: "ahead" });
});

// Once it was set, everything stored in the meantime was deleted.
test.each(["running", "restarted"])(
	"a clock that is set after it was a year behind waits for a person (%s)",
	async (how) => {
		await (await start()).stop();
		machine.wrongBy = -365 * DAY;
		let clock = await start();
		expect(clock.hold).toBeNull();
		machine.advance(DAY);
		machine.wrongBy = 0;
		if (how === "restarted") clock = await start();
		expect(clock.isTrusted()).toBe(false);
		await clock.observe();
		expect(clock.hold).toMatchObject({ kind: "ahead" });
		await clock.confirm();
		expect(clock.now()).toBe(machine.now());
	},
);

// For the service it looks like a clock that is ahead: only a person knows.
test("after the machine was off for 31 days, it waits for a person, who confirms", async () => {
	await (await start()).stop();
	machine.advance(31 * DAY);
	const clock = await start(new Machine(machine.now()));
	expect(clock.hold).toMatchObject({ kind: "ahead" });
	await clock.confirm();
	expect(clock.hold).toBeNull();
	expect(clock.now()).toBe(machine.now());
	await clock.stop();
	expect((await start(new Machine(machine.now()))).hold).toBeNull();
});

test("what one node confirms, the others trust", async () => {
	const [one, other] = [new Machine(), new Machine()];
	const [first, second] = [await start(one), await start(other)];
	for (const each of [one, other]) each.wrongBy = 40 * DAY;
	await first.observe();
	await second.observe();
	await first.confirm();
	expect(second.hold).not.toBeNull();
	await second.observe();
	expect(second.hold).toBeNull();
});

// The hold that the operator had just ended was back for a minute.
test("a comparison from before the confirmation doesn't replace the one after it", async () => {
	const late = Promise.withResolvers<void>();
	let isLate = false;
	const observeClock: Storage["observeClock"] = async (p) => {
		const wait = isLate ? late.promise : null;
		isLate = false;
		const seen = await storage.observeClock(p);
		await wait;
		return seen;
	};
	const slow = { observeClock, confirmClock: (p: { now: number }) => storage.confirmClock(p) } as Storage;
	const clock = await start(machine, { storage: slow });
	machine.wrongBy = 40 * DAY;
	isLate = true;
	const comparing = clock.observe();
	const confirming = clock.confirm();
	for (let n = 0; n < 4; n++) await storage.ping();
	late.resolve();
	await Promise.all([comparing, confirming]);
	expect(clock.hold).toBeNull();
});

test("one node's wrong clock doesn't stop the others, and a sleeping machine is vouched for by them", async () => {
	const [right, wrong] = [new Machine(), new Machine()];
	const [first, second] = [await start(right), await start(wrong)];
	wrong.wrongBy = 40 * DAY;
	await second.observe();
	await first.observe();
	expect([first.hold, second.hold?.kind]).toEqual([null, "ahead"]);
	right.advance(40 * DAY);
	await first.observe();
	await second.observe();
	expect([first.hold, second.hold]).toEqual([null, null]);
});

test("trusts a step of less than a week, or than the retention if that is shorter", async () => {
	const clock = await start();
	machine.wrongBy = 7 * DAY;
	await clock.observe();
	expect(clock.hold).toBeNull();
	await clock.stop();
	const short = await start(machine, { retentionMs: DAY });
	machine.wrongBy += DAY + 1;
	await short.observe();
	expect(short.hold).toMatchObject({ kind: "ahead" });
});

// Each step was trusted separately: the log was deleted within minutes.
test("a clock that creeps ahead in short steps is held once they add up to a week, across restarts", async () => {
	let clock = await start();
	machine.wrongBy = 4 * DAY;
	await clock.observe();
	expect(clock.hold).toBeNull();
	await clock.stop();
	clock = await start();
	machine.wrongBy = 8 * DAY;
	await clock.observe();
	expect(clock.hold).toMatchObject({ kind: "ahead", jumpedMs: 8 * DAY });
	expect(clock.now()).toBe(Number.NEGATIVE_INFINITY);
	expect(holdText(clock.hold!)).toMatch(/4\.0 days after .*, and with earlier jumps it is 8\.0 days ahead\. Nothing/);
	await clock.confirm();
	machine.wrongBy += 6 * DAY;
	await clock.observe();
	expect(clock.hold).toBeNull();
});

test("a machine that is off at night and at weekends needs no one", async () => {
	const HOUR = DAY / 24;
	for (let day = 0; day < 60; day++) {
		const clock = await start();
		expect(clock.hold, `day ${day}`).toBeNull();
		machine.advance(8 * HOUR);
		await clock.observe();
		await clock.stop();
		machine.advance((day % 5 === 4 ? 64 : 16) * HOUR);
	}
});

test("nothing ages while the database's clock is far ahead of the node's", async () => {
	let aheadMs = 0;
	const clock = await start(machine, { databaseAheadMs: () => aheadMs });
	expect(clock.now()).toBe(machine.now());
	aheadMs = 40 * DAY;
	expect(clock.now()).toBe(Number.NEGATIVE_INFINITY);
	expect(clock.isTrusted()).toBe(false);
	expect(holdText(clock.hold!)).toMatch(/database's clock is 40\.0 days ahead/);
	await clock.confirm();
	expect(clock.hold).toMatchObject({ kind: "apart" });
	// Other nodes may dead-letter: the notice said that nothing is.
	expect(clock.notice).toMatch(/this node deletes nothing .* other nodes, which may close them as expired/);
	aheadMs = -40 * DAY;
	expect(clock.hold).toBeNull();
});

test("compares the clock once a minute, and continues after storage failed", async () => {
	const clock = await start();
	await storage.close();
	machine.advance(60_000);
	await until("a line in the log", () => logs.length > 0);
	expect(logs).toEqual(["failed to compare the clock with the database's record"]);
	storage = await openSqliteStorage({ path: join(folder, "test.db"), clock: machine, leaseTermMs: 10_000 });
	machine.advance(40 * DAY);
	expect(clock.now()).toBe(machine.now());
});

// A node ten minutes off once said that all was well, while receivers refused its signatures.
test.each([
	[600_000, "600.0 s behind the database's"],
	[-600_000, "600.0 s ahead of the database's"],
])("says once that the database's clock is %i ms ahead, and that it no longer is", async (aheadMs, text) => {
	let databaseAheadMs = aheadMs > 0 ? 5_000 : -5_000;
	const clock = await start(machine, { databaseAheadMs: () => databaseAheadMs });
	expect(clock.notice).toBeNull();
	databaseAheadMs = aheadMs;
	expect(clock.notice).toContain(text);
	expect(clock.hold).toBeNull();
	for (const _ of Array(2)) await clock.observe();
	databaseAheadMs = 0;
	for (const _ of Array(2)) await clock.observe();
	expect(clock.notice).toBeNull();
	expect(logs).toEqual([expect.stringContaining(text), "the clocks of this node and the database agree again"]);
});
