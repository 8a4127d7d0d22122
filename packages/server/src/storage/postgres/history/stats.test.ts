import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { START, type World } from "../../../../test/storage/conformance/world.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";

const HOUR = 3_600_000;

let server: PostgresServer;
let url: string;
let world: World;

beforeAll(async () => {
	server = await PostgresServer.start();
	url = await server.createDatabase();
	world = await worldOf((clock) => openNode(url, clock));
});
afterAll(async () => {
	await world.dispose();
	await server.stop();
});

/** How many settles have left counts that aren't rolled up yet. */
async function waiting(): Promise<number> {
	const [row] = await server.execute("SELECT count(*)::integer AS n FROM posthorn.attempt_counts", url);
	return row!.n as number;
}

test("enough attempts or settles are rolled up, and each attempt counts once at every moment", async () => {
	const project = await world.project();
	const webhook = await world.webhook(project, ["a"]);
	const [event] = await world.publish(project, "a");
	const lease = await world.lease(project);
	let settled = 0;
	let tests = 0;
	const counted = async () => {
		const { total } = await world.storage.readStats({
			projectId: project,
			query: { since: START, until: START + HOUR, stepMs: HOUR },
		});
		return total.delivered;
	};
	const { createdAtGiven: _, ...sample } = world.event(project, "a");
	await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
	const settle = async (attempts: number, testAttempts = 0) => {
		const batch = Array.from({ length: attempts }, () =>
			world.attempt(webhook, event!, { attempt: ++settled, startedAt: START }),
		);
		for (let i = 0; i < testAttempts; i++)
			batch.push(world.attempt(webhook, { seq: -1, type: "a" }, { attempt: ++tests, startedAt: START }));
		expect(await world.settle(lease, { attempts: batch })).toBe("settled");
	};
	for (let each = 0; each < 3; each++) await settle(1_000);
	expect([await waiting(), await counted()]).toEqual([3, 3_000]);
	for (let each = 0; each < 27; each++) {
		await settle(1_000);
		expect(await counted()).toBe(settled);
	}
	await until("the rest to be counted", async () => (await waiting()) === 0);
	expect(await counted()).toBe(30_000);
	for (let each = 0; each < 999; each++) await settle(1, 2);
	expect([await waiting(), await counted()]).toEqual([999, 30_999]);
	await settle(1);
	await until("the rest to be counted", async () => (await waiting()) === 0);
	expect(await counted()).toBe(31_000);
});
