/**
 * The network between a node and the database is cut for longer than its leases last; meanwhile another node takes
 * over.
 */
import { PostgresProxy } from "@posthorn/testkit";
import type { PostgresServer } from "@posthorn/testkit/postgres";
import { test } from "vitest";
import { checkDeliveries } from "./check.ts";
import { holdersOf, untilLeases } from "./leases.ts";
import { Meter } from "./meter.ts";
import { Site, type SiteWebhook } from "./site.ts";
import { Traffic } from "./traffic.ts";

export function testNetwork(server: () => PostgresServer): void {
	test.for([
		["swallowing", "nothing ever comes back on connections made before", "?query_timeout=8000"],
		["held", "what it sends arrives long after", ""],
		["broken", "connections break, and new ones too", ""],
	] as const)("cut off from the database, %s: %s", async ([way, , parameters], { expect }) => {
		const database = await server().createDatabase();
		await using proxy = await PostgresProxy.start(database);
		let answers = Promise.resolve();
		await using site = await Site.open({
			nodes: [{ database: proxy.url(database) + parameters }, { database }],
			answer: () => answers.then(() => 200),
		});
		const [node, other] = [site.nodes[0]!, site.nodes[1]!];
		const isComplete = (leases: ReadonlyMap<string, unknown>) => leases.size === site.projectIds.length;
		// Until there is work, only the first node has projects. It may have released some, which the other one doesn't need.
		const first = await untilLeases(server(), database, (leases) => holdersOf(leases).size === 1);
		const [holder] = holdersOf(first);
		const traffic = new Traffic(site);
		await traffic.more(50);

		// Every lane has an attempt in flight at the cut, whose outcome can't be settled.
		const { promise, resolve: answer } = Promise.withResolvers<void>();
		answers = promise;
		const isUnanswered = ({ arrivals }: SiteWebhook) => arrivals.length > 0 && !arrivals.at(-1)!.status;
		await site.untilReceived("a request in flight at each webhook", () => site.webhooks.every(isUnanswered));
		const before = await untilLeases(server(), database, isComplete);
		const underWay = site.webhooks
			.filter(({ projectId }) => before.get(projectId)!.holder === holder)
			.map((webhook) => ({ webhook, eventId: webhook.arrivals.at(-1)!.eventId }));
		expect(underWay).not.toEqual([]);
		const meter = new Meter(node, proxy);
		const refused = traffic.refusals.length;
		proxy.cut(way);
		const endProbes = node.probe();
		answer();
		await untilLeases(server(), database, (leases) => {
			return isComplete(leases) && [...leases.values()].every((lease) => lease.holder !== holder);
		});
		await traffic.more(50);
		const probes = await endProbes();
		expect(new Set(probes)).toEqual(new Set([503]));
		meter.expectCalm(probes.length + traffic.refusals.length - refused + 10);
		proxy.heal();

		// It works again: when the other node stops, it acquires everything.
		await node.untilReadiness(200);
		await site.stop(other);
		await untilLeases(server(), database, (leases) => {
			return isComplete(leases) && [...leases.values()].every((lease) => lease.holder === holder);
		});
		await traffic.more(50);
		await traffic.stop();
		await checkDeliveries(site, traffic);
		// The new owner repeated attempts in flight, and the first node's settles were refused.
		for (const { webhook, eventId } of underWay)
			expect(webhook.arrivals.filter((arrival) => arrival.eventId === eventId).length).toBeGreaterThan(1);
		await node.service.stopWith(0);
	});
}
