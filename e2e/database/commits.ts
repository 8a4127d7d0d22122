/** Slow commits, and commits with unknown results because the connection broke at that moment. */
import { type CommitFate, PostgresProxy, Signal } from "@posthorn/testkit";
import type { PostgresServer } from "@posthorn/testkit/postgres";
import { test } from "vitest";
import { checkDeliveries } from "./check.ts";
import { type Held, untilLeases } from "./leases.ts";
import { Site } from "./site.ts";
import { Traffic } from "./traffic.ts";

/** The fates of successive commits of one kind, repeated; retries count as well. */
const FATES: readonly CommitFate[] = ["pass", "pass", "lose_answer", "lose", "pass", "pass", "lose", "lose_answer"];
/** How often each kind of commit meets all of them. */
const ROUNDS = 4;

export function testCommits(server: () => PostgresServer): void {
	test("events and outcomes are stored once if the connection breaks during a commit", async () => {
		const database = await server().createDatabase();
		await using proxy = await PostgresProxy.start(database);
		await using site = await Site.open({
			nodes: [{ database: proxy.url(database) }],
			// Some attempts fail, so that retries are stored and removed again.
			answer: ({ eventId }, before) => (before.length === 0 && /[0-3]$/.test(eventId) ? 500 : 200),
		});
		const signal = new Signal();
		const commits = { events: 0, attempts: 0 };
		proxy.onCommit = (statements) => {
			const kinds = ["events", "attempts"] as const;
			const kind = kinds.find((table) => statements.some((text) => text.includes(`INSERT INTO posthorn.${table} `)));
			if (kind === undefined || commits[kind] === FATES.length * ROUNDS) return "pass";
			const fate = FATES[commits[kind]++ % FATES.length]!;
			signal.look();
			return fate;
		};
		const traffic = new Traffic(site);
		await signal.until("every commit to meet its fate", () =>
			Object.values(commits).every((count) => count === FATES.length * ROUNDS),
		);
		await traffic.more(50);
		await traffic.stop();
		// No other node took over and no request was made twice: the delivery log has each of them.
		await checkDeliveries(site, traffic, { exact: true });
		await site.stop(site.nodes[0]!);
	});

	test("slow commits reduce throughput, but nothing is refused and every lease keeps its holder", async ({
		expect,
	}) => {
		const database = await server().createDatabase();
		await using one = await PostgresProxy.start(database);
		await using other = await PostgresProxy.start(database);
		const proxies = [one, other];
		// Few enough for one node to keep, so that none is released for sharing.
		const nodes = proxies.map((proxy) => ({ database: proxy.url(database) }));
		await using site = await Site.open({ nodes, projects: 2 });
		// On a busy machine, calls that wait for several such commits would be given up one after the other.
		const traffic = new Traffic(site, { patienceMs: 20_000 });
		const before = await untilLeases(server(), database, (leases) => leases.size === site.projectIds.length);
		let slow = 0;
		for (const proxy of proxies)
			proxy.onCommit = () => {
				slow++;
				return { delayMs: 600 };
			};
		await traffic.more(50);
		// Long enough for each lease to have been renewed.
		const after = await untilLeases(server(), database, (leases) =>
			[...before].every(([id, { until }]) => (leases.get(id)?.until ?? 0) > until + 7_000),
		);
		const holding = (leases: ReadonlyMap<string, Held>) =>
			[...leases].map(([id, { holder, generation }]) => [id, holder, generation]).sort();
		expect(holding(after)).toEqual(holding(before));
		expect(slow).toBeGreaterThan(10);
		for (const proxy of proxies) proxy.onCommit = () => "pass";
		await traffic.more(50);
		await traffic.stop();
		expect(traffic.refusals.filter(({ status }) => status !== null)).toEqual([]);
		await checkDeliveries(site, traffic, { exact: true });
	});
}
