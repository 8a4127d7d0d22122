/**
 * Looks at what the service needs, from where it would run, and says what to mend. Changes nothing, and may run beside the
 * service.
 */
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "./base/clock.ts";
import type { Config } from "./config/index.ts";
import { createGuard } from "./engine/send/guard.ts";
import { createResolver } from "./engine/send/resolver.ts";
import { examinePostgres } from "./storage/postgres/examine.ts";

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
/** A name that every resolver knows, for whether names resolve at all (RFC 2606). */
const KNOWN_NAME = "example.com";

export async function examine(config: Config): Promise<Finding[]> {
	const database = config.database.engine === "sqlite" ? sqlite(config.database.path) : postgres(config.database.url);
	return (await Promise.all([database, egress(config), proxy(config)])).flat();
}

async function sqlite(path: string): Promise<Finding[]> {
	const folder = dirname(path);
	const name = "Database";
	try {
		await access(folder, constants.W_OK);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return [{ state: "ok", name, text: `${path} and its folder are made at the first start.` }];
		return [{ state: "fault", name, text: `${folder} cannot be written to (${code}): give it to the service's user.` }];
	}
	const { bavail, bsize } = await statfs(folder);
	const free = bavail * bsize;
	const gigabytes = `${(free / 1e9).toFixed(1)} GB`;
	if (free < LITTLE_DISK_BYTES)
		return [{ state: "warning", name, text: `Only ${gigabytes} are free where ${path} lies: make room.` }];
	return [{ state: "ok", name, text: `${path}, ${gigabytes} free.` }];
}

const SESSION_POOL: Finding = {
	state: "ok",
	name: "Pool",
	text: `Between here and the database is a pool that keeps sessions: let it have ${CONNECTIONS_OF_A_NODE} for each node.`,
};

async function postgres(url: string): Promise<Finding[]> {
	try {
		const facts = await examinePostgres(url);
		const { version, pooled, schema, knownSchema, clockDifferenceMs, connections, synchronousCommit } = facts;
		const left = connections.most - connections.used;
		const apart = `${(Math.abs(clockDifferenceMs) / 1_000).toFixed(1)} s`;
		return [
			{ state: "ok", name: "Database", text: `PostgreSQL ${version} answers.` },
			...(pooled ? [SESSION_POOL] : []),
			schema > knownSchema
				? {
						state: "fault",
						name: "Schema",
						text: `Made by a newer version (${schema}, this knows ${knownSchema}): upgrade.`,
					}
				: {
						state: "ok",
						name: "Schema",
						text:
							schema === knownSchema ? "Up to date." : "Brought up to date at the next start, or by posthorn migrate.",
					},
			synchronousCommit === "off"
				? {
						state: "fault",
						name: "Durability",
						text: "synchronous_commit is off: acknowledged events could be lost. Turn it on.",
					}
				: { state: "ok", name: "Durability", text: `synchronous_commit is ${synchronousCommit}.` },
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
		return [{ state: "fault", name: "Database", text: (error as Error).message }];
	}
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
