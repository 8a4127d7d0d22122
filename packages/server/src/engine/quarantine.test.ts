import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { MemoryWorld } from "../../test/storage/memory/world.ts";
import { QUARANTINE, type Storage } from "../storage/port.ts";
import { type QuarantineOptions, startQuarantine } from "./quarantine.ts";

let memory: MemoryWorld;
let storage: Storage;
beforeEach(async () => {
	memory = await MemoryWorld.open();
	({ storage } = memory.world);
});
afterEach(() => memory.world.dispose());

const MARK = { since: 1, backupAt: null };
const put = () => storage.setSetting({ name: QUARANTINE, value: JSON.stringify(MARK) });

/** Called when the database begins another epoch. */
const onEpoch = new Set<() => void>();

/** One of several nodes. */
function start(
	getSetting: Storage["getSetting"] = (p) => storage.getSetting(p),
	{ clock = new VirtualClock(), onReleased = () => undefined }: Partial<QuarantineOptions> = {},
) {
	const peers = {
		onEpoch(listener: () => void) {
			onEpoch.add(listener);
			return () => onEpoch.delete(listener);
		},
	};
	return startQuarantine({
		storage: { peers: peers as never, getSetting, endQuarantine: () => storage.endQuarantine() },
		clock,
		onReleased,
		logger: { warn: () => undefined } as never,
	});
}

// It said that there was nothing to release.
test("a node that hasn't noticed the quarantine yet reads the mark, and releases the database", async () => {
	let released = 0;
	const node = await start(undefined, { onReleased: () => released++ });
	await put();
	expect(node.mark).toBeNull();
	expect(await node.read()).toEqual(MARK);
	await storage.endQuarantine();
	expect(await node.read()).toBeNull();
	await put();
	expect(await node.release()).toBe(true);
	expect(await storage.getSetting({ name: QUARANTINE })).toBeNull();
	expect(await node.release()).toBe(false);
	expect(released).toBe(1);
	await node.stop();
});

test("a node notices within half a minute that a quarantine began, and within a second that it ended", async () => {
	const clock = new VirtualClock();
	const node = await start(undefined, { clock });
	const pass = async (ms: number) => {
		clock.advance(ms);
		for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
		return node.mark;
	};
	await put();
	expect([await pass(29_999), await pass(1)]).toEqual([null, MARK]);
	await storage.endQuarantine();
	expect([await pass(999), await pass(1)]).toEqual([MARK, null]);
	await node.stop();
});

// It noticed only at its next regular look, and deleted rows of the restored database until then.
test("a node looks for a quarantine as soon as the database begins another epoch", async () => {
	const looks: Promise<string | null>[] = [];
	const node = await start((p) => {
		const look = storage.getSetting(p);
		looks.push(look);
		return look;
	});
	await put();
	for (const begin of onEpoch) begin();
	await new Promise((resolve) => setImmediate(resolve));
	await Promise.all(looks);
	expect([looks.length, node.mark]).toEqual([2, MARK]);
	await node.stop();
	expect(onEpoch.size).toBe(0);
});

test("callers share a look that hasn't begun", async () => {
	const answer = Promise.withResolvers<void>();
	let asked = 0;
	const node = await start(async (p) => {
		if (++asked > 1) await answer.promise;
		return storage.getSetting(p);
	});
	const first = node.read();
	await new Promise((resolve) => setImmediate(resolve));
	await put();
	const others = Array.from({ length: 9 }, () => node.read());
	answer.resolve();
	await first;
	expect(await Promise.all(others)).toEqual(others.map(() => MARK));
	expect(asked).toBe(3);
	await node.stop();
});

test("an answer from before the release doesn't replace the one after it", async () => {
	await put();
	const late = Promise.withResolvers<void>();
	let asked = 0;
	const node = await start(async (p) => {
		const value = await storage.getSetting(p);
		if (++asked === 2) await late.promise;
		return value;
	});
	const reading = node.read();
	const releasing = node.release();
	late.resolve();
	await Promise.all([reading, releasing]);
	expect(node.mark).toBeNull();
	await node.stop();
});
