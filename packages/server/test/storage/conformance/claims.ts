import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Claim, QUARANTINE } from "../../../src/storage/port.ts";
import type { World } from "./world.ts";

const HOLDER = "node_a";

/** An engine that many nodes share, and how it compares their claims with its data. */
export interface ClaimsHarness {
	readonly world: World;
	/** @param epoch in which the claims' leases were taken, among those of the node */
	kept(epoch: number, claims: readonly Claim[]): Promise<Claim[]>;
}

/** Which of its projects a node keeps when the database continues in another epoch. */
export function describeClaims(name: string, open: () => Promise<ClaimsHarness>): void {
	describe(`claims on ${name}`, () => {
		let harness: ClaimsHarness;
		let world: World;
		beforeAll(async () => {
			harness = await open();
			world = harness.world;
		});
		afterAll(() => world?.dispose());

		/** What a node claims of its own project: two events, the first of them delivered. */
		async function claimOne(): Promise<Claim> {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [first, second] = await world.publish(project, "a", "a");
			const lease = await world.lease(project, HOLDER);
			const attempt = await world.finish(lease, webhook, first!, "delivered");
			const { revision, lastSeq } = (await world.storage.loadLanes({ projectId: project })).seen;
			await world.storage.peers!.acknowledge({ acknowledgements: [{ lease, revision }] });
			return { lease, holder: HOLDER, revision, lastSeq, event: { seq: second!.seq, id: second!.id }, attempt };
		}

		test("a claim holds while everything it depends on exists", async () => {
			const claim = await claimOne();
			const claims = [claim, { ...claim, event: null }, { ...claim, attempt: null }, { ...claim, lastSeq: 1 }];
			expect(await harness.kept(0, claims)).toEqual(claims);
		});

		test.for<readonly [string, (claim: Claim) => Partial<Claim>]>([
			["another node holds the lease", () => ({ holder: "node_b" })],
			["the lease had changed hands since", ({ lease }) => ({ lease: { ...lease, generation: lease.generation + 1 } })],
			["the lease is of another project", ({ lease }) => ({ lease: { ...lease, projectId: "prj_none" } })],
			["a change that the node applied is missing", ({ revision }) => ({ revision: revision + 1 })],
			["the log is shorter", ({ lastSeq }) => ({ lastSeq: lastSeq + 1 })],
			["the last event is missing", ({ event }) => ({ event: { ...event!, seq: 3 } })],
			["another event has the number of the last one", ({ event }) => ({ event: { ...event!, id: "evt_other" } })],
			["the last attempt is missing", ({ attempt }) => ({ attempt: { ...attempt!, attempt: 2 } })],
			[
				"the last attempt was made by another node",
				({ attempt }) => ({ attempt: { ...attempt!, id: world.id("attempt") } }),
			],
		])("a claim does not hold when %s", async ([, change]) => {
			const claim = await claimOne();
			expect(await harness.kept(0, [{ ...claim, ...change(claim) }, claim])).toEqual([claim]);
		});

		test("a claim from before the previous epoch doesn't hold", async () => {
			const claim = await claimOne();
			expect(await harness.kept(0, [claim])).toEqual([claim]);
			expect(await harness.kept(1, [claim])).toEqual([]);
		});

		// A node whose database was replaced by an earlier state sent events that were published in quarantine.
		test("no claim holds in quarantine", async () => {
			const claim = await claimOne();
			await world.storage.setSetting({ name: QUARANTINE, value: JSON.stringify({ since: 1, backupAt: null }) });
			expect(await harness.kept(0, [claim])).toEqual([]);
			await world.storage.endQuarantine();
			expect(await harness.kept(0, [claim])).toEqual([claim]);
		});

		test("a claim does not hold once the lease is released", async () => {
			const claim = await claimOne();
			expect(await harness.kept(0, [claim])).toEqual([claim]);
			await world.storage.releaseLease({
				lease: claim.lease,
				wakeAt: null,
				seen: { lastSeq: claim.lastSeq, revision: claim.revision },
			});
			expect(await harness.kept(0, [claim])).toEqual([]);
		});
	});
}
