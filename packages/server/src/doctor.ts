/**
 * Looks at what the service needs, from where it would run, and says what to mend. Changes nothing, and may run beside the
 * service.
 */
import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { systemClock } from "./base/clock.ts";
import { Seal } from "./base/seal.ts";
import { type Config, readSealKey } from "./config/index.ts";
import { createGuard } from "./engine/send/guard.ts";
import { createResolver } from "./engine/send/resolver.ts";
import { openSealCheck, SEAL_CHECK } from "./seal-check.ts";
import { type DatabaseFacts, examinePostgres } from "./storage/postgres/examine.ts";
import { readSqliteSetting } from "./storage/sqlite/index.ts";

export interface Finding {
	readonly state: "ok" | "warning" | "fault";
	/** What was looked at. */
	readonly name: string;
	/** What was found and, where it is not as it should be, what to do. */
	readonly text: string;
}

/** Nodes do not depend on each other's clocks, but people compare their times. */
const CLOCK_TOLERANCE_MS = 5_000;
/** Connections that a node may open. */
const CONNECTIONS_OF_A_NODE = 12;
const LITTLE_DISK_BYTES = 1_000_000_000;
/** Less than the service writes while it starts. */
const NO_DISK_BYTES = 16_000_000;
/** A name that every resolver knows, for whether names resolve at all (RFC 2606). */
const KNOWN_NAME = "example.com";

export async function examine(config: Config): Promise<Finding[]> {
	const { database: where } = config;
	const database = where.engine === "sqlite" ? sqlite(where.path, config) : postgres(where.url, config);
	return (await Promise.all([database, egress(config), proxy(config)])).flat();
}

async function sqlite(path: string, config: Config): Promise<Finding[]> {
	const name = "Database";
	const fault = (text: string): Finding[] => [{ state: "fault", name, text }];
	const folder = await nearestFolder(path);
	try {
		await access(folder, constants.W_OK | constants.X_OK);
	} catch (error) {
		return fault(`${folder} cannot be written to (${codeOf(error)}): give it to the service's user.`);
	}
	const there = await stat(path).catch(() => null);
	if (there && !there.isFile()) return fault(`${path} is not a file: name one for the database.`);
	const { bavail, bsize } = await statfs(folder);
	const free = bavail * bsize;
	const gigabytes = `${(free / 1e9).toFixed(1)} GB`;
	if (free < NO_DISK_BYTES) return fault(`No space is left where ${path} lies: make room.`);
	const state = free < LITTLE_DISK_BYTES ? "warning" : "ok";
	let sealed: string | null = null;
	if (there) {
		try {
			await access(path, constants.R_OK | constants.W_OK);
			sealed = readSqliteSetting(path, SEAL_CHECK);
		} catch (error) {
			return fault(
				codeOf(error)?.startsWith("E")
					? `${path} cannot be written to (${codeOf(error)}): give it to the service's user.`
					: (error as Error).message,
			);
		}
	}
	const text =
		state === "warning"
			? `Only ${gigabytes} are free where ${path} lies: make room.`
			: there
				? `${path}, ${gigabytes} free.`
				: `${path} is made at the first start, ${gigabytes} free.`;
	return [{ state, name, text }, seal(config, path, sealed)];
}

/** The folder of the file, or the nearest above it that is there. */
async function nearestFolder(path: string): Promise<string> {
	for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
		const there = await stat(folder).catch((error: unknown) => (codeOf(error) === "ENOENT" ? null : folder));
		if (there !== null || dirname(folder) === folder) return folder;
	}
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** @param sealed what the database keeps to know the key by; null when it has none yet */
function seal({ sealKey, sealKeyFile }: Config, path: string, sealed: string | null): Finding {
	const name = "Seal key";
	try {
		const key = sealKey ?? (sealKeyFile === null ? null : readSealKey(sealKeyFile, path));
		if (key === null) return { state: "ok", name, text: `${sealKeyFile} is made at the first start.` };
		if (sealed === null) return { state: "ok", name, text: "Goes with the database from the first start on." };
		openSealCheck(new Seal(key), sealed);
		return { state: "ok", name, text: "The one that the database was made with." };
	} catch (error) {
		return { state: "fault", name, text: (error as Error).message };
	}
}

const SESSION_POOL: Finding = {
	state: "ok",
	name: "Pool",
	text: `Between here and the database is a pool that keeps sessions: let it have ${CONNECTIONS_OF_A_NODE} for each node.`,
};

