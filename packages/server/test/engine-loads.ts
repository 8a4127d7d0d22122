import { until } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import type { Params, Storage } from "../src/storage/port.ts";
import type { StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/** Counts the lanes read. */
class Loads {
	all = 0;
	lanes = 0;
	/** Until this resolves, reads don't return. */
	gate: Promise<void> | null = null;

	readonly wrap = (storage: Storage): Storage => {
		const count = async (p: Params<"loadLanes">) => {
			if (p.webhookId === undefined) this.all += 1;
			const loaded = await storage.loadLanes(p);
			this.lanes += loaded.lanes.length;
			await this.gate;
			return loaded;
		};
		return new Proxy(storage, {
			get(target, key) {
				if (key === "loadLanes") return count;
				const value = Reflect.get(target, key);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
	};

	reset(): void {
		this.all = 0;
		this.lanes = 0;
	}
}

const urlOf = (name: string): string => `https://${name}.example/`;

/** Which lanes are read when a project's webhooks change. */
export function describeLoads(start: StartRig): void {
	describe("loads of lanes", () => {
		// Creating a webhook used to reload all others: creating 5,000 took minutes.
		test("each change of a webhook reads one lane, however many the project has", async () => {
			const loads = new Loads();
			await using rig = await start(loads.wrap);
			await rig.webhook("first");
			await rig.publish(1);
			await rig.settledCount(1);
			loads.reset();
			for (let n = 0; n < 30; n++) await rig.webhook(`hook${n}`);
			expect(loads).toMatchObject({ all: 0, lanes: 30 });
			await rig.publish(1);
			await rig.settledCount(32);
		});

		// A refused change used to reload all lanes, as if everything had changed.
		test("a refused change reads no lanes, and events published meanwhile are sent", async () => {
			const loads = new Loads();
			await using rig = await start(loads.wrap);
			await rig.webhook("one");
			await rig.publish(1);
			await rig.settledCount(1);
			loads.reset();
			await rig.change(() => rig.publish(1), "nothing");
			await rig.settledCount(2);
			expect(loads).toMatchObject({ all: 0, lanes: 0 });
		});

		test("a change returns only once the lanes apply it", async () => {
			const loads = new Loads();
			await using rig = await start(loads.wrap);
			const { id } = await rig.webhook("changed");
			await rig.publish(1);
			await rig.settledCount(1);
			loads.reset();
			const gate = Promise.withResolvers<void>();
			loads.gate = gate.promise;
			let isOver = false;
			const change = rig
				.change(
					() =>
						rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { description: "changed" } }),
					{ webhookId: id },
				)
				.then(() => {
					isOver = true;
				});
			await until("the lane to be read", () => loads.lanes > 0);
			expect(loads.lanes).toBe(1);
			await new Promise((resolve) => setImmediate(resolve));
			expect(isOver).toBe(false);
			gate.resolve();
			await change;
		});

		test("changes stored before lanes are read share the read", async () => {
			const loads = new Loads();
			await using rig = await start(loads.wrap);
			const { id } = await rig.webhook("shared");
			await rig.publish(1);
			await rig.settledCount(1);
			loads.reset();
			let left = 20;
			const stored = Promise.withResolvers<void>();
			const change = async (): Promise<void> => {
				await rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { description: "changed" } });
				if (--left === 0) stored.resolve();
				await stored.promise;
			};
			await Promise.all(Array.from({ length: left }, () => rig.change(change)));
			expect(loads.all).toBeGreaterThan(0);
			expect(loads.all).toBeLessThanOrEqual(3);
		});

		test("concurrent changes by other nodes apply, too", async () => {
			await using rig = await start();
			const [one, other] = [await rig.webhook("one"), await rig.webhook("other")];
			await rig.publish(1);
			await rig.settledCount(2);
			const move = (id: string, name: string) =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { url: urlOf(name) } });
			await rig.change(
				async () => {
					await move(one.id, "one-moved");
					await move(other.id, "other-moved");
				},
				{ webhookId: one.id },
			);
			await rig.publish(1);
			await rig.settledCount(4);
			await rig.change(
				async () => {
					await move(one.id, "one-again");
					// The lanes read before the other webhook changes.
					await rig.engine.change(
						rig.projectId,
						() => Promise.resolve(),
						() => "project",
					);
					await move(other.id, "other-again");
				},
				{ webhookId: one.id },
			);
			await rig.publish(1);
			await rig.settledCount(6);
			const sent = rig.sender.sent.slice(2).map(({ url }) => url);
			expect(sent.slice(0, 2).toSorted()).toEqual([urlOf("one-moved"), urlOf("other-moved")]);
			expect(sent.slice(2).toSorted()).toEqual([urlOf("one-again"), urlOf("other-again")]);
		});

		test("a read that was overtaken by a later one changes nothing", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id } = await rig.webhook("one");
			await rig.publish(1);
			await rig.settledCount(1);
			const move = (name: string) =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { url: urlOf(name) } });
			using late = storage.holdResult("loadLanes");
			const first = rig.change(() => move("first"), { webhookId: id });
			await late.reached;
			await rig.change(() => move("second"), { webhookId: id });
			late.release();
			await first;
			await rig.publish(1);
			await rig.settledCount(2);
			expect(rig.sender.sent.at(-1)?.url).toBe(urlOf("second"));
		});

		test("while one webhook changes, the events of others wait, and go out afterwards", async () => {
			await using rig = await start();
			const [one, other] = [await rig.webhook("one"), await rig.webhook("other")];
			await rig.publish(1);
			await rig.settledCount(2);
			const [waiting] = await rig.change(
				async () => {
					await rig.storage.updateWebhook({
						projectId: rig.projectId,
						webhookId: one.id,
						patch: { url: urlOf("moved") },
					});
					const published = await rig.publish(1);
					await new Promise((resolve) => setImmediate(resolve));
					expect(rig.sender.sent).toHaveLength(2);
					return published;
				},
				{ webhookId: one.id },
			);
			await rig.settledCount(4);
			expect(rig.sender.to(other.url)).toContain(waiting);
			expect(rig.sender.to(urlOf("moved"))).toEqual([waiting]);
		});

		test("a deleted webhook gets nothing more, and a new one gets the next events", async () => {
			await using rig = await start();
			const [kept, deleted] = [await rig.webhook("kept"), await rig.webhook("deleted")];
			await rig.publish(1);
			await rig.settledCount(2);
			await rig.change(() => rig.storage.deleteWebhook({ projectId: rig.projectId, webhookId: deleted.id }), {
				webhookId: deleted.id,
			});
			const created = await rig.webhook("created");
			await rig.publish(1);
			await rig.settledCount(4);
			expect([kept, deleted, created].map(({ url }) => rig.sender.to(url).length)).toEqual([2, 1, 1]);
		});
	});
}
