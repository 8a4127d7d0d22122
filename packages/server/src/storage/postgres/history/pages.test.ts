/**
 * How much of a log of many days a page reads. A statement sets up scans of days even where it reads nothing, so both
 * are counted.
 */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { START } from "../../../../test/storage/conformance/world.ts";
import { explain, recordStatements, rowsRead } from "../../../../test/storage/postgres/explained.ts";
import { tableOf, walk } from "../../../../test/storage/postgres/plan.ts";
import { versionsFrom } from "../../../../test/storage/postgres/versions.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import type { AttemptFilter, NewAttempt } from "../../port.ts";
import { toStoredId } from "../../shared/deliveries.ts";
import { connectionConfig } from "../connection/session-settings.ts";
import type { PostgresStorage } from "../index.ts";

const DAY = 86_400_000;
const NOW = START + DAY / 2;
const DAYS = 20;
/** Attempts of each type on each day. */
const PER_DAY = 60;
const TYPES = ["a", "b"];
const LIMIT = 50;
const VERBS = ["listAttempts", "listAttemptSummaries", "listFollowedAttempts"] as const;

describe.each(await versionsFrom())("$name", ({ options }) => {
	let server: PostgresServer;
	let storage: PostgresStorage;
	let client: Client;
	let projectId: string;
	let webhook: string;

	beforeAll(async () => {
		server = await PostgresServer.start(options);
		const url = await server.createDatabase();
		const world = await worldOf((clock) => openNode(url, clock));
		world.clock.time = NOW;
		projectId = await world.project();
		webhook = await world.webhook(projectId, TYPES);
		const events = await world.publish(projectId, ...TYPES);
		const lease = await world.lease(projectId);
		for (let day = 0; day < DAYS; day++) {
			const attempts = events.flatMap((event) =>
				Array.from({ length: PER_DAY }, (_, n): NewAttempt => {
					const ended = n % 6 === 0 ? { status: "failed" as const, statusCode: 500 } : {};
					return world.attempt(webhook, event, {
						...ended,
						replay: day,
						attempt: n + 1,
						startedAt: NOW - day * DAY - n,
					});
				}),
			);
			expect(await world.settle(lease, { attempts })).toBe("settled");
		}
		await world.dispose();
		storage = await openNode(url, { now: () => NOW });
		client = new Client(connectionConfig(url));
		await client.connect();
	});

	afterAll(async () => {
		await client.end();
		await storage.close();
		await server.stop();
	});

	/** What a statement sets up and reads of the log. */
	interface Read {
		/** The days for which it sets up scans, once for each step. */
		readonly days: readonly string[];
		/** With those that it leaves out. */
		readonly rows: number;
	}

	/** The statements of a page that read attempts, as PostgreSQL runs them. */
	async function readsOf(
		verb: (typeof VERBS)[number],
		filter: AttemptFilter,
		before?: string,
	): Promise<{ reads: Read[]; ids: string[] }> {
		const page = { limit: LIMIT, maxBytes: 1e6, ...(before !== undefined && { before }) };
		let ids: string[] = [];
		const sent = await recordStatements(async () => {
			ids = (await storage[verb]({ projectId, filter, page })).rows.map(({ id }) => id);
		});
		const reads: Read[] = [];
		for (const statement of sent.filter(({ text }) => text.includes("posthorn.attempts"))) {
			const nodes = walk(await explain(client, statement));
			const scans = nodes.filter((node) => node["Node Type"].includes("Scan") && tableOf(node) === "attempts");
			reads.push({
				days: scans.map((scan) => scan["Relation Name"]!),
				rows: Math.round(scans.reduce((sum, scan) => sum + rowsRead(scan), 0)),
			});
		}
		return { reads, ids };
	}

	/** Days that have a partition: future and past ones. */
	const ALL_DAYS = DAYS + 2;
	/** The days ahead, today and yesterday. */
	const NEWEST_DAYS = 2 + 2;

	const filled: Record<string, AttemptFilter> = {
		"no filter": {},
		"a type": { types: ["a"] },
		delivered: { statuses: ["delivered"] },
		"a status code": { response: { codes: [{ from: 200, to: 299 }], maxScanned: LIMIT + 1 } },
	};

	/** Each day once, however many steps set it up. */
	const daysOf = ({ days }: Read): Set<string> => new Set(days);

	function expectFewRows(reads: readonly Read[]): void {
		// As many positions of each status and type, and those that are compared with a status code again.
		const positions = 4 * (LIMIT + 1) + (LIMIT + 1);
		const page = 2 * (LIMIT + 1);
		// However many attempts of a delivery followed, one of them is read.
		const rows = reads.reduce((sum, read) => sum + read.rows, 0);
		expect(rows).toBeLessThanOrEqual(positions + page);
	}

	test.each(Object.entries(filled))("a page with %s leaves out days before yesterday", async (_, filter) => {
		for (const narrowed of [filter, { ...filter, webhookIds: [webhook] }])
			for (const verb of VERBS) {
				const { reads, ids } = await readsOf(verb, narrowed);
				expect(ids).toHaveLength(LIMIT);
				expect(reads).toHaveLength(verb === "listAttempts" ? 2 : 1);
				// What followed may be from the day before on.
				for (const read of reads) expect(daysOf(read).size).toBeLessThanOrEqual(NEWEST_DAYS + 1);
				expectFewRows(reads);
			}
	});

	test("a page of older attempts leaves out all other days", async () => {
		const before = (await readsOf("listAttempts", { until: NOW - 9 * DAY })).ids[0]!;
		for (const verb of VERBS) {
			const { reads, ids } = await readsOf(verb, {}, before);
			expect(ids).toHaveLength(LIMIT);
			expect(reads).toHaveLength(verb === "listAttempts" ? 2 : 1);
			// What followed may be of any later day.
			if (verb === "listFollowedAttempts") continue;
			expect(daysOf(reads[0]!).size).toBeLessThanOrEqual(2);
			if (verb === "listAttempts") expect(daysOf(reads[1]!).size).toBe(1);
		}
	});

	test("a page that two days don't fill finds the others in each other day once", async () => {
		const few = { statuses: ["failed" as const] };
		for (const verb of VERBS) {
			const { reads, ids } = await readsOf(verb, few);
			expect(ids).toHaveLength(LIMIT);
			const [newest, others, page] = reads as [Read, Read, Read];
			expect(daysOf(newest).size).toBeLessThanOrEqual(NEWEST_DAYS + 1);
			expect(others.days).toHaveLength(ALL_DAYS - NEWEST_DAYS);
			expect(daysOf(others).size).toBe(others.days.length);
			expect(daysOf(page).size).toBeLessThan(ALL_DAYS / 2);
		}
	});

	test("a page with few ranges that two days don't fill reads the others in one statement", async () => {
		const few = { statuses: ["failed" as const], types: ["a"], webhookIds: [webhook] };
		for (const verb of VERBS.filter((verb) => verb !== "listAttempts")) {
			const { reads, ids } = await readsOf(verb, few);
			expect(ids).toHaveLength(LIMIT);
			expect(reads).toHaveLength(2);
			const [newest, others] = reads as [Read, Read];
			expect(daysOf(newest).size).toBeLessThanOrEqual(NEWEST_DAYS + 1);
			// What followed may be of any later day.
			const most = verb === "listFollowedAttempts" ? 2 * ALL_DAYS : ALL_DAYS - NEWEST_DAYS;
			expect(others.days.length).toBeLessThanOrEqual(most);
		}
	});

	test("a filter without matches reads no rows of the log, and sets up older days once", async () => {
		const none = { statuses: ["retrying" as const] };
		for (const verb of VERBS) {
			const { reads, ids } = await readsOf(verb, none);
			expect(ids).toEqual([]);
			expect(reads.map(({ rows }) => rows)).toEqual([0, 0]);
			const [newest, others] = reads as [Read, Read];
			expect(daysOf(newest).size).toBeLessThanOrEqual(NEWEST_DAYS + 1);
			expect(others.days).toHaveLength(ALL_DAYS - NEWEST_DAYS);
			expect(daysOf(others).size).toBe(others.days.length);
		}
	});

	test("a page of an event sets up each day once, even for what followed", async () => {
		const { rows } = await storage.listAttemptSummaries({ projectId, filter: {}, page: { limit: 1 } });
		const { reads, ids } = await readsOf("listFollowedAttempts", { eventId: rows[0]!.eventId });
		expect(ids).toHaveLength(LIMIT);
		expect(reads).toHaveLength(1);
		expect(reads[0]!.days).toHaveLength(ALL_DAYS);
		expect(daysOf(reads[0]!).size).toBe(ALL_DAYS);
	});

	test("a page of very many events reads some attempts of the last days", async () => {
		const few = { seqs: Array.from({ length: 50 }, (_, i) => 50 - i), maxAttempts: LIMIT + 10 };
		for (const verb of VERBS) {
			const { reads, ids } = await readsOf(verb, few);
			expect(ids).toHaveLength(LIMIT);
			expect(reads).toHaveLength(verb === "listAttempts" ? 2 : 1);
			for (const read of reads) expect(daysOf(read).size).toBeLessThanOrEqual(NEWEST_DAYS + 1);
			const rows = reads.reduce((sum, read) => sum + read.rows, 0);
			expect(rows).toBeLessThanOrEqual(few.maxAttempts + 2 * (LIMIT + 1));
		}
	});

	// It was missing from the last page, which said that nothing followed.
	test("an attempt committed while a page is read pushes none off the list", async () => {
		const filter = { statuses: ["failed" as const], since: NOW - 2 * DAY - PER_DAY };
		const limit = 70;
		const all = await storage.listAttemptSummaries({ projectId, filter, page: { limit } });
		const ids = all.rows.map(({ id }) => id);
		expect([ids.length, all.next]).toEqual([60, null]);
		const send = Client.prototype.query as (...args: unknown[]) => unknown;
		let reads = 0;
		Client.prototype.query = async function (this: Client, ...args: unknown[]) {
			// After the newest days and the positions in older ones come the rows at these.
			if ((args[0] as { text?: string }).text?.includes("posthorn.attempts") && ++reads === 3) {
				const like = toStoredId(ids[55]!);
				await send.call(client, {
					text: `INSERT INTO posthorn.attempts SELECT (jsonb_populate_record(a, '{"id": "${like.slice(0, -1)}~", "attempt": 999}')).*
						FROM posthorn.attempts a WHERE a.id = '${like}'`,
				});
			}
			return send.apply(this, args);
		} as typeof Client.prototype.query;
		const page = await storage.listAttemptSummaries({ projectId, filter, page: { limit } }).finally(() => {
			Client.prototype.query = send as typeof Client.prototype.query;
		});
		expect(reads).toBe(3);
		const { rows, next } = await storage.listAttemptSummaries({
			projectId,
			filter,
			page: { limit, ...(page.next !== null && { before: page.next }) },
		});
		expect(next).toBe(null);
		const shown = new Set([...page.rows, ...(page.next === null ? [] : rows)].map(({ id }) => id));
		expect(ids.filter((id) => !shown.has(id))).toEqual([]);
	});

	// The whole page failed.
	test.each([...VERBS, "getAttempt"] as const)(
		"%s leaves out a webhook that retention deletes meanwhile",
		async (verb) => {
			const url = await server.createDatabase();
			const world = await worldOf((clock) => openNode(url, clock));
			const project = await world.project();
			const gone = await world.webhook(project, TYPES);
			const kept = await world.webhook(project, TYPES);
			const [event] = await world.publish(project, "a");
			const attempts = [kept, gone].map((id, n) => world.attempt(id, event!, { startedAt: START + n }));
			expect(await world.settle(await world.lease(project), { attempts })).toBe("settled");
			await world.dispose();
			// One that hasn't cached the names.
			const reader = await openNode(url, { now: () => NOW });
			const sweeper = new Client(connectionConfig(url));
			await sweeper.connect();
			const send = Client.prototype.query as (...args: unknown[]) => unknown;
			let deleted = 0;
			Client.prototype.query = async function (this: Client, ...args: unknown[]) {
				if (
					deleted === 0 &&
					(args[0] as { text?: string }).text?.startsWith("SELECT no, id AS name FROM posthorn.webhooks")
				) {
					deleted++;
					for (const [table, column] of ["attempts webhook_no", "webhooks no"].map((names) => names.split(" ")))
						await send.call(sweeper, {
							text: `DELETE FROM posthorn.${table} WHERE ${column} = (SELECT min(no) FROM posthorn.webhooks)`,
						});
				}
				return send.apply(this, args);
			} as typeof Client.prototype.query;
			try {
				if (verb === "getAttempt") {
					expect(await reader.getAttempt({ projectId: project, attemptId: attempts[1]!.id })).toBe(null);
				} else {
					const page = { limit: LIMIT, maxBytes: 1_000_000 };
					const { rows, next } = await reader[verb]({ projectId: project, filter: {}, page });
					expect([rows.map(({ id }) => id), next]).toEqual([[attempts[0]!.id], null]);
				}
				expect(deleted).toBe(1);
			} finally {
				Client.prototype.query = send as typeof Client.prototype.query;
				await sweeper.end();
				await reader.close();
			}
		},
	);

	// To find replays of its failed deliveries, it read all attempts of their webhook.
	test("a page reads few rows, even if PostgreSQL expects few attempts of any webhook", async () => {
		await client.query(`
			INSERT INTO posthorn.attempts
			SELECT (jsonb_populate_record(a, jsonb_build_object('project_no', project_no + n, 'webhook_no', webhook_no + n))).*
			FROM posthorn.attempts a CROSS JOIN generate_series(1, 500) n WHERE seq = 1 AND attempt = 1`);
		await client.query("ANALYZE posthorn.attempts");
		for (const filter of Object.values(filled))
			for (const verb of VERBS) expectFewRows((await readsOf(verb, filter)).reads);
	});
});
