import { expect, test } from "vitest";
import { ROOM } from "../../base/budgets.ts";
import { StorageError } from "../port.ts";
import { Room } from "./room.ts";

function createRoom() {
	const state = { now: 0, isFull: true, probes: 0 };
	const probe = async (): Promise<void> => {
		state.probes++;
		if (!state.isFull) return;
		const error = new StorageError("full", `Probe ${state.probes} failed.`);
		room.failed(error);
		throw error;
	};
	const room = new Room(probe, () => state.now);
	return { room, state };
}

test("probes nothing unless a write failed because the disk was full", async () => {
	const { room, state } = createRoom();
	room.failed(new StorageError("lost", "The connection was reset."));
	room.failed(new TypeError("A bug."));
	await room.check();
	expect(state.probes).toBe(0);
});

// A node was ready again between two refusals, and three seconds after the last one with the disk still full.
test("after such a failure, there is no room until a probe succeeds, which runs once in a while and only if someone asks", async () => {
	const { room, state } = createRoom();
	room.failed(new StorageError("full", "The disk is full."));
	await expect(room.check()).rejects.toThrow("The disk is full.");
	state.now += ROOM.probeEveryMs - 1;
	await expect(room.check()).rejects.toThrow("The disk is full.");
	state.now += 1;
	await expect(room.check()).rejects.toThrow("Probe 1 failed.");
	for (let i = 0; i < 10; i++) await expect(room.check()).rejects.toThrow("Probe 1 failed.");
	state.now += ROOM.probeEveryMs;
	state.isFull = false;
	await room.check();
	await room.check();
	expect(state.probes).toBe(2);
});

test("a write that fails during a successful probe counts", async () => {
	const { room, state } = createRoom();
	room.failed(new StorageError("full", "The disk is full."));
	state.now += ROOM.probeEveryMs;
	state.isFull = false;
	const checked = room.check();
	room.failed(new StorageError("full", "Full again."));
	await expect(checked).rejects.toThrow("Full again.");
});

test("those who ask during a probe don't start another one", async () => {
	const gate = Promise.withResolvers<void>();
	let probes = 0;
	let now = 0;
	const room = new Room(
		() => {
			probes++;
			return gate.promise;
		},
		() => now,
	);
	room.failed(new StorageError("full", "The disk is full."));
	now += ROOM.probeEveryMs;
	const first = room.check();
	await expect(room.check()).rejects.toThrow("The disk is full.");
	gate.resolve();
	await first;
	expect(probes).toBe(1);
});
