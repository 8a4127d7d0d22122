import { until } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { WINDOWS } from "../src/base/budgets.ts";
import { DAY_MS, type EngineRig, type ScriptedResponse, SPEC_DELAYS_MS, type StartRig } from "./engine-rig.ts";

const TEST_TYPE = "chargeback.created";

/** A receiver that doesn't respond until told to. */
class Hanging {
	#waiting: ((answer: ScriptedResponse) => void)[] = [];
	#over = false;

	readonly script = (): ScriptedResponse | Promise<ScriptedResponse> =>
		this.#over ? 200 : new Promise((resolve) => this.#waiting.push(resolve));

	/** Responds to all waiting requests and to later ones. */
	end(): void {
		this.#over = true;
		for (const resolve of this.#waiting.splice(0)) resolve(200);
	}
}

/** Publishes this many events that each fail this many times. The lease must outlast this. */
async function fail(rig: EngineRig, count: number, times = 1): Promise<string[]> {
	rig.sender.script = () => 500;
	const ids = await rig.publishAll(count);
	for (let attempt = 1; attempt <= times; attempt++) {
		await rig.settledCount(count * attempt);
		if (attempt < times) rig.clock.advance(SPEC_DELAYS_MS[attempt - 1]!);
	}
	return ids;
}

async function sendTest(rig: EngineRig, webhookId: string, projectId = rig.projectId): Promise<string> {
	const asked = await rig.engine.sendTest(projectId, webhookId, TEST_TYPE);
	if (asked.kind !== "queued") throw new Error(`not queued: ${asked.kind}`);
	return asked.eventId;
}

const wasSent = (rig: EngineRig, eventId: string): Promise<void> =>
	rig.sentWhen(`${eventId} to be sent`, (sent) => sent.some((request) => request.eventId === eventId));

/** First attempts, retries, replays and requested sends share the node's capacity. */
export function describeFairness(start: StartRig): void {
	describe("fairness", () => {
		test("test events don't wait for their webhook's due retries, even if its receiver hangs", async () => {
			await using rig = await start(undefined, DAY_MS);
			const { id } = await rig.webhook("hangs");
			const hanging = new Hanging();
			await fail(rig, 600);
			rig.sender.script = hanging.script;
			rig.clock.advance(SPEC_DELAYS_MS[0]!);
			await rig.sentCount(600 + 16);
			const sent = rig.sender.sent.length;
			for (let n = 0; n < 4; n++) await wasSent(rig, await sendTest(rig, id));
			expect(rig.sender.sent).toHaveLength(sent + 4);
			hanging.end();
		});

		test("an event does not wait behind another project's event for 100 webhooks", async () => {
			await using rig = await start(undefined, DAY_MS);
			const quiet = await rig.project();
			const { url } = await rig.webhook("quiet", { projectId: quiet });
			for (let n = 0; n < 100; n++) await rig.webhook(`many-${n}`);
			await rig.publishAll(1, "delivery.success", quiet);
			await rig.publishAll(1);
			await rig.settledCount(101);
			rig.sender.forget();
			// The first commit holds only the first event; the others share the second.
			const first = rig.publishAll(1, "delivery.success", quiet);
			await Promise.all([first, rig.publishAll(1), rig.publishAll(1, "delivery.success", quiet)]);
			await rig.settledCount(101 + 102);
			expect(rig.sender.sent).toHaveLength(102);
			const places = rig.sender.sent.flatMap((request, place) => (request.url === url ? [place] : []));
			expect(Math.max(...places)).toBeLessThanOrEqual(1 + WINDOWS.lanesPerTurn);
			expect(new Set(rig.sender.sent.map((request) => request.url)).size).toBe(101);
		});

		test("a single replay doesn't wait for a bulk replay", async () => {
			await using rig = await start(undefined, DAY_MS);
			const { id, url } = await rig.webhook("replayed");
			await fail(rig, 40, 8);
			rig.clock.advance(1);
			const hanging = new Hanging();
			rig.sender.script = hanging.script;
			expect(
				(
					await rig.storage.replayMatching({
						projectId: rig.projectId,
						selection: { webhookIds: [id], statuses: ["failed"] },
						at: rig.clock.now(),
						limit: 39,
					})
				).count,
			).toBe(39);
			rig.wake();
			const before = 40 * 8;
			await rig.sentCount(before + 1);
			const one = rig.settled.at(-1)!.eventId;
			expect(
				await rig.storage.replayDelivery({
					projectId: rig.projectId,
					webhookId: id,
					eventId: one,
					at: rig.clock.now(),
				}),
			).toMatchObject({
				kind: "queued",
			});
			rig.wake();
			await rig.sentWhen("the single replay", (sent) => sent.slice(before).some(({ eventId }) => eventId === one));
			expect(rig.sender.to(url).slice(before)).toHaveLength(2);
			hanging.end();
			await rig.settledCount(before + 40);
		});

		test("a test event doesn't wait for slots that other projects hold", async () => {
			await using rig = await start(undefined, undefined, { sendsInFlight: 16 });
			const { id } = await rig.webhook("quiet");
			const hanging = new Hanging();
			rig.sender.script = hanging.script;
			for (let n = 0; n < 5; n++) {
				const projectId = await rig.project();
				await rig.webhook(`hangs-${n}`, { projectId, maxInFlight: 20 });
				await rig.publishAll(20, "delivery.success", projectId);
			}
			// Two of the sixteen are reserved.
			await rig.sentCount(14);
			await wasSent(rig, await sendTest(rig, id));
			hanging.end();
			await rig.settledCount(101);
		});

		test("a test event that found all slots taken starts as soon as one of the reserved ones ends", async () => {
			await using rig = await start(undefined, undefined, { sendsInFlight: 16 });
			const { id } = await rig.webhook("quiet");
			const hanging = new Hanging();
			const tested = new Hanging();
			rig.sender.script = ({ target }) => (target.url.includes("tested") ? tested : hanging).script();
			// Two of the sixteen are reserved.
			for (let n = 0; n < 5; n++) {
				const projectId = await rig.project();
				await rig.webhook(`hangs-${n}`, { projectId, maxInFlight: 20 });
				await rig.publishAll(20, "delivery.success", projectId);
			}
			await rig.sentCount(14);
			for (let n = 0; n < 2; n++) {
				const projectId = await rig.project();
				const webhook = await rig.webhook(`tested-${n}`, { projectId });
				await wasSent(rig, await sendTest(rig, webhook.id, projectId));
			}
			const eventId = await sendTest(rig, id);
			const asked = (): number => rig.engine.budgets.find(({ name }) => name === "requested_sends")!.refusals;
			await until("a requested send to be refused", () => asked() > 0);
			expect(rig.sender.sent).toHaveLength(16);
			tested.end();
			await wasSent(rig, eventId);
			hanging.end();
			await rig.settledCount(103);
		});

		test("a project whose receivers hang on large bodies uses no more than its share of the bytes", async () => {
			await using rig = await start(undefined, DAY_MS);
			const hanging = new Hanging();
			for (let n = 0; n < 4; n++) await rig.webhook(`hangs-${n}`, { maxInFlight: 100 });
			rig.sender.script = ({ target }) => (target.url.startsWith("https://hangs") ? hanging.script() : 200);
			const data = JSON.stringify({ filling: "x".repeat(250_000) });
			// Half of the budget is about 134 of them.
			for (let n = 0; n < 50; n++) await rig.engine.publish(rig.projectId, [{ type: TEST_TYPE, data }]);
			const bytes = rig.engine.budgets.find(({ name }) => name === "sending_bytes")!;
			await until("half the window to be used", () => bytes.used >= bytes.limit / 2);
			const most = bytes.limit / 2 + 262_144;
			expect(bytes.used).toBeLessThanOrEqual(most);
			expect(rig.sender.sent.length).toBeLessThan(200);

			const other = await rig.project();
			const { url } = await rig.webhook("answers", { projectId: other, maxInFlight: 10 });
			for (let n = 0; n < 20; n++) await rig.engine.publish(other, [{ type: TEST_TYPE, data }]);
			await rig.settledCount(20);
			expect(rig.sender.to(url)).toHaveLength(20);
			expect(bytes.used).toBeLessThanOrEqual(most);
			hanging.end();
			await rig.settledCount(20 + 200);
			expect(bytes.used).toBe(0);
		});

		test("with few slots, a recovered webhook gets new events and retries alternately", async () => {
			await using rig = await start(undefined, DAY_MS, { sendsInFlight: 1 });
			await rig.webhook("recovered");
			const failed = await fail(rig, 20);
			const hanging = new Hanging();
			rig.sender.script = hanging.script;
			rig.clock.advance(SPEC_DELAYS_MS[0]!);
			await rig.sentCount(21);
			await rig.publishAll(20);
			hanging.end();
			await rig.settledCount(60);
			let balance = 0;
			for (const { eventId } of rig.sender.sent.slice(20)) {
				balance += failed.includes(eventId) ? 1 : -1;
				expect(Math.abs(balance)).toBeLessThanOrEqual(2);
			}
			expect(balance).toBe(0);
		});

		test("with few slots, a project's lanes take turns", async () => {
			await using rig = await start(undefined, undefined, { sendsInFlight: 1 });
			const urls: string[] = [];
			for (const name of ["a", "b", "c"]) urls.push((await rig.webhook(name, { maxInFlight: 10 })).url);
			const hanging = new Hanging();
			rig.sender.script = hanging.script;
			await rig.publishAll(10);
			await rig.sentCount(1);
			hanging.end();
			await rig.settledCount(30);
			// The first lane had the first slot, and is first in line for the next.
			for (let n = 1; n < 28; n += 3)
				expect(new Set(rig.sender.sent.slice(n, n + 3).map(({ url }) => url))).toEqual(new Set(urls));
		});

		test.for([
			{ maxInFlight: 1, most: 16 },
			{ maxInFlight: 40, most: 40 },
		])("with $maxInFlight in flight a webhook has $most retries in flight", async ({ maxInFlight, most }) => {
			await using rig = await start(undefined, DAY_MS);
			const { url } = await rig.webhook("wide", { maxInFlight });
			await fail(rig, 60);
			const hanging = new Hanging();
			rig.sender.script = hanging.script;
			rig.clock.advance(SPEC_DELAYS_MS[0]!);
			await rig.sentCount(60 + most);
			hanging.end();
			await rig.settledCount(120);
			expect(rig.sender.mostInFlight.get(url)).toBe(most);
		});

		test("a backlog of expired events is closed on a quiet node, a few in each commit", async () => {
			let most = 0;
			await using rig = await start((storage) => {
				const settle = storage.settle.bind(storage);
				storage.settle = (p) => {
					const closed = p.settlements.flatMap(({ attempts }) => attempts.filter((a) => a.errorCode === "expired"));
					most = Math.max(most, closed.length);
					return settle(p);
				};
				return storage;
			});
			const { id, url } = await rig.webhook("away", { maxInFlight: 300 });
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			for (let n = 0; n < 5; n++) await rig.publishAll(1_000);
			rig.clock.advance(30 * DAY_MS);
			const [fresh] = await rig.publishAll(1);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "active" } }),
			);
			await rig.settledCount(5_001);
			expect(rig.settled.filter(({ errorCode }) => errorCode === "expired")).toHaveLength(5_000);
			expect(rig.sender.to(url)).toEqual([fresh]);
			expect(most).toBeLessThanOrEqual(200);
		});
	});
}
