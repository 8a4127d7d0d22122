import { DATABASE_CONNECTIONS } from "../base/budgets.ts";
import { SEAL_CHECK } from "../base/seal.ts";
import type { Config } from "../config/index.ts";
import { apartText } from "../engine/retention-clock.ts";
import { CLOCK_JUMPED, CLOCK_SEEN, QUARANTINE } from "../storage/port.ts";
import { type ConnectionLimit, type DatabaseFacts, examinePostgres } from "../storage/postgres/connection/examine.ts";
import { adviceAtStart, examineStored, type Finding, fault, ok, warning } from "./local.ts";

/** Connections that a node may open. With fewer, it would have to wait for them when one project's rows are locked. */
const CONNECTIONS_OF_A_NODE = DATABASE_CONNECTIONS.lasting + DATABASE_CONNECTIONS.brief;

const SESSION_POOL = ok(
	"Pool",
	`A pool that keeps sessions is in front of the database: allow it ${CONNECTIONS_OF_A_NODE} connections per node.`,
);

/** Checks the server, this user's permissions, the schema, and the clock. */
export async function examineServer(url: string, config: Config): Promise<Finding[]> {
	try {
		const facts = await examinePostgres(url, [SEAL_CHECK, CLOCK_SEEN, CLOCK_JUMPED, QUARANTINE]);
		const { place, version, pooled, clockDifferenceMs, connections } = facts;
		const apart = apartText(clockDifferenceMs);
		return [
			facts.readOnly
				? fault("Database", `PostgreSQL ${version} at ${place} is read-only: ${remedyFor(facts)}.`)
				: ok("Database", `PostgreSQL ${version} at ${place} responds.`),
			...(pooled ? [SESSION_POOL] : []),
			schemaOf(facts),
			...otherPartitionsOf(facts),
			...indexesOf(facts),
			...examineStored(config, "", (name) => facts.settings.get(name) ?? null),
			PRIVACY[facts.privacy],
			durabilityOf(facts),
			...lossesOf(facts),
			connectionsOf(connections),
			apart === null
				? ok("Clock", `Within ${(Math.abs(clockDifferenceMs) / 1_000).toFixed(1)} s of the database's.`)
				: warning("Clock", apart),
		];
	} catch (error) {
		return [fault("Database", adviceAtStart(error as Error))];
	}
}

const NOT_ITS_OWNER = fault(
	"Schema",
	"This user may not create and drop the daily tables of the delivery log, because it isn't the owner of posthorn.attempts: make it the " +
		"owner of the schema posthorn and of everything in it, as docs/operations/backup.md shows.",
);

const remedyFor = ({ isStandby }: DatabaseFacts): string =>
	isStandby
		? "point POSTHORN_DATABASE_URL at the server that accepts writes"
		: "default_transaction_read_only is on for the server, the database or this user, so turn it off";

const named = (tables: readonly string[]): string => tables.map((table) => `posthorn.${table}`).join(", ");

function schemaOf(facts: DatabaseFacts): Finding {
	const { schema, knownSchema, mayPrepare, mayKeepLog, hasSchema, quotedUser, hidden, missing } = facts;
	if (hidden.length > 0)
		return fault(
			"Schema",
			`Row-level security hides rows from this user in ${named(hidden)}: ALTER TABLE … DISABLE ROW LEVEL SECURITY, or NO FORCE ROW LEVEL SECURITY for their owner.`,
		);
	const tables = missing.filter(({ statement }) => statement === null).map(({ name }) => name);
	if (tables.length > 0)
		return fault(
			"Schema",
			`Tables are missing: ${named(tables)}. If they were renamed or moved, undo that; otherwise restore a backup.`,
		);
	if (schema > knownSchema)
		return fault(
			"Schema",
			`Created by a newer version (schema ${schema}; this version supports ${knownSchema}): start that version, or restore a backup made before the upgrade.`,
		);
	if (schema === knownSchema) return mayKeepLog ? ok("Schema", "Up to date.") : NOT_ITS_OWNER;
	if (mayPrepare) return ok("Schema", "Will be migrated at the next start, or by posthorn migrate.");
	const remedy = hasSchema
		? "of the schema posthorn and its tables."
		: `of a new schema: CREATE SCHEMA posthorn AUTHORIZATION ${quotedUser}`;
	return fault(
		"Schema",
		`Needs a migration, which this user may not run: make it the owner of the database, or ${remedy}`,
	);
}

