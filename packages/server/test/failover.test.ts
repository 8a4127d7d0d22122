/** An engine that stays alive while a standby that lacks the last events takes the primary's place. */
import { PostgresServer, START_TIMEOUT_MS } from "@posthorn/testkit/postgres";
import { expect, test } from "vitest";
import { StorageError } from "../src/storage/port.ts";
import { openPostgresStorage } from "../src/storage/postgres/index.ts";
import { EngineRig, LEASE_TERM_MS } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

// Of thirty events that were acknowledged after the promotion the first twenty were once never sent, nor dead-lettered:
// they had numbers that the engine had seen before.
test(
	"what is acknowledged after the promotion is sent once and in order",
	async () => {
		await using primary = await PostgresServer.start({ own: true });
		// Before there is a standby: one that is there already hears of it later.
		const database = new URL(await primary.createDatabase());
		await using standby = await primary.standby();
		const hosts = [primary, standby].map(({ url }) => new URL(url).host);
		const url = `postgres://test@${hosts.join()}${database.pathname}`;
		const storage = new FaultyStorage();
		await using rig = await EngineRig.start(
			{
				open: (clock) => openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true }),
				remove: async () => undefined,
			},
			storage.wrap,
		);
		const hook = await rig.webhook("a");
		const wide = await rig.webhook("b", { maxInFlight: 4 });
		const before = await rig.publish(5);
		await rig.settledCount(10);
		const settled = "SELECT FROM posthorn.attempts";
		const onStandby = new URL(database);
		onStandby.host = hosts[1]!;
		while ((await standby.execute(settled, onStandby.href)).length < 10);

		await primary.refuseStandbys();
		const lost = await rig.publish(20);
		await rig.settledCount(50);
		await primary.kill();
		await standby.promote();

		const after: string[] = [];
		while (after.length < 30) {
			try {
				after.push(...(await rig.publish(1)));
			} catch (error) {
				if (!(error instanceof StorageError)) throw error;
				// The database is away, or was found to be another one.
				await storage.pass(rig.clock, 100);
			}
		}
		while (rig.settled.length < 110) await storage.pass(rig.clock, 1_000);
		expect(rig.sender.to(hook.url)).toEqual([...before, ...lost, ...after]);
		expect(new Set(rig.sender.to(wide.url))).toEqual(new Set([...before, ...lost, ...after]));
		expect(rig.sender.sent).toHaveLength(110);
	},
	3 * START_TIMEOUT_MS,
);
