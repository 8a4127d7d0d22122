import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../../testkit/src/postgres.ts";
import { START, type World } from "../../../../test/storage/conformance/world.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import type { Storage } from "../../port.ts";

const DAY = 86_400_000;
/** Enough for their table to be swept in several windows. */
const ENTRIES = 40_000;
/** One entry in this many is a dead letter. */
const DEAD_EVERY = 400;
const STEP = 500;

describe("retention of a busy day", { timeout: 60_000 }, () => {
	let server: PostgresServer;
	let url: string;
	let world: World;
	let other: Storage;
	let project: string;

	beforeAll(async () => {
		server = await PostgresServer.start();
	}, START_TIMEOUT_MS);
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
				SELECT project_no, n, no, ${START} + n * ${DAY / ENTRIES}, NULL, NULL, 0, 1, 1, 200, 10,
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
			// A day that has passed is deleted as a whole.
			if (cutoff < START + DAY) expect(deleted).toBeLessThanOrEqual(STEP);
			sum += deleted;
			from = next;
		}
		return sum;
	}

	async function expectFrom(entry: number): Promise<void> {
		const [log] = await server.execute("SELECT count(*)::int AS n, min(seq)::int AS first FROM posthorn.attempts", url);
		expect(log).toEqual({ n: ENTRIES - entry, first: entry });
		const { deadLetters } = await world.storage.gauges();
		expect(deadLetters).toBe(ENTRIES / DEAD_EVERY - Math.ceil(entry / DEAD_EVERY));
	}

	test("entries are deleted once past retention, however many there are, and each pass continues where the last one ended", async () => {
		let gone = 0;
		for (const hour of [0, 1, 9, 10, 10, 23]) {
			const first = Math.ceil((hour / 24) * ENTRIES);
			expect(await sweep(START + hour * (DAY / 24))).toBe(first - gone);
			await expectFrom(first);
			gone = first;
			await server.execute("VACUUM posthorn.attempts", url);
		}
		await sweep(START + DAY);
		expect(await world.storage.gauges()).toMatchObject({ deadLetters: 0 });
		const [left] = await server.execute("SELECT count(*)::int AS n FROM posthorn.attempts", url);
		expect(left).toEqual({ n: 0 });
	});

	test("nodes that sweep concurrently do the work once, and subtract dead letters once", async () => {
		const noon = START + DAY / 2;
		const swept = await Promise.all([sweep(noon), sweep(noon, other)]);
		expect(swept[0] + swept[1]).toBe(ENTRIES / 2);
		await expectFrom(ENTRIES / 2);
		await Promise.all([sweep(START + DAY), sweep(START + DAY, other)]);
		const tables = await server.execute("SELECT FROM pg_class WHERE relname ~ '^attempts_[0-9]{8}$'", url);
		expect(tables).toHaveLength(2);
		expect(await world.storage.gauges()).toMatchObject({ deadLetters: 0 });
	});
});
