/**
 * A standby replaces the primary. One node finds it by the list of servers in its database URL; the address in the
 * other node's URL is redirected to it.
 */
import { PostgresProxy, until } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { test } from "vitest";
import { checkDeliveries } from "./check.ts";
import { Site } from "./site.ts";
import { Traffic } from "./traffic.ts";

/** A database URL with both servers, either of which may accept writes. */
function listOf(database: string, ...servers: readonly PostgresServer[]): string {
	const url = new URL(database);
	return `postgres://${url.username}@${servers.map((one) => new URL(one.url).host).join(",")}${url.pathname}`;
}

export function testFailover(): void {
	test.for([
		["the primary crashes", (primary: PostgresServer) => primary.kill()],
		[
			"the primary becomes read-only, but keeps its connections",
			async (primary: PostgresServer) => {
				await primary.execute("ALTER SYSTEM SET default_transaction_read_only = on");
				await primary.execute("SELECT pg_reload_conf()");
			},
		],
	] as const)("failover: %s", async ([, end]) => {
		await using primary = await PostgresServer.start({ own: true, fsync: true });
		// Created before the standby starts: a running standby would get it late.
		const database = await primary.createDatabase();
		await using standby = await primary.standby();
		// The standby has everything that the primary acknowledges.
		await primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
		await primary.execute("SELECT pg_reload_conf()");
		await using proxy = await PostgresProxy.start(primary.url);
		await using site = await Site.open({
			// The first server in the list is skipped from the start.
			nodes: [{ database: listOf(database, standby, primary) }, { database: proxy.url(database) }],
		});
		const traffic = new Traffic(site);
		await traffic.more(100);
		await end(primary);
		await Promise.all(site.nodes.map((node) => node.untilReadiness(503)));
		await traffic.moreRefused(2);
		await standby.promote();
		proxy.retarget(standby.url);
		await Promise.all(site.nodes.map((node) => node.untilReadiness(200)));
		await traffic.more(100);
		await traffic.stop();
		await checkDeliveries(site, traffic);
		// Both also notify each other through the new primary.
		const listening = "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()";
		await until("all nodes to listen", async () => (await standby.execute(listening)).length >= site.nodes.length);
		for (const node of [...site.nodes]) await site.stop(node);
	});
}
