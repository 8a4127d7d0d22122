import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import type { World } from "../../../test/storage/conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "../../../test/storage/postgres/databases.ts";
import { patientLocks } from "../../../test/storage/postgres/patient-locks.ts";
import { openNode, worldOf } from "../../../test/storage/postgres/world.ts";
import type { AppendRequest, Lease, LogEvent } from "../port.ts";
import type { PostgresStorage } from "./index.ts";

const NODE = "node_a";
/** How long calls wait for rows that a test releases, milliseconds. */
const PATIENCE_MS = 10_000;
const DAY = 86_400_000;
/** How often the others do everything while the rows stay locked. */
const ROUNDS = 20;

/** Rows of one project that another session of the database may lock. */
const ROWS: Readonly<Record<string, string>> = {
	logs: "SELECT FROM posthorn.logs WHERE project_no = $1 FOR UPDATE",
	leases: "SELECT FROM posthorn.leases WHERE project_no = $1 FOR UPDATE",
	lanes: "SELECT FROM posthorn.lanes WHERE project_no = $1 FOR UPDATE",
	webhooks: "SELECT FROM posthorn.webhooks WHERE project_no = $1 FOR UPDATE",
	projects: "SELECT FROM posthorn.projects WHERE no = $1 FOR UPDATE",
};

