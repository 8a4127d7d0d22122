import { Client } from "pg";
import { expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { within } from "../../../../testkit/src/until.ts";
import { openNode, worldOf } from "../../../test/storage/postgres/world.ts";
import { POOLS } from "../../base/budgets.ts";
import type { PostgresStorage } from "./index.ts";

// One project's counts held every connection of the API. Others' publishing, whose keys are looked up again each time a
// node reports a change of their project, waited for those.
test("keys, sessions and roles are looked up while slow reads hold the rest of the connections", async () => {
	const server = await PostgresServer.start();
	const url = await server.createDatabase();
	let storage!: PostgresStorage;
	const world = await worldOf(async (clock) => (storage = await openNode(url, clock)));
	const projectId = await world.project();
	const other = new Client({ connectionString: url });
	await other.connect();
	await other.query("BEGIN; LOCK TABLE posthorn.attempts IN ACCESS EXCLUSIVE MODE");
	const slow = Array.from({ length: 2 * POOLS.people }, () =>
		storage.countAttempts({ projectId, filter: {}, max: 10 }),
	);
	const tokenHash = new Uint8Array(32);
	const found = Promise.all([
		storage.findApiKey({ hash: tokenHash }),
		storage.findSession({ tokenHash, at: 0 }),
		storage.getRole({ projectId, accountId: "acc_none" }),
		storage.getProject({ projectId }),
	]);
	expect(await within("the lookups", found)).toEqual([null, null, null, expect.objectContaining({ id: projectId })]);
	await other.query("ROLLBACK");
	expect(await Promise.all(slow)).toHaveLength(slow.length);
	await other.end();
	await world.dispose();
	await server.stop();
});
