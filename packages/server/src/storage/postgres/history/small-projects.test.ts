/**
 * Which plans PostgreSQL chooses if it expects that projects are small, since most are: for a big one, a plan that reads
 * all of a project and leaves out most is costly. The oldest version that the system has is tested, too, since versions
 * differ in what an index can do.
 */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { START } from "../../../../test/storage/conformance/world.ts";
import { readAll } from "../../../../test/storage/postgres/every-verb.ts";
import { explain, recordStatements, rowsRead } from "../../../../test/storage/postgres/explained.ts";
import { INDEX_COLUMNS, isRange, tableOf, walk } from "../../../../test/storage/postgres/plan.ts";
import { versionsFrom } from "../../../../test/storage/postgres/versions.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import { connectionConfig } from "../connection/session-settings.ts";
import type { PostgresStorage } from "../index.ts";

const DAY = 86_400_000;
const NOW = START + DAY / 2;
const TABLES = ["attempts", "events", "retries", "event_references"];
/** Events of the big project, each with an attempt; one of ten is retried. */
const MANY = 1_200;
/** Others, which have one event, one attempt and one retry each. */
const PROJECTS = 3_000;
/** The most that a page, a step or a count reads here. */
const FEW = 100;

describe.each(await versionsFrom())("$name", ({ options }) => {
	let server: PostgresServer;
	let storage: PostgresStorage;
	let client: Client;
	let projectId: string;
	let webhook: string;
	/** The columns of each index. */
	let columns: Map<string, string[]>;

	beforeAll(async () => {
		// The test itself says when to gather statistics.
		server = await PostgresServer.start({ ...options, settings: { autovacuum: "off" } });
		const url = await server.createDatabase();
		const world = await worldOf((clock) => openNode(url, clock));
		world.clock.time = NOW;
		projectId = await world.project();
		webhook = await world.webhook(projectId, ["a", "b"]);
		await world.publish(projectId, "a", "b");
		await world.dispose();
		await server.execute(fill(projectId), url);
		storage = await openNode(url, { now: () => NOW });
		client = new Client(connectionConfig(url));
		await client.connect();
		const indexes = await server.execute(INDEX_COLUMNS, url);
		columns = new Map(indexes.map((row) => [row.index as string, row.columns as string[]]));
	});
	afterAll(async () => {
		await client.end();
		await storage.close();
		await server.stop();
	});

	// Lists of an order's events and a customer's read the whole project, and so did moving a retry.
	test("nothing of a big project is read and left out", async () => {
		const sent = await recordStatements(async () => {
			await readAll(storage, projectId, webhook);
			const events = await storage.describeEvents({ projectId, seqs: [MANY, MANY - 10] });
			const deliveries = events.map(({ id }) => ({ webhookId: webhook, eventId: id }));
			await storage.retryDeliveries({ projectId, deliveries, at: NOW });
		});
		const read = sent.filter(({ text }) => !text.includes("INSERT INTO"));
		expect(read.length).toBeGreaterThan(100);
		for (const statement of read) {
			const scans = walk(await explain(client, statement)).filter(
				(node) => node["Node Type"].includes("Scan") && TABLES.includes(tableOf(node) ?? ""),
			);
			for (const scan of scans) {
				const how = `${scan["Index Cond"]} in ${scan["Index Name"]} for ${statement.text}`;
				// Except by a filter by response, which has a limit.
				expect(scan.Filter?.replace(/^.*\bstatus_code\b.*$/, ""), how).toBeFalsy();
				expect(scan["Node Type"].startsWith("Tid ") || isRange(scan, columns.get(scan["Index Name"]!)!), how).toBe(
					true,
				);
				expect(rowsRead(scan), how).toBeLessThanOrEqual(FEW);
			}
		}
	});
});

/** Gives the big project events, attempts and retries, creates the small ones, and gathers statistics. */
function fill(bigProject: string): string {
	const at = `${NOW} - ${MANY} + n`;
	return `
		INSERT INTO posthorn.projects (id, name, developer, created_at)
			SELECT 'proj_small' || n, 'Shop', true, ${START} FROM generate_series(1, ${PROJECTS}) AS n;
		INSERT INTO posthorn.logs (project_no) SELECT no FROM posthorn.projects WHERE id LIKE 'proj_small%';
		INSERT INTO posthorn.leases (project_no) SELECT no FROM posthorn.projects WHERE id LIKE 'proj_small%';
		INSERT INTO posthorn.webhooks
			(project_no, id, url, description, status, max_in_flight, sealed_digest, created_at)
			SELECT no, 'wh_' || no, 'https://receiver.example/', '', 'active', 1, '', ${START}
			FROM posthorn.projects WHERE id LIKE 'proj_small%';
		INSERT INTO posthorn.lanes (project_no, webhook_no, position) SELECT project_no, no, ${MANY} FROM posthorn.webhooks
			ON CONFLICT (project_no, webhook_no) DO UPDATE SET position = ${MANY};
		INSERT INTO posthorn.events (project_no, seq, type_seq, created_at, published_at, type, id, body)
			SELECT no, n, n / 2, ${START}, ${START}, 1 + n % 2, 'evt_' || no || '_' || n, '{}'
			FROM posthorn.projects, generate_series(3, ${MANY}) AS n WHERE id = '${bigProject}' OR n = 10;
		UPDATE posthorn.logs SET last_seq = ${MANY}
			WHERE project_no = (SELECT no FROM posthorn.projects WHERE id = '${bigProject}');
		INSERT INTO posthorn.attempts
			SELECT w.project_no, n, w.no, ${at}, NULL, NULL, 0, 1, 1 + n % 2, 500, 10, 1 + n % 3, false,
				posthorn.id_at(${at}) || lpad(n::text, 6, '0') || w.no, '', NULL, NULL, NULL, NULL, ''
			FROM posthorn.webhooks w JOIN posthorn.projects p ON p.no = w.project_no, generate_series(1, ${MANY}) AS n
			WHERE p.id = '${bigProject}' OR n = 10;
		INSERT INTO posthorn.retries
			SELECT w.project_no, n, w.no, ${NOW} + n, 0, 2, n % 2
			FROM posthorn.webhooks w JOIN posthorn.projects p ON p.no = w.project_no, generate_series(10, ${MANY}, 10) AS n
			WHERE p.id = '${bigProject}' OR n = 10;
		ANALYZE`;
}