// A store's transaction that published and then waited once stopped all publishing and delivering on all nodes.
describe("project rows that another session holds", () => {
	let server: PostgresServer;
	let url: string;
	let storage: PostgresStorage;
	let world: World;
	let other: Client;

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await takeDatabase(server);
		other = new Client({ connectionString: url });
		await other.connect();
		world = await worldOf(async (clock) => (storage = await openNode(url, clock)));
	});
	afterEach(async () => {
		await other.end();
		await storage.close();
		await giveDatabaseBack(server, url);
	});

	async function hold(statement: string, projectId: string): Promise<void> {
		const { rows } = await other.query<{ no: number }>("SELECT no FROM posthorn.projects WHERE id = $1", [projectId]);
		await other.query("BEGIN");
		await other.query(statement, [rows[0]!.no]);
	}

	async function project() {
		const id = await world.project();
		const webhook = await world.webhook(id, ["a"]);
		await world.publish(id, "a");
		return { id, webhook, lease: await world.lease(id) };
	}
	type Project = Awaited<ReturnType<typeof project>>;

	const request = ({ id }: Project): AppendRequest => {
		return { projectId: id, publishedAt: world.clock.now(), events: [world.event(id, "a")] };
	};
	const outcome = (
		{ id, webhook, lease }: Project,
		{ seq, type }: Pick<LogEvent, "seq" | "type">,
		status: "delivered" | "failed" = "delivered",
	) => ({
		projectId: id,
		generation: lease.generation,
		attempts: [world.attempt(webhook, { seq, type }, { status })],
		schedule: [],
		unschedule: [],
		lanes: [{ webhookId: webhook, position: seq, open: [] }],
	});

	for (const [table, statement] of Object.entries(ROWS))
		test(`delay no other project: ${table}`, async () => {
			const [held, free] = [await project(), await project()];
			const mark = (await storage.loadLanes({ projectId: free.id })).seen;
			await hold(statement, held.id);
			let heldEnd = { appended: "", settled: "" };
			const first = (await world.log(held.id))[0]!;
			const late = outcome(held, first);
			for (let round = 1; round <= ROUNDS; round++) {
				// Like a node, with both projects in one call.
				const [mine, theirs] = await storage.appendEvents({ requests: [request(held), request(free)] });
				expect(theirs).toMatchObject({ kind: "appended", events: [{ seq: round + 1 }] });
				const [verdict, other] = await storage.settle({
					settlements: [late, outcome(free, { seq: round, type: "a" })],
				});
				expect(other).toBe("settled");
				heldEnd = { appended: mine!.kind, settled: verdict! };
				const renewal = await storage.renewLeases({ holder: NODE, leases: [held.lease, free.lease] });
				expect(renewal.renewed.map(({ projectId }) => projectId)).toContain(free.id);
				expect(renewal.renewed.length + renewal.locked.length).toBe(2);
				const told = [held, free].map(({ lease }) => ({ lease, revision: mark.revision }));
				expect(
					(await storage.peers.acknowledge({ acknowledgements: told })).map(({ lease }) => lease.projectId),
				).not.toContain(free.id);
			}
			// Neither the sweep nor acquiring projects waits.
			await storage.sweepAttempts({ cutoff: world.clock.now() + DAY, limit: 100, from: 0 });
			await storage.sweepEvents({ cutoff: world.clock.now() + DAY, limit: 100, from: 0 });
			const idle = await world.project();
			await world.publish(idle, "a");
			expect((await storage.acquireLeases({ holder: NODE, limit: 10 })).map(({ projectId }) => projectId)).toEqual([
				idle,
			]);
			await other.query("COMMIT");
			// The pending work is done now, and nothing is done twice.
			expect(heldEnd).toEqual({
				appended: table === "logs" ? "locked" : "appended",
				settled: table === "leases" || table === "lanes" ? "locked" : expect.stringMatching(/^settled$/),
			});
			expect(await storage.settle({ settlements: [late] })).toEqual(["settled"]);
			expect((await storage.renewLeases({ holder: NODE, leases: [held.lease] })).renewed).toHaveLength(1);
			expect(await storage.appendEvents({ requests: [request(held)] })).toMatchObject([{ kind: "appended" }]);
			const log = await world.log(held.id);
			expect(log.map(({ seq }) => seq)).toEqual(log.map((_, i) => log[0]!.seq + i));
			expect(log.at(-1)!.seq).toBe(heldEnd.appended === "locked" ? 2 : ROUNDS + 2);
		});

	// Two concurrent sweeps once each held what the other needed, and both left the project for later.
	test("the sweep locks no webhooks of a project that another session holds", async () => {
		const [held, free] = [await project(), await project()];
		for (const one of [held, free])
			expect(await storage.settle({ settlements: [outcome(one, { seq: 1, type: "a" }, "failed")] })).toEqual([
				"settled",
			]);
		await hold(ROWS.leases!, held.id);
		const third = new Client({ connectionString: url });
		await third.connect();
		try {
			await third.query("BEGIN");
			await third.query("SELECT FROM posthorn.attempts ORDER BY project_no DESC LIMIT 1 FOR UPDATE");
			const swept = storage.sweepAttempts({ cutoff: world.clock.now() + DAY, limit: 100, from: 0 });
			const stuck = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
			await until("the sweep to wait for the entry", async () => (await server.execute(stuck, url)).length === 1);
			const { rowCount } = await other.query("SELECT FROM posthorn.lanes FOR UPDATE SKIP LOCKED");
			expect(rowCount).toBe(1);
			await third.query("ROLLBACK");
			expect(await swept).toMatchObject({ deleted: 1 });
		} finally {
			await third.end();
		}
		await other.query("COMMIT");
	});

	// A role that may only publish could stop all nodes from settling at midnight, and keep nodes from starting.
	test("advisory locks, which any role may take, stop nothing", async () => {
		await other.query("SELECT pg_advisory_lock(8102087430316384818 + n) FROM generate_series(-64, 64) n");
		const next = await openNode(url, world.clock);
		await next.close();
		const mine = await project();
		expect(await storage.settle({ settlements: [outcome(mine, (await world.log(mine.id))[0]!)] })).toEqual(["settled"]);
		const waiting = async () => (await other.query("SELECT FROM posthorn.attempt_counts")).rowCount;
		expect(await waiting()).toBe(1);
		await storage.sweepAttempts({ cutoff: 0, limit: 100, from: 0 });
		expect(await waiting()).toBe(0);
	});

	// Each waited half a second, four at a time, so a stopping node didn't finish in time.
	test("if many leases are released while their rows are locked, few wait, and unlocked ones are released", async () => {
		const locked: Project[] = [];
		for (let n = 0; n < 40; n++) locked.push(await project());
		const free = await project();
		await other.query("BEGIN");
		await other.query(
			"SELECT FROM posthorn.leases JOIN posthorn.projects p ON p.no = project_no WHERE id <> $1 FOR UPDATE OF leases",
			[free.id],
		);
		const seen = { lastSeq: 1, revision: 1 };
		let left = locked.length + 1;
		const results = Promise.allSettled(
			[...locked, free].map(({ lease }) =>
				storage.releaseLease({ lease, wakeAt: null, seen }).finally(() => {
					left -= 1;
				}),
			),
		);
		let most = 0;
		await until("all leases to be released", () => {
			const { busy, waiting } = storage.pools.waiting;
			most = Math.max(most, busy + waiting);
			return left === 0;
		});
		expect(most).toBeGreaterThan(0);
		expect(most).toBeLessThanOrEqual(16);
		const errors = (await results).map((result) => (result.status === "rejected" ? result.reason.code : null));
		expect(errors).toEqual([...locked.map(() => "locked"), null]);
		await other.query("ROLLBACK");
	});

	test("a locked alarm only blocks its own project's events", async () => {
		const [held, free] = [await project(), await project()];
		const { seen } = await storage.loadLanes({ projectId: held.id });
		await storage.releaseLease({ lease: held.lease, wakeAt: null, seen });
		await hold(ROWS.leases!, held.id);
		expect(await storage.appendEvents({ requests: [request(held), request(free)] })).toMatchObject([
			{ kind: "locked" },
			{ kind: "appended" },
		]);
		// Acquiring a named project doesn't wait for a free lease either.
		expect(await storage.acquireLeases({ holder: NODE, limit: 10, projectIds: [held.id] })).toEqual([]);
		await other.query("COMMIT");
		expect(await storage.appendEvents({ requests: [request(held)] })).toMatchObject([{ kind: "appended" }]);
		const taken: Lease[] = await storage.acquireLeases({ holder: NODE, limit: 10 });
		expect(taken.map(({ projectId }) => projectId)).toEqual([held.id]);
	});

	test("a call for one project may wait for its lock, and succeeds when the lock is released", async () => {
		const one = await project();
		{
			using _patient = patientLocks(PATIENCE_MS);
			await hold(ROWS.logs!, one.id);
			const waiting = storage.appendEvents({ requests: [request(one)], waits: true });
			await blocked();
			await other.query("COMMIT");
			expect(await waiting).toMatchObject([{ kind: "appended", events: [{ seq: 2 }] }]);
			await hold(ROWS.leases!, one.id);
			const settling = storage.settle({ settlements: [outcome(one, { seq: 1, type: "a" })], waits: true });
			await blocked();
			await other.query("COMMIT");
			expect(await settling).toEqual(["settled"]);
		}
		await hold(ROWS.leases!, one.id);
		expect(await storage.settle({ settlements: [outcome(one, { seq: 2, type: "a" })], waits: true })).toEqual([
			"locked",
		]);
		await other.query("COMMIT");
	});

	// Its lane was found by a version of the row that was no longer the newest, and stayed as it was.
	test.each([0, 1_000])(
		"an attempt of an earlier lease is settled on a lane that moves %i events ahead",
		async (more) => {
			using _patient = patientLocks(PATIENCE_MS);
			const { id, webhook, lease } = await project();
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 1, open: [1] }] });
			const handedOver = {
				webhookId: webhook,
				seq: 1,
				replay: 0,
				queue: null,
				until: world.clock.now() + DAY,
			} as const;
			const { seen } = await storage.loadLanes({ projectId: id });
			await storage.releaseLease({ lease, wakeAt: null, seen, inFlight: [handedOver] });
			await hold(
				`UPDATE posthorn.lanes SET position = position + ${more}, stretch = ${more} >> 8 WHERE project_no = $1`,
				id,
			);
			const settlement = outcome({ id, webhook, lease }, { seq: 1, type: "a" });
			const settling = storage.settleHandedOver({ handedOver, settlement });
			await blocked();
			await other.query("COMMIT");
			expect(await settling).toBe("settled");
			expect(await world.lane(id, webhook)).toMatchObject({ position: 1 + more, open: [] });
		},
	);

	/** Resolves when a session waits for a lock. */
	async function blocked(): Promise<void> {
		const watcher = new Client({ connectionString: url });
		await watcher.connect();
		const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
		await until("a session to wait for a lock", async () => (await watcher.query(waits)).rowCount !== 0);
		await watcher.end();
	}
});
