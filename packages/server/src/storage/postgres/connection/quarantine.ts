import type { Client, ClientBase } from "pg";
import { StorageError } from "../../port.ts";
import * as settings from "../../verbs/settings.ts";
import { runAsync } from "../../verbs/verb.ts";
import { prepareDatabase } from "../migrations/index.ts";
import { Hosts } from "./servers.ts";
import { checkSessions, OWN_NAMES } from "./session-settings.ts";

/** A node that reported within this time may still run, milliseconds. Its leases end within it too. */
const NODE_LIVES_MS = 10_000;

/**
 * Migrates a restored database and puts it in quarantine: nodes that start on it send nothing until an operator releases
 * it. Changes nothing and rejects with a StorageError: `in_use` if nodes run on it, `unusable` if it has no schema of
 * Posthorn.
 *
 * @returns the latest time that the backup contains, milliseconds since the Unix epoch; null if no node ever ran on it
 */
export async function quarantinePostgres(url: string): Promise<{ readonly backupAt: number | null }> {
	const hosts = await expectUnused(url);
	await prepareDatabase(hosts);
	return await once(hosts, mark);
}

/** Rejects as {@link quarantinePostgres} does if nodes run on the database, or it has no schema of Posthorn. */
export async function expectNoNodes(url: string): Promise<void> {
	await expectUnused(url);
}

async function expectUnused(url: string): Promise<Hosts> {
	const hosts = new Hosts(url);
	await hosts.connect(checkSessions);
	await once(hosts, mustBeOurs);
	// Nodes of an earlier release would fail on the new schema.
	await once(hosts, mustBeUnused);
	return hosts;
}

const once = <T>(hosts: Hosts, work: (client: Client) => Promise<T>): Promise<T> =>
	hosts.once(async (client) => {
		await client.query(OWN_NAMES.session);
		return work(client);
	});

async function mustBeOurs(client: Client): Promise<void> {
	const { rows } = await client.query<{ isOurs: boolean }>(
		`SELECT to_regclass('posthorn.settings') IS NOT NULL AS "isOurs"`,
	);
	if (!rows[0]!.isOurs)
		throw new StorageError(
			"unusable",
			"This database has no schema named posthorn: restore the backup into it first, such as with pg_restore.",
		);
}

async function mustBeUnused(client: Client): Promise<void> {
	const { rows: tables } = await client.query<{ exist: boolean }>(
		"SELECT to_regclass('posthorn.nodes') IS NOT NULL AND to_regclass('posthorn.leases') IS NOT NULL AS exist",
	);
	// Older schemas have none.
	if (!tables[0]!.exist) return;
	// A node that has just started takes leases before its first report.
	const { rows } = await client.query<{ nodes: number }>(
		`SELECT count(*)::integer AS nodes FROM (
			SELECT holder FROM posthorn.nodes WHERE seen_at >= posthorn.now_ms() - $1
			UNION SELECT holder FROM posthorn.leases WHERE until > posthorn.now_ms()
		) living`,
		[NODE_LIVES_MS],
	);
	const { nodes } = rows[0]!;
	if (nodes > 0)
		throw new StorageError(
			"in_use",
			`${nodes === 1 ? "A node uses" : `${nodes} nodes use`} this database: stop every node, wait 10 seconds, and try again.`,
		);
}

async function mark(client: Client): Promise<{ readonly backupAt: number | null }> {
	await client.query("BEGIN");
	try {
		// Waits for nodes that are taking leases. Those that want to take some wait, and then see the mark.
		await client.query("LOCK TABLE posthorn.nodes, posthorn.leases IN SHARE ROW EXCLUSIVE MODE");
		await mustBeUnused(client);
		const backupAt = await beginQuarantine(client);
		await client.query("COMMIT");
		return { backupAt };
	} catch (error) {
		await client.query("ROLLBACK").catch(() => client.end());
		throw error;
	}
}

/**
 * Marks the database, in a transaction.
 * @returns the latest time that it contains, milliseconds since the Unix epoch; null if no node ever ran on it
 */
export function beginQuarantine(client: ClientBase): Promise<number | null> {
	// The driver wants one statement at a time.
	let last: Promise<unknown> = Promise.resolve();
	return runAsync(settings.beginQuarantine({ now: Date.now() }), (part) => {
		last = last.then(async () => {
			if (!("template" in part)) throw new Error("only statements run outside a node");
			return (await client.query(part.template.text("postgres"), [...part.values])).rows;
		});
		return last;
	});
}
