import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { DESCRIPTORS, SENDS } from "../base/budgets.ts";
import { systemClock } from "../base/clock.ts";
import { descriptorLimit, divideDescriptors } from "../base/descriptors.ts";
import { codeOf } from "../base/folders.ts";
import { openSealCheck, SEAL_CHECK, Seal } from "../base/seal.ts";
import { grouped } from "../base/text.ts";
import { type Config, readSealKeys } from "../config/index.ts";
import { quarantineText } from "../engine/quarantine.ts";
import { holdText, stepMs } from "../engine/retention-clock.ts";
import { ALL_PORTS, createGuard, type Guard, portsText } from "../net/egress.ts";
import { createResolver } from "../net/resolver.ts";
import { CLOCK_JUMPED, CLOCK_SEEN, markOf, QUARANTINE } from "../storage/port.ts";

/** Not imported, for the reason given in api/http/connections.ts: the service loads this module, too. */
const { get } = process.getBuiltinModule("node:http");

export interface Finding {
	readonly state: "ok" | "warning" | "fault";
	readonly name: string;
	/** The finding and, if it is a fault, what to do. */
	readonly text: string;
	/** Whether only another setting or key fixes the fault, so that restarting doesn't help. */
	readonly isSetting?: boolean;
}

const finding =
	(state: Finding["state"]) =>
	(name: string, text: string): Finding => ({ state, name, text });
export const ok = finding("ok");
export const warning = finding("warning");
export const fault = finding("fault");

/** The lowest limit on open files with which receivers get all that {@link SENDS} allows. */
const ENOUGH = DESCRIPTORS.reserved + 2 * (SENDS.inFlight + SENDS.idleConnections);

/** Whether the limit on open files lets the service start, and leaves enough for receivers and clients: each takes one. */
export function examineFiles(limit = descriptorLimit(), platform: string = process.platform): Finding {
	const name = "Open files";
	if (limit >= ENOUGH) return ok(name, "As many as a node can use.");
	const { sends, api } = divideDescriptors(limit);
	const shares = `${grouped(sends)} requests to receivers and ${grouped(api)} clients of the API at a time`;
	// Elsewhere the limit is assumed, and raising it would change nothing.
	if (platform !== "linux") return ok(name, `Assumed to be ${grouped(limit)}: ${shares}.`);
	const advice = `set LimitNOFILE= or ulimit -n to ${grouped(ENOUGH)} or more`;
	if (limit < DESCRIPTORS.least)
		return { ...fault(name, `${limit} at most, which is too few to start: ${advice}.`), isSetting: true };
	return warning(name, `${grouped(limit)} at most, which allows ${shares}: ${advice}.`);
}

/** @param sealed the stored value that identifies the key; null if there is none yet */
export function examineSeal({ sealKeys, sealKeyFile }: Config, path: string, sealed: string | null): Finding {
	const name = "Seal key";
	try {
		const keys = sealKeys ?? (sealKeyFile === null ? null : readSealKeys(sealKeyFile, path));
		if (keys === null) return ok(name, `${sealKeyFile} will be created at the first start.`);
		if (sealed === null) return ok(name, "Will be bound to the database at the first start.");
		const isFirst = openSealCheck(new Seal(keys), sealed);
		if (!isFirst)
			return ok(name, "Matches the database, but the first key doesn't seal all secrets yet: keep the others.");
		return ok(name, "Matches the database.");
	} catch (error) {
		return { ...fault(name, (error as Error).message), isSetting: true };
	}
}

/** How long a program that uses the port has to respond, milliseconds. */
const ANSWER_MS = 2_000;

/** Whether the service could listen there. The port itself isn't taken, not even briefly: the service may be starting. */
export async function examineAddress({ host, port }: Pick<Config, "host" | "port">): Promise<Finding> {
	const name = "Address";
	const server = createServer();
	try {
		server.listen(0, host);
		await once(server, "listening");
	} catch (error) {
		const code = codeOf(error);
		const why = code === "EADDRNOTAVAIL" ? `: it isn't an address of this machine (${code})` : ` (${code})`;
		return fault(name, `Cannot listen on ${host}${why}; check POSTHORN_HOST.`);
	}
	const { address } = server.address() as { address: string };
	server.close();
	const user = port === 0 ? null : await userOf(address, port);
	if (user === "another")
		return warning(
			name,
			`Another program uses port ${port} of ${host}: stop it, or choose another port with POSTHORN_PORT.`,
		);
	if (user === "posthorn") return ok(name, `Port ${port} of ${host} is this service's.`);
	if (!(await mayUse(address, port)))
		return fault(name, `This user may not use port ${port}: choose one above 1023 with POSTHORN_PORT.`);
	return ok(name, `Port ${port} of ${host} is free.`);
}

/** Whether this user may listen there. Tries UDP, which needs the same permission as TCP but doesn't take its port. */
async function mayUse(address: string, port: number): Promise<boolean> {
	const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
	const { promise, resolve } = Promise.withResolvers<boolean>();
	socket.once("error", (error) => resolve(codeOf(error) !== "EACCES"));
	socket.bind({ address, port }, () => resolve(true));
	try {
		return await promise;
	} finally {
		socket.close();
	}
}

/** Who accepts connections there, if anyone does. `fetch` would refuse some ports, and may use a proxy. */
function userOf(address: string, port: number): Promise<"posthorn" | "another" | null> {
	const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
	const { promise, resolve } = Promise.withResolvers<"posthorn" | "another" | null>();
	const signal = AbortSignal.timeout(ANSWER_MS);
	get({ host, port, path: "/healthz", agent: false, signal }, (response) => {
		const id = String(response.headers["x-request-id"]);
		resolve(id.startsWith("node_") ? "posthorn" : "another");
		response.destroy();
	}).on("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED" ? null : "another"));
	return promise;
}

