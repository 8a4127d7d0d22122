import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../testkit/src/postgres.ts";
import { PROJECT_WRITES } from "../../base/budgets.ts";
import { World } from "../conformance/world.ts";
import { openPostgresStorage, type PostgresStorage } from "./index.ts";

const LEASE_TERM_MS = 15_000;
const WRITES = 100;

// Four changes of one project, whose rows a transaction of its own held, kept every other project's calls waiting.
describe("changes of a project whose rows another session holds", { timeout: 60_000 }, () => {
	let server: PostgresServer;
	let url: string;
	let storage: PostgresStorage;
	let world: World;
	let other: Client;

	beforeAll(async () => {
		server = await PostgresServer.start();
		url = await server.createDatabase();
		other = new Client({ connectionString: url });
		await other.connect();
		world = await World.open({
			name: "PostgreSQL",
			capabilities: { manyNodes: true },
			leaseTermMs: LEASE_TERM_MS,
			open: async ({ clock }) => {
				storage = await openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true });
				return storage;
			},
			reopen: () => Promise.reject(new Error("not here")),
			dispose: (each) => each.close(),
		});
	}, START_TIMEOUT_MS);
	afterAll(async () => {
		await other.end();
		await storage.close();
		await server.stop();
	});

	const lockWaits = async (): Promise<number> => {
		const { rows } = await other.query<{ waits: number }>(
			"SELECT count(*)::int AS waits FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
		);
		return rows[0]!.waits;
	};

	test("wait in one connection, and others are changed and read meanwhile", async () => {
		const [held, free] = [await world.project(), await world.project()];
		const [heldWebhook, freeWebhook] = [await world.webhook(held, ["a"]), await world.webhook(free, ["a"])];
		const change = (projectId: string, webhookId: string, description: string) =>
			storage.updateWebhook(projectId, webhookId, { description });
		await other.query("BEGIN");
		await other.query("SELECT FROM posthorn.webhooks WHERE id = $1 FOR UPDATE", [heldWebhook]);
		let settled = 0;
		const changes = Array.from({ length: WRITES }, (_, i) =>
			change(held, heldWebhook, `held ${i}`).finally(() => settled++),
		);
		const outcomes = Promise.allSettled(changes);
		while ((await lockWaits()) === 0);
		expect(await change(free, freeWebhook, "free")).toMatchObject({ description: "free" });
		expect((await storage.getWebhook(held, heldWebhook))?.description).not.toMatch(/^held/);
		expect(await storage.listWebhooks(free, { limit: 10 })).toHaveLength(1);
		expect(await lockWaits()).toBe(1);
		expect(settled).toBe(0);
		// They are refused with the one that met the lock: none of them meets it again.
		const refused = (await outcomes).map((outcome) => outcome.status === "rejected" && outcome.reason);
		expect(new Set(refused).size).toBe(1);
		expect(refused[0]).toMatchObject({ code: "locked" });
		await other.query("ROLLBACK");
		expect(await change(held, heldWebhook, "now")).toMatchObject({ description: "now" });
	});

	test("beyond those that may wait are refused", async () => {
		const projectId = await world.project();
		await other.query("BEGIN");
		await other.query("SELECT FROM posthorn.projects WHERE id = $1 FOR UPDATE", [projectId]);
		const most = PROJECT_WRITES.perOwner + PROJECT_WRITES.waiting;
		const outcomes = Promise.allSettled(
			Array.from({ length: most }, (_, i) => storage.renameProject(projectId, `p ${i}`)),
		);
		await expect(storage.renameProject(projectId, "one more")).rejects.toMatchObject({ code: "locked" });
		await other.query("ROLLBACK");
		expect((await outcomes).filter(({ status }) => status === "fulfilled")).toHaveLength(most);
	});
});
