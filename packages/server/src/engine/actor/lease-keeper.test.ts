import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { silentLogger } from "../../base/logger.ts";
import type { Lease, Storage } from "../../storage/port.ts";
import type { Actor } from "./actor.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { Roster } from "./roster.ts";

const TERM_MS = 10_000;

/** A node with one project, whose renewals are answered when the test says so. */
function setUp() {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const roster = new Roster();
	const lease: Lease = { projectId: "p1", generation: 1, expiresAt: clock.now() + TERM_MS };
	roster.add({ projectId: "p1", lease, renewed() {}, idleSince: null, end() {} } as unknown as Actor);
	const renewals: { readonly at: number; readonly answer: () => void }[] = [];
	const storage: Partial<Storage> = {
		renewLeases: (_, leases) =>
			new Promise((resolve) => {
				renewals.push({ at: clock.elapsed() - begun, answer: () => resolve({ renewed: [...leases], locked: [] }) });
			}),
	};
	const keeper = new LeaseKeeper(
		{ storage: storage as Storage, clock, logger: silentLogger, leaseTermMs: TERM_MS },
		{ holder: "node", roster, fairShare: null, onLapsed: () => {}, onGivenBack: () => {} },
	);
	return { clock, keeper, renewals };
}

// The older one, written last, ended a term in storage that this node trusted by the newer one.
test("a renewal that is overdue waits for the one that is under way", async () => {
	const { clock, keeper, renewals } = setUp();
	keeper.start();
	clock.advance(TERM_MS / 2);
	await turn();
	expect(renewals).toHaveLength(1);
	clock.advance(TERM_MS);
	let isOver = false;
	const overdue = keeper.renewOverdue().then(() => {
		isOver = true;
	});
	await turn();
	expect(renewals).toHaveLength(1);
	renewals[0]!.answer();
	await turn();
	// It was asked for too long ago to go by, so another one follows, as of now.
	expect([renewals.length, renewals[1]?.at, isOver]).toEqual([2, 1.5 * TERM_MS, false]);
	renewals[1]!.answer();
	await overdue;
});

test("renewals follow one another, whoever asks for them", async () => {
	const { keeper, renewals } = setUp();
	const both = [keeper.renew(), keeper.renew()];
	await turn();
	expect(renewals).toHaveLength(1);
	renewals[0]!.answer();
	await turn();
	expect(renewals).toHaveLength(2);
	renewals[1]!.answer();
	await Promise.all(both);
});

/** All that waits for nothing else has come to rest. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
