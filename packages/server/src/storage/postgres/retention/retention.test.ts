import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { START, type World } from "../../../../test/storage/conformance/world.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import type { Storage } from "../../port.ts";

const DAY = 86_400_000;
/** Dead letters of a day are deleted in several steps. */
const ENTRIES = 40_000;
/** One entry in this many is a dead letter. */
const DEAD_EVERY = 400;
const STEP = 30;

describe("retention of a busy day", () => {
	let server: PostgresServer;
	let url: string;
	let world: World;
	let other: Storage;
	let project: string;

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		world = await worldOf((clock) => openNode(url, clock));
		other = await openNode(url, world.clock);
		project = await world.project();
		await world.webhook(project, ["a"]);
		await world.publish(project, "a");
		// One attempt per delivery, evenly over the day.
		await server.execute(
			`INSERT INTO posthorn.attempts
				SELECT project_no, n + 1, no, ${START} + n * ${DAY / ENTRIES}, NULL, NULL, 0, 1, 1, 200, 10,
					CASE WHEN n % ${DEAD_EVERY} = 0 THEN 3 ELSE 1 END, false,
					posthorn.id_at(${START} + n * ${DAY / ENTRIES}) || lpad(n::text, 16, '0'),
					'https://receiver.example/', NULL, NULL, NULL, NULL, decode(repeat('ab', 300), 'hex')
				FROM posthorn.webhooks, generate_series(0, ${ENTRIES - 1}) AS n;
			UPDATE posthorn.lanes SET dead_letters = ${ENTRIES / DEAD_EVERY}`,
			url,
		);
	});
	afterEach(async () => {
		await other.close();
		await world.dispose();
		await server.dropDatabase(url);
	});

	/** Runs one pass; returns how many entries were deleted. */
	async function sweep(cutoff: number, storage: Storage = world.storage): Promise<number> {
		let sum = 0;
		for (let from: number | null = 0; from !== null; ) {
			const { deleted, next } = await storage.sweepAttempts({ cutoff, limit: STEP, from });
			sum += deleted;
			from = next;
		}
		return sum;
	}

	const entries = async () =>
		(await server.execute("SELECT count(*)::int AS n FROM posthorn.attempts", url))[0]!.n as number;
	const days = () => server.execute("SELECT FROM pg_class WHERE relname ~ '^attempts_[0-9]{8}$'", url);

	test("its entries stay until all of the day is past retention, and are then deleted with their dead letters", async () => {
		expect(await sweep(START + DAY - 1)).toBe(0);
		expect(await entries()).toBe(ENTRIES);
		expect(await world.storage.gauges()).toMatchObject({ deadLetters: ENTRIES / DEAD_EVERY });
		const before = (await days()).length;
		await sweep(START + DAY);
		expect(await entries()).toBe(0);
		expect(await world.storage.gauges()).toMatchObject({ deadLetters: 0 });
		expect(await days()).toHaveLength(before - 1);
	});

	// A pass failed at its first statement that needed space, so retention never freed any.
	test("it is dropped even if the disk is full", async () => {
		await world.settle(await world.lease(project), {
			attempts: [
				world.attempt((await world.storage.loadLanes({ projectId: project })).lanes[0]!.webhookId, {
					seq: 1,
					type: "a",
				}),
			],
		});
		world.clock.time = START + 5 * DAY;
		const fill = `
			CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
			END $$;
			CREATE FUNCTION public.refuse_table() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
			END $$;
			CREATE TRIGGER refuse BEFORE INSERT ON posthorn.attempt_stats EXECUTE FUNCTION public.refuse();
			CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.refuse_table()`;
		await server.execute(fill, url);
		const warnings: string[] = [];
		const warned = ({ message }: Error) => warnings.push(message);
		process.on("warning", warned);
		try {
			await sweep(START + DAY);
		} finally {
			process.off("warning", warned);
		}
		expect(await entries()).toBe(0);
		// Otherwise the pass would seem complete.
		expect(warnings).toContainEqual(expect.stringContaining("Retention left some of its work to the next pass"));
	});

	test("nodes that sweep concurrently subtract dead letters once", async () => {
		await server.execute("UPDATE posthorn.lanes SET dead_letters = dead_letters + 1", url);
		await Promise.all([sweep(START + DAY), sweep(START + DAY, other)]);
		expect(await days()).toHaveLength(2);
		expect(await world.storage.gauges()).toMatchObject({ deadLetters: 1 });
	});
});

describe("retention of events", () => {
	let server: PostgresServer;
	let url: string;
	let world: World;

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		world = await worldOf((clock) => openNode(url, clock));
	});
	afterEach(async () => {
		await world.dispose();
		await server.dropDatabase(url);
	});

	// Holding the rows of many projects for a whole step delayed everything that they published meanwhile.
	test("a step locks no project, and deletes events of one whose rows are locked", async () => {
		const project = await world.project();
		await world.publish(project, "a", "a");
		const store = new Client({ connectionString: url });
		await store.connect();
		try {
			await store.query("BEGIN");
			await store.query("SELECT FROM posthorn.logs, posthorn.leases FOR UPDATE");
			expect(await world.storage.sweepEvents({ cutoff: START + DAY, limit: 100, from: 0 })).toMatchObject({
				deleted: 2,
			});
			await store.query("ROLLBACK");
			// A session that deletes an event, as a sweep of another node does.
			await world.publish(project, "a");
			await store.query("BEGIN");
			await store.query("DELETE FROM posthorn.events");
			const swept = world.storage.sweepEvents({ cutoff: START + DAY, limit: 100, from: 0 });
			await until("the sweep to wait for the event", async () => {
				const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
				return (await server.execute(waits, url)).length === 1;
			});
			const held = await store.query("SELECT FROM posthorn.logs, posthorn.leases FOR UPDATE SKIP LOCKED");
			expect(held.rowCount).toBe(1);
			await store.query("COMMIT");
			expect(await swept).toMatchObject({ deleted: 0 });
		} finally {
			await store.end();
		}
	});

	test("large events make a step shorter, not the pass", async () => {
		const project = await world.project();
		await server.execute(
			`INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
				SELECT p.no, n, 'evt_' || n, 1, n, ${START}, ${START}, decode(repeat('7a', 262144), 'hex')
				FROM posthorn.projects p, generate_series(1, 70) AS n WHERE p.id = '${project}'`,
			url,
		);
		const deleted: number[] = [];
		for (let from: number | null = 0; from !== null; ) {
			const step = await world.storage.sweepEvents({ cutoff: START + DAY, limit: 1_000, from });
			deleted.push(step.deleted);
			from = step.next;
		}
		expect(deleted).toEqual([64, 6]);
	});
});

describe("the turn to sweep", () => {
	let server: PostgresServer;
	let url: string;
	let world: World;
	const TERM = { termMs: 60_000, early: false };

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		world = await worldOf((clock) => openNode(url, clock));
	});
	afterEach(async () => {
		await world.dispose();
		await server.dropDatabase(url);
	});

	test("isn't lost to a time that was written while the database's clock was ahead", async () => {
		const peers = world.storage.peers!;
		world.clock.time += 400 * DAY;
		expect(await peers.takeSweep({ ...TERM, holder: "a" })).toBe(true);
		world.clock.time -= 400 * DAY;
		expect(await peers.takeSweep({ ...TERM, holder: "b" })).toBe(true);
	});
});
