/** A node is asked to stop while it can't commit its outcomes. */
import { PostgresProxy, until } from "@posthorn/testkit";
import { execute, type PostgresServer } from "@posthorn/testkit/postgres";
import { test } from "vitest";
import { purchase } from "../shop.ts";
import { Site } from "./site.ts";

/** Holds the rows of one project until its connection is ended. */
const HOLD = `
	SELECT pg_sleep(600) FROM
		(SELECT l.project_no FROM posthorn.leases l ORDER BY l.project_no LIMIT 1 FOR UPDATE) AS held`;
const HOLDERS = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
const NOT_COMMITTED = /Stopped, but (\d+) outcomes? (?:was|were) not committed/;

export function testStop(server: () => PostgresServer): void {
	// It once waited until the database was back.
	test.for(["broken", "held", "swallowing"] as const)(
		"stopped while its connections are %s",
		async (way, { expect }) => {
			const database = await server().createDatabase();
			await using proxy = await PostgresProxy.start(database);
			const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
			await using site = await Site.open({
				nodes: [{ database: proxy.url(database) }],
				answer: () => answers.then(() => 200),
				settings: { POSTHORN_ATTEMPT_TIMEOUT: "5" },
			});
			await publishToAll(site);
			await site.untilReceived("one request each", () => site.webhooks.every(({ arrivals }) => arrivals.length === 1));
			proxy.cut(way);
			answer();
			await site.untilReceived("one response each", () =>
				site.webhooks.every(({ arrivals }) => arrivals[0]!.status === 200),
			);
			const [node] = site.nodes;
			await site.stop(node!, 1);
			expect(NOT_COMMITTED.exec(node!.service.output)?.[1]).toBe(String(site.webhooks.length));

			// The next owner repeats them, and nothing else.
			proxy.heal();
			await site.add({ database: proxy.url(database) });
			await site.untilReceived("two requests each", () => site.webhooks.every(({ arrivals }) => arrivals.length === 2));
			for (const { arrivals } of site.webhooks) expect(arrivals[1]!.eventId).toBe(arrivals[0]!.eventId);
			await site.stop(site.nodes[0]!);
		},
	);

	test("stopped while another session locks rows of one project", async ({ expect }) => {
		const database = await server().createDatabase();
		const { promise: answers, resolve: answer } = Promise.withResolvers<void>();
		await using site = await Site.open({
			nodes: [{ database }],
			answer: () => answers.then(() => 200),
			settings: { POSTHORN_ATTEMPT_TIMEOUT: "5" },
		});
		await publishToAll(site);
		await site.untilReceived("one request each", () => site.webhooks.every(({ arrivals }) => arrivals.length === 1));
		const holding = execute(HOLD, database).catch((error: Error) => error.message);
		const { pid } = await until("the rows to be held", async () => (await execute(HOLDERS, database))[0]);
		answer();
		const [node] = site.nodes;
		await site.stop(node!, 1);
		expect(Number(NOT_COMMITTED.exec(node!.service.output)?.[1])).toBeGreaterThan(0);
		await execute(`SELECT pg_terminate_backend(${pid})`, database);
		expect(await holding).toContain("terminat");
	});
}

async function publishToAll(site: Site): Promise<void> {
	for (const projectId of site.projectIds) {
		const { status, body } = await site.ask("POST", `/v1/projects/${projectId}/events`, purchase(0));
		if (status >= 300) throw new Error(`Not published: ${JSON.stringify(body)}`);
	}
}