function otherPartitionsOf({ otherPartitions }: DatabaseFacts): Finding[] {
	if (otherPartitions.length === 0) return [];
	const text = `Retention never deletes attempts in these partitions of posthorn.attempts: ${otherPartitions.join(", ")}. Delete what has expired there, or detach them.`;
	return [warning("Delivery log", text)];
}

const INDEXES_NAMED = 5;

/** Indexes and keys that were dropped, or that an incomplete restore didn't create. */
function indexesOf({ missing }: DatabaseFacts): Finding[] {
	const statements = missing.map(({ statement }) => statement).filter((statement) => statement !== null);
	// Those of a missing table come back with it.
	if (statements.length === 0 || statements.length < missing.length) return [];
	const first = statements.slice(0, INDEXES_NAMED).join(" ");
	const more = statements.length > INDEXES_NAMED ? " …" : "";
	return [
		warning(
			"Indexes",
			`${statements.length} missing, so statements are slow or fail. Create them again: ${first}${more}`,
		),
	];
}

/** Whether others can read the connection to the database, by what was found. */
export const PRIVACY: Readonly<Record<DatabaseFacts["privacy"], Finding>> = {
	local: ok("Encryption", "The connection to the database doesn't leave this machine."),
	encrypted: ok("Encryption", "The connection to the database is encrypted, and its certificate verified."),
	unverified: warning(
		"Encryption",
		"The database's certificate isn't verified, so another machine could pretend to be the database: set sslmode=verify-full in POSTHORN_DATABASE_URL.",
	),
	readable: warning(
		"Encryption",
		"The connection to the database isn't encrypted, so others on its network can read the password and all events: set sslmode=verify-full in POSTHORN_DATABASE_URL.",
	),
};

function durabilityOf({ synchronousCommit, fsync, unreplicated }: DatabaseFacts): Finding {
	if (unreplicated > 0)
		return warning(
			"Durability",
			`${unreplicated === 1 ? "1 commit waits" : `${unreplicated} commits wait`} for a synchronous standby that doesn't confirm: bring back a standby that synchronous_standby_names names, or change that setting.`,
		);
	if (fsync === "off")
		return warning(
			"Durability",
			"fsync is off: unless the server's own storage makes up for it, events can be lost. Turn it on.",
		);
	if (synchronousCommit === "on" || synchronousCommit === "remote_apply")
		return ok("Durability", `synchronous_commit is ${synchronousCommit}.`);
	return ok("Durability", `synchronous_commit is ${synchronousCommit} for this user; Posthorn commits with on.`);
}

const HOW_TO_RAISE: Readonly<Record<ConnectionLimit, string>> = {
	server: "raise max_connections",
	database: "raise the database's CONNECTION LIMIT",
	user: "raise the CONNECTION LIMIT of this user",
};

function connectionsOf({ left, most, limit }: DatabaseFacts["connections"]): Finding {
	const name = "Connections";
	if (most < DATABASE_CONNECTIONS.least)
		return fault(
			name,
			`${most} at most; a node needs ${DATABASE_CONNECTIONS.least}, and may open ${CONNECTIONS_OF_A_NODE}: ${HOW_TO_RAISE[limit]}.`,
		);
	if (left >= CONNECTIONS_OF_A_NODE) return ok(name, `${left} of ${most} are left.`);
	return warning(
		name,
		`${left} of ${most} are left; a node may open ${CONNECTIONS_OF_A_NODE}: ${HOW_TO_RAISE[limit]}.`,
	);
}

/** Events lost in failovers, if a node knew of them. */
function lossesOf({ losses }: DatabaseFacts): Finding[] {
	if (losses.projects === 0) return [];
	const named = losses.newest.map(({ projectId, kept, lost }) => `${projectId} (${kept + 1} to ${lost})`).join(", ");
	const more = losses.projects > losses.newest.length ? ", and others" : "";
	return [
		warning(
			"Lost events",
			`Acknowledged events of ${losses.projects} projects were lost in a failover: ${named}${more}. Publish them again if ` +
				"the store still has them. See docs/operations/many-nodes.md.",
		),
	];
}