async function postgres(url: string, config: Config): Promise<Finding[]> {
	try {
		const facts = await examinePostgres(url, SEAL_CHECK);
		const { version, pooled, clockDifferenceMs, connections } = facts;
		const left = connections.most - connections.used;
		const apart = `${(Math.abs(clockDifferenceMs) / 1_000).toFixed(1)} s`;
		return [
			facts.readOnly
				? {
						state: "fault",
						name: "Database",
						text: `PostgreSQL ${version} only lets read: point POSTHORN_DATABASE_URL at the server that takes writes.`,
					}
				: { state: "ok", name: "Database", text: `PostgreSQL ${version} answers.` },
			...(pooled ? [SESSION_POOL] : []),
			schemaOf(facts),
			seal(config, "", facts.setting),
			durabilityOf(facts),
			left < CONNECTIONS_OF_A_NODE
				? {
						state: "warning",
						name: "Connections",
						text: `${left} of ${connections.most} are left; a node may open ${CONNECTIONS_OF_A_NODE}: raise max_connections.`,
					}
				: { state: "ok", name: "Connections", text: `${left} of ${connections.most} are left.` },
			Math.abs(clockDifferenceMs) > CLOCK_TOLERANCE_MS
				? {
						state: "warning",
						name: "Clock",
						text: `This machine and the database are ${apart} apart: deliveries go on, but times and signatures will be off. Set the clocks by NTP.`,
					}
				: { state: "ok", name: "Clock", text: `Within ${apart} of the database's.` },
		];
	} catch (error) {
		return [{ state: "fault", name: "Database", text: adviceFor(error as Error) }];
	}
}

function schemaOf({ schema, knownSchema, mayPrepare }: DatabaseFacts): Finding {
	const found = (state: Finding["state"], text: string): Finding => ({ state, name: "Schema", text });
	if (schema > knownSchema)
		return found("fault", `Made by a newer version (${schema}, this knows ${knownSchema}): upgrade.`);
	if (schema === knownSchema) return found("ok", "Up to date.");
	if (mayPrepare) return found("ok", "Brought up to date at the next start, or by posthorn migrate.");
	return found(
		"fault",
		"Has to be brought up to date, and this user may not: make it the owner of the database, or of the schema posthorn.",
	);
}

function durabilityOf({ synchronousCommit, fsync }: DatabaseFacts): Finding {
	const found = (state: Finding["state"], text: string): Finding => ({ state, name: "Durability", text });
	if (synchronousCommit === "off")
		return found("fault", "synchronous_commit is off: acknowledged events could be lost. Turn it on.");
	if (fsync === "off")
		return found(
			"warning",
			"fsync is off: unless the server's own storage makes up for it, events can be lost. Turn it on.",
		);
	return found("ok", `synchronous_commit is ${synchronousCommit}.`);
}

/** What is said of a database that is away is meant for a service that runs: here nothing is tried again. */
function adviceFor({ message }: Error): string {
	if (/client password must be a string/.test(message))
		return "PostgreSQL asks for a password, and there is none in POSTHORN_DATABASE_URL: put it there.";
	if (/does not support SSL/.test(message))
		return "PostgreSQL speaks no TLS here: turn it on there, or take sslmode out of POSTHORN_DATABASE_URL.";
	return message.replace(
		/: (it is|they are) tried again\.$/,
		": check that it runs, and the host and port of POSTHORN_DATABASE_URL.",
	);
}

async function egress({ egressAllow }: Config): Promise<Finding[]> {
	const guard = createGuard({ allow: egressAllow });
	const findings: Finding[] = [];
	try {
		await createResolver({ guard, clock: systemClock }).lookup(KNOWN_NAME);
		findings.push({ state: "ok", name: "Names", text: "Host names resolve." });
	} catch (error) {
		findings.push({
			state: "warning",
			name: "Names",
			text: `${KNOWN_NAME} did not resolve (${(error as Error).message}): check /etc/resolv.conf, or receivers with names cannot be reached.`,
		});
	}
	if (egressAllow.length > 0)
		findings.push({
			state: "warning",
			name: "Egress",
			text: `Deliveries may also go to ${egressAllow.join(", ")}: whoever registers webhooks can reach what is there.`,
		});
	else findings.push({ state: "ok", name: "Egress", text: "Deliveries go to public addresses only." });
	return findings;
}

async function proxy({ host, publicUrl, trustProxy }: Config): Promise<Finding[]> {
	const name = "Dashboard";
	if (publicUrl?.startsWith("https:"))
		return trustProxy.length > 0
			? [{ state: "ok", name, text: `At ${publicUrl}; cookies are sent over https alone.` }]
			: [
					{
						state: "warning",
						name,
						text: `At ${publicUrl}, but POSTHORN_TRUST_PROXY is not set: wrong passwords are counted for the proxy instead of the client.`,
					},
				];
	const local = host === "127.0.0.1" || host === "::1" || host === "localhost";
	if (local) return [{ state: "ok", name, text: "Reachable from this machine alone." }];
	return [
		{
			state: "warning",
			name,
			text: `Listens on ${host} without https: put a proxy with TLS before it and set POSTHORN_PUBLIC_URL.`,
		},
	];
}
