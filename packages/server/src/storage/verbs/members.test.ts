import { Client } from "pg";
import { expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { hashOf, makeAccount } from "../../../test/storage/conformance/accounts.ts";
import { START } from "../../../test/storage/conformance/world.ts";
import { patientLocks } from "../../../test/storage/postgres/patient-locks.ts";
import { LEASE_TERM_MS, openNode, worldOf } from "../../../test/storage/postgres/world.ts";
import { openPostgresStorage } from "../postgres/index.ts";

/** How long a node waits for rows that the test or the other node has locked, milliseconds. */
const PATIENCE_MS = 10_000;

// Each counted before the other's invitation was stored.
test("no more invitations are open than may be, even if two nodes create them concurrently", async () => {
	using _patient = patientLocks(PATIENCE_MS);
	await using server = await PostgresServer.start();
	const url = await server.createDatabase();
	const world = await worldOf((clock) => openNode(url, clock));
	const node = await openPostgresStorage({ url, clock: world.clock, leaseTermMs: LEASE_TERM_MS });
	const projectId = await world.project();
	// Neither can store its invitation before both have counted, unless one waits for the other before that.
	const other = new Client({ connectionString: url });
	await other.connect();
	await other.query("BEGIN");
	await other.query("LOCK TABLE posthorn.invitations IN SHARE MODE");
	const invited = [world.storage, node].map((storage) => {
		const id = world.id("invitation");
		const invitedBy = { kind: "operator_key" as const, id: null, name: "Operator" };
		const about = { projectId, role: "viewer" as const, email: null, invitedBy, most: 1 };
		return storage.createInvitation({
			...{ id, ...about, tokenHash: hashOf(id) },
			...{ createdAt: START, expiresAt: START + 1_000 },
		});
	});
	const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
	await until("both to wait for a lock", async () => (await server.execute(waiting, url)).length === 2);
	await other.query("COMMIT");
	expect((await Promise.all(invited)).sort()).toEqual(["created", "too_many"]);
	expect(await node.listInvitations({ projectId, at: START })).toHaveLength(1);
	await other.end();
	await node.close();
	await world.dispose();
});

test("if two owners step down concurrently on two nodes, one stays", async () => {
	using _patient = patientLocks(PATIENCE_MS);
	await using server = await PostgresServer.start();
	const url = await server.createDatabase();
	const world = await worldOf((clock) => openNode(url, clock));
	const node = await openPostgresStorage({ url, clock: world.clock, leaseTermMs: LEASE_TERM_MS });
	const project = await world.project();
	const owners = [await makeAccount(world, "ada@example.com"), await makeAccount(world, "grace@example.com")];
	for (const { id } of owners) {
		const invitedBy = { kind: "account" as const, id: world.id("account"), name: "Alan" };
		const about = { projectId: project, role: "owner" as const, email: null, invitedBy };
		const invitation = { id: world.id("invitation"), ...about, createdAt: START, expiresAt: START + 1_000 };
		await world.storage.createInvitation({ ...invitation, tokenHash: hashOf(invitation.id) });
		await world.storage.acceptInvitation({
			projectId: project,
			tokenHash: hashOf(invitation.id),
			by: { accountId: id },
			at: START,
		});
	}
	// Neither can write before both have read who the owners are, unless one waits for the other before that.
	const other = new Client({ connectionString: url });
	await other.connect();
	await other.query("BEGIN");
	await other.query("SELECT FROM posthorn.memberships FOR UPDATE");
	const changes = [world.storage, node].map((storage, i) =>
		storage.setRole({ projectId: project, accountId: owners[i]!.id, role: "viewer" }),
	);
	const waiting = `
		SELECT FROM pg_stat_activity WHERE wait_event IN ('transactionid', 'tuple') AND datname = current_database()`;
	await until("both to wait for a row", async () => (await server.execute(waiting, url)).length === 2);
	await other.query("COMMIT");
	expect((await Promise.all(changes)).sort()).toEqual(["changed", "last_owner"]);
	const roles = await Promise.all(owners.map(({ id }) => node.getRole({ projectId: project, accountId: id })));
	expect(roles.sort()).toEqual(["owner", "viewer"]);
	await other.end();
	await node.close();
	await world.dispose();
});
