/** What a node's log says of a database that is away: enough to notice, not a line for each of its polls. */
import { randomBytes } from "node:crypto";
import { until } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { expect, test } from "vitest";
import { purchase, Shop } from "./shop.ts";

/** What a node tries regularly, with what it logs once it succeeds again. */
const TRIED = {
	"failed to take projects: storage is unavailable": "projects are taken again",
	"failed to renew leases: storage is unavailable": "leases are renewed again",
	"failed to report to other nodes that this one is alive": "this node reports to others again that it is alive",
	"failed to read what other nodes changed": "what other nodes changed is read again",
	"storage did not read and commit": "storage reads and commits again",
} as const;

// A node wrote three of these lines a second, each with a stack.
test("an outage is logged when it begins, now and then, and when it is over", async () => {
	const server = await PostgresServer.start({ own: true });
	const shop = await Shop.open({
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
	});
	const lines: { readonly msg: string; readonly failures?: number }[] = [];
	let rest = "";
	shop.service.process.stdout!.on("data", (part) => {
		const parts = (rest + part).split("\n");
		rest = parts.pop()!;
		lines.push(...parts.map((line) => JSON.parse(line)));
	});
	const have = (text: string) => lines.filter(({ msg }) => msg === text);
	try {
		const receiver = await shop.receiver({ respond: () => "hang" });
		await shop.webhook(receiver.url("/"));
		await shop.post(shop.path("/events"), purchase(1));
		// The node has the project's lease, and keeps it.
		await receiver.count(1);
		await server.shutDown();
		await until("the second line of the most frequent failure", async () => {
			await shop.get("/readyz");
			return have("failed to take projects: storage is unavailable").some(({ failures = 0 }) => failures >= 10);
		});
		for (const failed of Object.keys(TRIED)) await until(failed, () => have(failed).length > 0);
		await server.startAgain();
		for (const over of Object.values(TRIED))
			await until(over, async () => {
				await shop.get("/readyz");
				return have(over).length > 0;
			});
		// These fail every second. The others fail too seldom for their lines to be fewer.
		for (const failed of [
			"failed to take projects: storage is unavailable",
			"failed to read what other nodes changed",
		] as const)
			expect(have(failed).length, failed).toBeLessThan(have(TRIED[failed])[0]!.failures! / 2);
	} finally {
		await shop[Symbol.asyncDispose]();
		await server.stop();
	}
});
