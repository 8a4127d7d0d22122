import { until } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { PROJECTS } from "../src/base/budgets.ts";
import type { ScriptedResponse, StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const MINUTE_MS = 60_000;
/** More than a node can stop at a time. */
const EVENT_LOOP_TURNS = 100;

/** Projects that a node releases. */
export function describeHandover(start: StartRig): void {
	describe("handover", () => {
		test("a stopping node waits for a project that is already being handed back", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			using release = storage.holdCall("releaseLease");
			// After this long idle, the project is released.
			await storage.pass(rig.clock, 3 * MINUTE_MS);
			await release.reached;
			let stopped = false;
			const stopping = rig.engine.stop().then(() => {
				stopped = true;
			});
			for (let turns = 0; turns < EVENT_LOOP_TURNS; turns++) await storage.quiet();
			expect(stopped).toBe(false);
			release.release();
			await stopping;
			expect(
				await rig.storage.acquireLeases({ holder: "another node", limit: 1, projectIds: [rig.projectId] }),
			).toHaveLength(1);
		});

		test("attempts of a project lost during its handover are refused, and nothing waits for them", async () => {
			const storage = new FaultyStorage();
			let refused = 0;
			let isStale = false;
			await using rig = await start(
				(real) => {
					const { settleHandedOver } = real;
					real.settleHandedOver = async (...args) => {
						const verdict = await settleHandedOver.apply(real, args);
						if (verdict === "stale") refused += 1;
						return verdict;
					};
					const { settle } = real;
					real.settle = async (p) => (isStale ? p.settlements.map(() => "stale") : settle.call(real, p));
					return storage.wrap(real);
				},
				undefined,
				{ activeProjects: 1 },
			);
			const hanging = await rig.webhook("hanging");
			await rig.webhook("answers");
			const answers: ((answer: ScriptedResponse) => void)[] = [];
			const ofOther: ((answer: ScriptedResponse) => void)[] = [];
			rig.sender.script = ({ target }) =>
				new Promise((resolve) => (target.url === hanging.url ? answers : ofOther).push(resolve));
			await rig.publishAll(1);
			await rig.sentCount(2);
			using held = storage.holdCall("settle");
			ofOther[0]!(200);
			await held.reached;
			// It has used up its quantum, and another project is waiting.
			await storage.pass(rig.clock, PROJECTS.quantumMs);
			const other = await rig.project();
			await rig.webhook("other", { projectId: other });
			await rig.publishAll(1, "delivery.success", other);
			await storage.pass(rig.clock, 2_000);
			isStale = true;
			held.release();
			await storage.quiet();
			expect(rig.engine.unsettled).toBe(0);
			answers[0]!(200);
			await until("the settle to be refused", () => refused > 0);
			await storage.quiet();
			expect(rig.engine.unsettled).toBe(0);
			isStale = false;
			rig.sender.script = () => 200;
			for (const answer of ofOther) answer(200);
		});
	});
}
