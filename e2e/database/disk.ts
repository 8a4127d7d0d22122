/** The database has no space for events, and later has some again. */
import { PostgresProxy } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { test } from "vitest";
import { checkDeliveries } from "./check.ts";
import { Meter } from "./meter.ts";
import { Site } from "./site.ts";
import { Traffic } from "./traffic.ts";

/** Padding of an event, bytes: more than fits in a row, so that its body is stored out of line. */
const BALLAST_BYTES = 4_000;
/** Makes that table as large as the server's own log files must be allowed to be, using rows that aren't kept. */
const FILL = `
	BEGIN;
	INSERT INTO posthorn.events (project_no, seq, id, type, created_at, published_at, body)
	SELECT p.no, -1000 - i, 'fill' || i, 1, 0, 0, (
		SELECT string_agg(decode(md5(random()::text || n), 'hex'), '') FROM generate_series(1, 6000) n
	) FROM generate_series(1, 200) i, (SELECT no FROM posthorn.projects LIMIT 1) p;
	ROLLBACK;
	CHECKPOINT`;
const SIZE = `
	SELECT pg_relation_size(reltoastrelid)::float8 AS bytes FROM pg_class WHERE oid = 'posthorn.events'::regclass`;
const LEAST_BYTES = 16 * 1024 * 1024;

export function testDisk(): void {
	// Other systems can't limit a running process.
	test.runIf(process.platform === "linux")(
		"without space, events are refused until there is some again, and acknowledged ones are kept",
		async ({ expect }) => {
			await using server = await PostgresServer.start({ own: true, settings: { autovacuum: "off" } });
			const database = await server.createDatabase();
			await using proxy = await PostgresProxy.start(database);
			await using site = await Site.open({ nodes: [{ database: proxy.url(database) }, { database }] });
			const [node] = site.nodes;
			const traffic = new Traffic(site, { ballast: BALLAST_BYTES });
			await traffic.more(20);
			await server.execute(FILL, database);
			const [size] = await server.execute(SIZE, database);
			expect(size!.bytes).toBeGreaterThan(LEAST_BYTES);
			await server.limitFiles(size!.bytes as number);
			await traffic.moreRefused(1);
			const meter = new Meter(node!, proxy);
			const before = traffic.refusals.length;
			await node!.untilReadiness(503);
			await traffic.moreRefused(20);
			const refused = traffic.refusals.slice(before);
			expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
			for (const { detail } of refused)
				expect(detail).toMatch(/Storage is full: the operator must free some space. Nothing was stored/);
			meter.expectCalm(refused.length + 20);

			await server.limitFiles(null);
			await Promise.all(site.nodes.map((one) => one.untilReadiness(200)));
			await traffic.more(20);
			await traffic.stop();
			await checkDeliveries(site, traffic, { exact: true });
		},
	);
}
