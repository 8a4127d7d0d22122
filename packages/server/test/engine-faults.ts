import { until } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { StorageError } from "../src/storage/port.ts";
import { DAY_MS, type EngineRig, SPEC_DELAYS_MS, type StartRig } from "./engine-rig.ts";

/** The next attempt to start fails because of a bug. */
function breakNextAttempt(rig: EngineRig): void {
	const next = rig.ids.next.bind(rig.ids);
	rig.ids.next = (kind) => {
		if (kind !== "attempt") return next(kind);
		rig.ids.next = next;
		throw new Error("A bug.");
	};
}

/** Resolves when no part of the send budgets is in use. */
async function untilFree(rig: EngineRig): Promise<void> {
	const sends = rig.engine.budgets.filter(({ name }) => name.includes("send"));
	await until("the send budgets to be free", () => sends.every(({ used }) => used === 0));
}

/** Storage errors, and a node that was suspended for too long. */
export function describeFaults(start: StartRig): void {
	describe("faults", () => {
		test("outcomes wait while storage refuses commits, and nothing is lost or sent twice", async () => {
			let failures = 0;
			let recovered = false;
			await using rig = await start((storage) => {
				const settle = storage.settle.bind(storage);
				storage.settle = (p) => {
					recovered ||= failures === 0;
					if (failures-- > 0) return Promise.reject(new StorageError("full", "The disk is full."));
					return settle(p);
				};
				return storage;
			});
			const { url } = await rig.webhook("patient");
			failures = 5;
			recovered = false;
			const ids = await rig.publish(20);
			await until("storage to recover", () => {
				rig.clock.advance(100);
				return recovered;
			});
			await rig.settledCount(20);
			expect(rig.sender.to(url)).toEqual(ids);
			expect(rig.settled.map((a) => a.eventId)).toEqual(ids);
		});

		test("a node suspended past its lease settles nothing once another owns the project", async () => {
			const results: string[] = [];
			await using rig = await start((storage) => {
				const settle = storage.settle.bind(storage);
				storage.settle = async (p) => {
					const answers = await settle(p);
					results.push(...answers);
					return answers;
				};
				return storage;
			});
			const { id, url } = await rig.webhook("asleep");
			let answer = (_status: number): void => {};
			rig.sender.script = () => new Promise<number>((resolve) => (answer = resolve));
			const [eventId] = await rig.publish(1);
			await rig.sentCount(1);
			// The machine sleeps: time passes, and no timer of this node fires before another node has taken the project.
			const late = rig.clock.now() + 60_000;
			const now = rig.clock.now.bind(rig.clock);
			rig.clock.now = () => late;
			// This node may briefly hold the row to acknowledge what it has loaded.
			const take = () => rig.storage.acquireLeases({ holder: "another node", limit: 1, projectIds: [rig.projectId] });
			await until("another node to hold the project", async () => (await take()).length > 0);
			answer(200);
			await until("the settle to return", () => results.length > 0);
			expect(results).toEqual(["stale"]);
			rig.clock.now = now;
			expect(
				await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: eventId! }),
			).toMatchObject({
				state: "attempting",
				attempts: [],
			});
			expect(rig.sender.to(url)).toHaveLength(1);
			expect(rig.settled).toEqual([]);
		});

		test("an internal error frees the slot of its attempt", async () => {
			await using rig = await start(undefined, DAY_MS, { sendsInFlight: 1 });
			await rig.webhook("a", { maxInFlight: 3 });
			const waiting: ((answer: number) => void)[] = [];
			rig.sender.script = () => new Promise((resolve) => waiting.push(resolve));
			await rig.publishAll(2);
			await rig.sentCount(1);
			// The second attempt gets a slot as the first one's is released.
			breakNextAttempt(rig);
			waiting[0]!(200);
			await untilFree(rig);
			expect(rig.engine.node).toMatchObject({ refused: 1 });
		});

		test("an internal error while several retries start frees their slots", async () => {
			await using rig = await start(undefined, DAY_MS);
			await rig.webhook("a", { maxInFlight: 3 });
			rig.sender.script = () => 500;
			await rig.publishAll(3);
			await rig.settledCount(3);
			breakNextAttempt(rig);
			rig.clock.advance(SPEC_DELAYS_MS[0]!);
			await until("the project to be idle", () => rig.engine.node.refused > 0);
			await untilFree(rig);
		});
	});
}
