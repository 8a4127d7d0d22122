import { describe, expect, test } from "vitest";
import { ALL_TYPES, DAY_MS, type EngineRig, type ScriptedResponse, type StartRig } from "./engine-rig.ts";

const KIB = 1_024;
const TYPE = ALL_TYPES[0]!;

/** What lanes keep in memory of their logs. */
export function describeWindows(start: StartRig): void {
	describe("windows of the log", () => {
		test("lanes that are behind with hanging receivers stay within the budget, and everything arrives in order", async () => {
			const limit = 64 * KIB;
			let reads = 0;
			await using rig = await start(
				(storage) => {
					const readLog = storage.readLog.bind(storage);
					storage.readLog = (...args) => {
						reads += 1;
						return readLog(...args);
					};
					return storage;
				},
				DAY_MS,
				{ sendsInFlight: 4, windowBytes: limit },
			);
			const urls: string[] = [];
			// Webhooks with different types don't share windows.
			for (const [n, other] of ALL_TYPES.slice(1, 13).entries())
				urls.push((await rig.webhook(`behind-${n}`, { events: [TYPE, other] })).url);
			const waiting: ((answer: ScriptedResponse) => void)[] = [];
			rig.sender.script = () => new Promise((resolve) => waiting.push(resolve));
			const ids: string[] = [];
			for (let n = 0; n < 6; n++) ids.push(await publishOf(rig, 15 * KIB));
			let most = 0;
			for (let sent = 0; sent < urls.length * ids.length; sent++) {
				await rig.sentCount(sent + 1);
				await rest();
				most = Math.max(most, usedOf(rig));
				waiting.shift()!(200);
			}
			await rig.settledCount(urls.length * ids.length);
			for (const url of urls) expect(rig.sender.to(url)).toEqual(ids);
			expect(most).toBeLessThanOrEqual(limit);
			expect(most).toBeGreaterThan(limit / 2);
			// Each send needed at most one read, apart from those before there was anything to send.
			expect(reads).toBeGreaterThan(urls.length);
			expect(reads).toBeLessThanOrEqual(urls.length * (2 * ids.length + 2));
			expect(rig.engine.budgets.find(({ name }) => name === "window_bytes")!.limit).toBe(limit);
			expect(usedOf(rig)).toBeLessThanOrEqual(limit);
		});

		// It stayed until other events needed the room: up to 32 MiB, and with small events several times that.
		test("what has been sent leaves memory, whether it was published just before or read from the log", async () => {
			await using rig = await start();
			const [early, late, paused] = [
				await rig.webhook("early"),
				await rig.webhook("late"),
				await rig.webhook("paused"),
			];
			const setStatus = ({ id }: { readonly id: string }, status: "active" | "paused") =>
				rig.change(() => rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status } }));
			await setStatus(late, "paused");
			await setStatus(paused, "paused");
			const ids = await rig.publish(20);
			await rig.settledCount(ids.length);
			await rest();
			expect(usedOf(rig)).toBe(0);
			await setStatus(late, "active");
			await rig.settledCount(2 * ids.length);
			await rest();
			for (const { url } of [early, late]) expect(rig.sender.to(url)).toEqual(ids);
			expect(usedOf(rig)).toBe(0);
		});
	});
}

/** Bytes of events in memory. */
function usedOf(rig: EngineRig): number {
	return rig.engine.budgets.find(({ name }) => name === "window_bytes")!.used;
}

async function publishOf(rig: EngineRig, bytes: number): Promise<string> {
	const data = JSON.stringify({ filling: "x".repeat(bytes) });
	const result = await rig.engine.publish(rig.projectId, [{ type: TYPE, data }]);
	if (result.kind !== "published") throw new Error(`not published: ${result.kind}`);
	return result.events[0]!.id;
}

/** Resolves when only timers are left to wait for. */
async function rest(): Promise<void> {
	for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}
