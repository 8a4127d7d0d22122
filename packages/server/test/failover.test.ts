import { PostgresServer } from "@posthorn/testkit/postgres";
import { until } from "@posthorn/testkit/until";
import { openPostgresStorage } from "../src/storage/postgres/index.ts";
import { LEASE_TERM_MS } from "./engine-rig.ts";
import { describeFailover } from "./failover-suite.ts";

describeFailover("PostgreSQL", async () => {
	await using made = new AsyncDisposableStack();
	const primary = made.use(await PostgresServer.start({ own: true }));
	// Created before the standby starts: a running standby would get it late.
	const database = new URL(await primary.createDatabase());
	const standby = made.use(await primary.standby());
	const hosts = [primary, standby].map(({ url }) => new URL(url).host);
	const url = `postgres://test@${hosts.join()}${database.pathname}`;
	const resources = made.move();
	let current = primary;
	return {
		open: (clock) => openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true }),
		async caughtUp() {
			const [end] = await primary.execute("SELECT pg_current_wal_lsn()::text AS at");
			const isThere = `SELECT FROM (SELECT) x WHERE pg_last_wal_replay_lsn() >= '${end!.at}'`;
			await until("the standby to catch up", async () => (await standby.execute(isThere)).length > 0);
		},
		cutOff: () => primary.refuseStandbys(),
		async fail() {
			await primary.kill();
			await standby.promote();
			current = standby;
		},
		async publish(projectId, count, type) {
			const url = new URL(current.url);
			url.pathname = database.pathname;
			const publish = `SELECT posthorn.publish('${projectId}', '${type}', '{}') AS id`;
			const ids: string[] = [];
			while (ids.length < count) ids.push((await current.execute(publish, url.href))[0]!.id as string);
			return ids;
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
});
