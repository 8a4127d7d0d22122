/**
 * Nodes on one PostgreSQL share the projects. Every project here has a delivery that fails and is due again a moment
 * later, forever, so all of them always have work; which node owns which is read from the database.
 */
import { PostgresServer } from "@posthorn/testkit/postgres";
import { patience } from "@posthorn/testkit/until";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LeaseLedger } from "./lease-ledger.ts";
import { SharingNode } from "./sharing-node.ts";

const PROJECTS = 24;
const OPENED = "posthorn_database_connections_opened_total";
const LOST = "posthorn_database_connections_lost_total";
const TAKEN_OVER = "posthorn_projects_taken_over_total";
/** The most projects a node holds before it releases some: a quarter more than its share. */
const mostOf = (nodes: number) => Math.ceil((PROJECTS / nodes) * 1.25);

describe("sharing projects", () => {
	let server: PostgresServer;
	let url: string;
	let ledger: LeaseLedger;
	const nodes: SharingNode[] = [];

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		ledger = new LeaseLedger();
	});
	afterEach(async () => {
		await Promise.all(nodes.splice(0).map((node) => node.stop()));
		await server.dropDatabase(url);
	});

	async function join(): Promise<SharingNode> {
		const node = await SharingNode.start(url, ledger);
		nodes.push(node);
		return node;
	}

	/** How many projects each node currently owns, in descending order. */
	async function worked(): Promise<number[]> {
		const rows = await server.execute(
			"SELECT count(*)::int AS n FROM posthorn.leases WHERE until > posthorn.now_ms() GROUP BY holder ORDER BY n DESC",
			url,
		);
		return rows.map(({ n }) => n as number);
	}

	/** Resolves when every project has an owner among this many nodes, each with its share. */
	async function untilShared(among: number): Promise<void> {
		const stillInTime = patience(`${among} nodes to share the projects out`);
		for (;;) {
			stillInTime();
			const counts = await worked();
			const all = counts.reduce((sum, n) => sum + n, 0) === PROJECTS;
			if (all && counts.length === among && counts[0]! <= mostOf(among)) return;
			await ledger.change();
		}
	}

	/** Checks that each delivery's attempts are numbered without a gap and logged once each. */
	async function expectWholeSeries(): Promise<void> {
		const rows = await server.execute(
			`SELECT project_no, count(*)::int AS logged, count(DISTINCT attempt)::int AS numbers, max(attempt) AS last
			FROM posthorn.attempts GROUP BY project_no, webhook_no, seq`,
			url,
		);
		expect(rows).toHaveLength(PROJECTS);
		for (const { logged, numbers, last } of rows) expect([logged, numbers]).toEqual([last, last]);
	}

	test("joining nodes take their share, and a leaving node's share goes to the others", async () => {
		const first = await join();
		for (let i = 0; i < PROJECTS; i++) await first.addProject();
		await untilShared(1);
		const [second] = [await join(), await join()];
		await untilShared(3);
		await second.stop();
		await untilShared(2);
		await join();
		await untilShared(3);
		await Promise.all(nodes.map((node) => node.stop()));
		expect(ledger.violations).toEqual([]);
		expect(await worked()).toEqual([]);
		await expectWholeSeries();
	});

	test("a hanging node's projects go to others, and its late outcomes are refused", async () => {
		const first = await join();
		for (let i = 0; i < PROJECTS; i++) await first.addProject();
		const [second, third] = [await join(), await join()];
		await untilShared(3);
		second.hang();
		await untilShared(2);
		second.goOn();
		await untilShared(3);
		const [lost, took] = [await second.samples(), await third.samples()];
		const why = ["stale", "expired"].map((why) => lost.get(`posthorn_projects_lost_total{why="${why}"}`)!);
		expect(why[0]! + why[1]!).toBeGreaterThan(0);
		expect((await first.samples()).get(TAKEN_OVER)! + took.get(TAKEN_OVER)!).toBeGreaterThan(0);
		await Promise.all(nodes.map((node) => node.stop()));
		expect(ledger.violations).toEqual([]);
		await expectWholeSeries();
	});

	test("each node exposes its own and its connections' metrics, without names", async () => {
		const [node] = [await join(), await join()];
		for (let i = 0; i < PROJECTS; i++) await node.addProject();
		await untilShared(2);
		// It recomputes its share a few times per lease duration.
		const part = [mostOf(2), 2];
		let before = await node.samples();
		const stillInTime = patience("the node to know its share");
		while (String([before.get("posthorn_node_share_projects"), before.get("posthorn_nodes")]) !== String(part)) {
			stillInTime();
			await ledger.change();
			before = await node.samples();
		}
		await server.execute(
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = 'posthorn' AND datname = '${new URL(url).pathname.slice(1)}'`,
		);
		const lost = (samples: ReadonlyMap<string, number>, name: string) =>
			[...samples].filter(([key]) => key.startsWith(`${name}{`)).reduce((sum, [, value]) => sum + value, 0);
		// It continues over new connections.
		let after = before;
		const stillWorks = patience("the node to continue over new connections");
		while (lost(after, OPENED) === lost(before, OPENED) || lost(after, LOST) === 0) {
			stillWorks();
			await ledger.change();
			after = await node.samples();
		}
		await untilShared(2);

		const [[info]] = [[...before].filter(([key]) => key.startsWith("posthorn_node_info"))];
		expect(info).toEqual([expect.stringMatching(/^posthorn_node_info\{node="node_[0-9a-z]{26}"\}$/), 1]);
		expect(before.get("posthorn_node_projects")).toBeGreaterThan(0);
		for (const pool of ["publish", "settle", "engine"])
			expect(before.get(`posthorn_database_commit_duration_seconds_count{pool="${pool}"}`)).toBeGreaterThan(0);
		const labels = [...after.keys()].flatMap((key) => [...key.matchAll(/[{,](\w+)="([^"]*)"/g)]);
		const values = Map.groupBy(labels, ([, label]) => label!);
		expect(new Set(values.get("pool")!.map(([, , value]) => value))).toEqual(
			new Set(["publish", "settle", "engine", "access", "people", "waiting"]),
		);
		expect([...values.keys()].sort()).toEqual([
			"cause",
			"le",
			"node",
			"outcome",
			"pool",
			"rows",
			"state",
			"version",
			"why",
		]);
	});
});
