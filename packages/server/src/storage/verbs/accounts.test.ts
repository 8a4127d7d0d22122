import { Client } from "pg";
import { expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { accountOf, hashOf } from "../../../test/storage/conformance/accounts.ts";
import { START } from "../../../test/storage/conformance/world.ts";
import { openNode, worldOf } from "../../../test/storage/postgres/world.ts";

test("if two setup links are used concurrently on two nodes, one creates the operator", async () => {
	await using server = await PostgresServer.start();
	const url = await server.createDatabase();
	const world = await worldOf((clock) => openNode(url, clock));
	const node = await openNode(url, world.clock);
	const emails = ["ada@example.com", "grace@example.com"];
	for (const email of emails)
		await node.createLink({ kind: "setup", supersedes: START, tokenHash: hashOf(email), expiresAt: START + 9 });
	// Neither can write before both have looked for an operator, unless one waits for the other before that.
	const other = new Client({ connectionString: url });
	await other.connect();
	await other.query("BEGIN");
	for (const email of emails)
		await other.query("INSERT INTO posthorn.accounts VALUES ($1, $1, $1, '', false, '', 0)", [email]);
	const made = [world.storage, node].map((storage, i) => {
		const [email, account] = [emails[i]!, accountOf(world, emails[i]!, { operator: true })];
		return storage.createOperator({
			...{ account, normalEmail: email, passwordHash: "hash" },
			...{ tokenHash: hashOf(email), at: START },
		});
	});
	const waiting = `
		SELECT FROM pg_stat_activity WHERE wait_event IN ('transactionid', 'tuple') AND datname = current_database()`;
	await until("both to wait for a row", async () => (await server.execute(waiting, url)).length === 2);
	await other.query("ROLLBACK");
	expect((await Promise.all(made)).sort()).toEqual(["created", "over"]);
	await other.end();
	await node.close();
	await world.dispose();
});