/** Host names and addresses of this machine, as in settings and in URLs. */
const LOCAL = /^(?:127\.[\d.]+|\[?::1\]?|(?:.+\.)?localhost)$/;

export function examineDashboard({ host, publicUrl, trustProxy }: Config): Finding {
	const name = "Dashboard";
	if (publicUrl?.startsWith("https:")) {
		if (trustProxy.length > 0) return ok(name, `At ${publicUrl}; cookies are only sent over HTTPS.`);
		const text = `At ${publicUrl}, but POSTHORN_TRUST_PROXY is not set: wrong passwords are counted for the proxy instead of the client.`;
		return warning(name, text);
	}
	if (LOCAL.test(host)) {
		if (publicUrl === null || LOCAL.test(new URL(publicUrl).hostname))
			return ok(name, "Reachable only from this machine.");
		const text = `At ${publicUrl}, over plain HTTP, so others on the network can read passwords and keys: let the proxy terminate TLS, and set POSTHORN_PUBLIC_URL to its https:// address.`;
		return warning(name, text);
	}
	const text = `Listens on ${host} over plain HTTP, so others on the network can read passwords and keys: put a TLS proxy in front of it and set POSTHORN_PUBLIC_URL to its https:// address, or listen on 127.0.0.1.`;
	return warning(name, text);
}

/** Checks the seal key, the clock and the quarantine against the settings in the database. */
export function examineStored(config: Config, path: string, settingOf: (name: string) => string | null): Finding[] {
	const mark = markOf(settingOf(QUARANTINE));
	return [
		examineSeal(config, path, settingOf(SEAL_CHECK)),
		...examineRetention(config, settingOf(CLOCK_SEEN), settingOf(CLOCK_JUMPED)),
		...(mark === null ? [] : [warning("Quarantine", quarantineText(mark))]),
	];
}

/**
 * @param seen the time that a node recorded, if any
 * @param jumped how far clocks have jumped ahead before
 */
function examineRetention({ logRetentionMs }: Config, seen: string | null, jumped: string | null): Finding[] {
	const now = Date.now();
	if (seen === null || now <= Number(seen)) return [];
	const jumpedMs = now - Number(seen) + Number(jumped ?? 0);
	if (jumpedMs <= stepMs(logRetentionMs)) return [];
	return [warning("Retention", holdText({ kind: "ahead", now, seenAt: Number(seen), jumpedMs }))];
}

/** A name that every resolver knows, to check whether names resolve at all (RFC 2606). */
const KNOWN_NAME = "example.com";

const HTTPS_PORT = 443;

/** Whether names resolve, and where deliveries may go. */
export async function examineEgress({ egress }: Config): Promise<Finding[]> {
	let guard: Guard;
	try {
		guard = createGuard(egress);
	} catch (error) {
		return [fault("Egress", (error as Error).message)];
	}
	return [await examineNames(guard), egressFinding(egress, guard)];
}

async function examineNames(guard: Guard): Promise<Finding> {
	const name = "Names";
	try {
		await createResolver({ guard, clock: systemClock }).lookup(KNOWN_NAME);
		return ok(name, "Host names resolve.");
	} catch (error) {
		const text = `${KNOWN_NAME} did not resolve (${(error as Error).message}): check /etc/resolv.conf; receivers can't be reached by name otherwise.`;
		return warning(name, text);
	}
}

function egressFinding({ allow, deny, ports }: Config["egress"], guard: Guard): Finding {
	const name = "Egress";
	const except = deny.length > 0 ? ` Never to ${deny.join(", ")}.` : "";
	const isLimited = portsText(ports) !== portsText(ALL_PORTS);
	const limits = except + (isLimited ? ` Only to ports ${portsText(ports)}.` : "");
	if (!guard.permitsPort(HTTPS_PORT)) {
		const text = `Deliveries only go to ports ${portsText(ports)}. Most receivers listen on ${HTTPS_PORT}: add it to POSTHORN_EGRESS_PORTS.`;
		return warning(name, text);
	}
	if (allow.length === 0)
		return ok(name, `Deliveries only go to public addresses that aren't this machine's.${limits}`);
	const text = `Deliveries may also go to ${allow.join(", ")}: anyone who can register webhooks can send requests there.${limits}`;
	return warning(name, text);
}

/** PostgreSQL's error code. */
const TOO_MANY_CONNECTIONS = "53300";

/**
 * What to do about an error that ends the program at startup, in its own words. The usual messages about an unavailable
 * database are for a running service, which retries; here nothing is retried.
 */
export function adviceAtStart({ message, cause }: Error): string {
	if (/client password must be a string/.test(message))
		return "PostgreSQL requires a password, and POSTHORN_DATABASE_URL has none: add it there.";
	if (/does not support SSL/.test(message))
		return "PostgreSQL doesn't offer TLS: enable it there, or remove sslmode from POSTHORN_DATABASE_URL.";
	const isCrowded = (cause as { code?: unknown } | undefined)?.code === TOO_MANY_CONNECTIONS;
	const advice = isCrowded
		? "close other connections, or raise max_connections or the CONNECTION LIMIT of the database or the user"
		: message.startsWith("PostgreSQL failed temporarily")
			? "try again in a moment"
			: message.startsWith("PostgreSQL didn't complete")
				? "see what posthorn doctor says, then try again"
				: "check that it is running, and the host and port in POSTHORN_DATABASE_URL";
	return message
		.replace(/ The service then continues automatically\.$/, " Then try again.")
		.replace(/: retrying\.$/, `: ${advice}.`);
}
