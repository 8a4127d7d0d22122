import { expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Slot } from "../send/slot.ts";
import { Slots } from "../send/slots.ts";
import { Backpressure } from "./backpressure.ts";
import type { Message, ProjectWork } from "./context.ts";

const LIMIT = 100_000;

/** The capacity of a project on a node whose byte budget another project has used up. */
function start() {
	const slots = new Slots({ clock: new VirtualClock(), totalInFlight: 10, bytesInFlight: LIMIT, largestBody: LIMIT });
	const inbox: Extract<Message, { kind: "freed" }>[] = [];
	const settler = { hasRoom: () => true };
	const post = (message: Message): void => {
		if (message.kind === "freed") inbox.push(message);
	};
	const room = new Backpressure({ projectId: "p", context: { settler, slots }, post } as unknown as ProjectWork);
	const greedy = slots.tryAcquire("greedy", LIMIT)!;
	const used = (): number => slots.budgets.reduce((sum, { used }) => sum + used, 0);
	return { slots, inbox, room, greedy, used };
}

const lane = (webhookId: string): Lane => ({ webhookId }) as Lane;

test("a lane with a small body overtakes one whose body exceeds the free bytes", () => {
	const { slots, inbox, room, greedy } = start();
	const [large, small] = [lane("large"), lane("small")];
	const fast = Array.from({ length: 9 }, (_, n) => slots.tryAcquire(`p${n}`, 100)!);
	expect(room.shared.slotFor(large, 50_000)).toBeNull();
	expect(room.shared.slotFor(small, 100)).toBeNull();
	fast[0]!.release();
	const got: [Lane, Slot][] = [];
	const feed = (one: Lane): void => {
		const slot = room.shared.slotFor(one, one === large ? 50_000 : 100);
		if (slot) got.push([one, slot]);
	};
	const next = (): void => {
		const { slots, slot } = inbox.shift()!;
		room[slots].freed(slot, feed);
	};
	next();
	expect(got.map(([one]) => one)).toEqual([small]);
	fast[1]!.release();
	expect(inbox).toEqual([]);
	greedy.release();
	next();
	expect(got.map(([one]) => one)).toEqual([small, large]);
});

test("a slot reserved for lanes is released when feeding them fails", () => {
	const { inbox, room, greedy, used } = start();
	room.shared.slotFor(lane("a"), 100_000);
	greedy.release();
	const { slots, slot } = inbox.shift()!;
	expect(slot).not.toBeNull();
	const fail = (): void => {
		throw new Error("A bug.");
	};
	expect(() => room[slots].freed(slot, fail)).toThrow("A bug.");
	expect(used()).toBe(0);
});
