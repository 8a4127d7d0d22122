import { createHash } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { START, type World } from "../../../test/storage/conformance/world.ts";
import { patientLocks } from "../../../test/storage/postgres/patient-locks.ts";
import { openNode, worldOf } from "../../../test/storage/postgres/world.ts";
import { PROJECT_WRITES } from "../../base/budgets.ts";
import type { PostgresStorage } from "./index.ts";

const WRITES = 100;
/** How long writes wait for rows that another session locks, milliseconds. Meanwhile, each test checks the calls of other projects. */
const PATIENCE_MS = 5_000;

// Four changes of one project, locked by its own transaction, once kept every other project's calls waiting.
describe("changes of a project whose rows another session locks", () => {
	let server: PostgresServer;
	let url: string;
	let storage: PostgresStorage;
	let world: World;
	let other: Client;
	let patient: Disposable;

	beforeAll(async () => {
		patient = patientLocks(PATIENCE_MS);
		server = await PostgresServer.start();
		url = await server.createDatabase();
		other = new Client({ connectionString: url });
		await other.connect();
		world = await worldOf(async (clock) => (storage = await openNode(url, clock)));
	});
	afterAll(async () => {
		patient[Symbol.dispose]();
		await other.end();
		await storage.close();
		await server.stop();
	});

	/** Resolves when a session waits for a lock. Within a transaction, sessions that begin later don't appear. */
	async function lockWaited(): Promise<void> {
		const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
		await until("a session to wait for a lock", async () => (await server.execute(waits, url)).length > 0);
	}

	async function invite(projectId: string): Promise<Uint8Array> {
		const token = createHash("sha256").update(world.id("invitation")).digest();
		const invitedBy = { kind: "operator_key" as const, id: null, name: "Operator" };
		const about = { projectId, role: "viewer" as const, email: null, invitedBy, createdAt: START };
		await storage.createInvitation({ id: world.id("invitation"), ...about, expiresAt: START + 1, tokenHash: token });
		return token;
	}

	async function account(): Promise<string> {
		const id = world.id("account");
		await storage.createAccount({
			account: { id, email: id, name: "A", operator: false, createdAt: START },
			normalEmail: id,
			passwordHash: "hash",
		});
		return id;
	}

	test("wait one at a time, while others are changed and read", async () => {
		const [held, free] = [await world.project(), await world.project()];
		const [heldWebhook, freeWebhook] = [await world.webhook(held, ["a"]), await world.webhook(free, ["a"])];
		const change = async (projectId: string, webhookId: string, description: string) =>
			(await storage.updateWebhook({ projectId, webhookId, patch: { description } }))?.after.description;
		await other.query("BEGIN");
		await other.query("SELECT FROM posthorn.webhooks WHERE id = $1 FOR UPDATE", [heldWebhook]);
		let settled = 0;
		const changes = Array.from({ length: WRITES }, (_, i) =>
			change(held, heldWebhook, `held ${i}`).finally(() => settled++),
		);
		const outcomes = Promise.allSettled(changes);
		await lockWaited();
		expect(await change(free, freeWebhook, "free")).toBe("free");
		expect((await storage.getWebhook({ projectId: held, webhookId: heldWebhook }))?.description).not.toMatch(/^held/);
		expect(await storage.listWebhooks({ projectId: free, limit: 10 })).toHaveLength(1);
		expect(settled).toBe(0);
		// They are refused with the one that met the lock, so none of them meets it again.
		const refused = (await outcomes).map((outcome) => outcome.status === "rejected" && outcome.reason);
		expect(new Set(refused).size).toBe(1);
		expect(refused[0]).toMatchObject({ code: "locked" });
		await other.query("ROLLBACK");
		expect(await change(held, heldWebhook, "now")).toBe("now");
		expect(await change(held, heldWebhook, "again")).toBe("again");
	});

	// Three projects once took all slots for writes, and invitations had no limit at all.
	test.each<[string, (projectId: string) => Promise<() => Promise<unknown>>]>([
		["renamed", async (projectId) => () => storage.renameProject({ projectId, name: "Renamed" })],
		[
			"joined",
			async (projectId) => {
				const [token, person] = [await invite(projectId), await account()];
				return () => storage.acceptInvitation({ projectId, tokenHash: token, by: { accountId: person }, at: START });
			},
		],
	])("of several projects delay no other: %s", async (_, prepare) => {
		const count = PROJECT_WRITES.apart + PROJECT_WRITES.apartWaiting;
		const held = await Promise.all(Array.from({ length: count }, () => world.project()));
		const heldWrites = await Promise.all(held.map(prepare));
		const free = await Promise.all(Array.from({ length: 4 }, () => world.project()));
		const freeWrites = await Promise.all(free.map(prepare));
		await other.query("BEGIN");
		await other.query("SELECT FROM posthorn.projects WHERE id = ANY ($1) FOR UPDATE", [held]);
		let settled = 0;
		const outcomes = Promise.allSettled(heldWrites.map((write) => write().finally(() => settled++)));
		await lockWaited();
		for (const write of freeWrites) expect(await write()).not.toBeNull();
		expect(settled).toBe(0);
		await other.query("ROLLBACK");
		expect((await outcomes).map(({ status }) => status)).toEqual(Array(count).fill("fulfilled"));
	});

	test("beyond the limit on waiting ones are refused", async () => {
		const projectId = await world.project();
		await other.query("BEGIN");
		await other.query("SELECT FROM posthorn.projects WHERE id = $1 FOR UPDATE", [projectId]);
		const most = PROJECT_WRITES.perOwner + PROJECT_WRITES.waiting;
		const outcomes = Promise.allSettled(
			Array.from({ length: most }, (_, i) => storage.renameProject({ projectId, name: `p ${i}` })),
		);
		await expect(storage.renameProject({ projectId, name: "one more" })).rejects.toMatchObject({ code: "busy" });
		await other.query("ROLLBACK");
		expect((await outcomes).filter(({ status }) => status === "fulfilled")).toHaveLength(most);
	});

	// One locked row, of a key or an expired invitation, once blocked writes to those of all other projects.
	test("block neither the last uses of other keys nor the sweep", async () => {
		const project = await world.project();
		const keys = [world.id("apiKey"), world.id("apiKey")];
		for (const id of keys)
			await storage.createApiKey({
				id,
				projectId: project,
				name: "CI",
				prefix: "phk_abc",
				scopes: ["read"],
				expiresAt: null,
				createdBy: null,
				createdAt: START,
				hash: createHash("sha256").update(id).digest(),
			});
		const tokens = [await invite(project), await invite(project)];
		await other.query("BEGIN");
		await other.query("SELECT FROM posthorn.api_keys WHERE id = $1 FOR UPDATE", [keys[0]]);
		await other.query("SELECT FROM posthorn.invitations WHERE token_hash = $1 FOR UPDATE", [tokens[0]]);
		await storage.touchApiKeys({ uses: new Map(keys.map((id) => [id, START + 5])) });
		await storage.sweepExpired({ at: START + 2 });
		await other.query("ROLLBACK");
		const used = await Promise.all(
			keys.map(async (id) => (await storage.getApiKey({ projectId: project, keyId: id }))?.lastUsedAt),
		);
		expect(used).toEqual([null, START + 5]);
		const left = await Promise.all(tokens.map((token) => storage.findInvitation({ tokenHash: token, at: START })));
		expect(left.map((invitation) => invitation !== null)).toEqual([true, false]);
	});
});
