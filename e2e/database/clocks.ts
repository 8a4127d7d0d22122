/** Nodes whose clocks are an hour apart. */
import { pathToFileURL } from "node:url";
import type { PostgresServer } from "@posthorn/testkit/postgres";
import { test } from "vitest";
import { checkDeliveries } from "./check.ts";
import { holdersOf, untilLeases } from "./leases.ts";
import { type Arrival, Site } from "./site.ts";
import { Traffic } from "./traffic.ts";

const HOUR = 3_600_000;
const AHEAD = ["--import", pathToFileURL(`${import.meta.dirname}/clock-ahead.ts`).href];
/** Longer than it takes one node to succeed another, milliseconds. */
const DELAY_MS = 4_000;
/** Clocks that differ by less count as one, so a retry may be this much too early. */
const TOLERANCE_MS = 500;

export function testClocks(server: () => PostgresServer): void {
	test("nodes an hour apart: each signs by its own clock, and retries of one come in time on the other", async ({
		expect,
	}) => {
		const database = await server().createDatabase();
		await using site = await Site.open({
			nodes: [{ database }, { database, nodeOptions: AHEAD }],
			clocks: [0, HOUR],
			settings: {
				POSTHORN_RETRY_DELAYS: Array(7)
					.fill(DELAY_MS / 1_000)
					.join(),
			},
			answer: ({ eventId }, before) => (before.length === 0 && /[0-3]$/.test(eventId) ? 500 : 200),
		});
		const [right, ahead] = [site.nodes[0]!, site.nodes[1]!];
		const traffic = new Traffic(site);
		// Both run, and neither takes the other's projects.
		await untilLeases(server(), database, (leases) => holdersOf(leases).size === 2);
		await site.untilReceived("requests signed by either clock", () =>
			[0, HOUR].every((clock) => arrivals(site).some((one) => one.clock === clock)),
		);

		// An attempt that failed at one node is retried by the other, first in this direction, then in that.
		const follow = async (gone: typeof right): Promise<void> => {
			const failed = new Set(arrivals(site));
			await site.untilReceived("another request to fail", () =>
				arrivals(site).some((one) => !failed.has(one) && one.status === 500),
			);
			await site.stop(gone);
		};
		await follow(right);
		await site.add({ database });
		await follow(ahead);
		await traffic.more(20);
		await traffic.stop();
		await checkDeliveries(site, traffic, { exact: true });

		let retried = 0;
		for (const { arrivals } of site.webhooks)
			for (const attempts of Map.groupBy(arrivals, ({ eventId }) => eventId).values()) {
				const [first, second] = attempts as [Arrival, Arrival?];
				if (second === undefined) continue;
				expect(second.at - first.at).toBeGreaterThan(DELAY_MS - TOLERANCE_MS);
				if (second.clock !== first.clock) retried++;
			}
		expect(retried).toBeGreaterThan(0);
	});
}

const arrivals = (site: Site): Arrival[] => site.webhooks.flatMap((webhook) => webhook.arrivals);
