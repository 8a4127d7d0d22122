import { promises as dns } from "node:dns";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { RECEIVERS } from "../base/budgets.ts";
import { type Clock, within } from "../base/clock.ts";
import type { AddressRefusal, Guard } from "./egress.ts";
import { codeOf, type DnsAnswer, SendFailure, ShortageFailure } from "./errors.ts";
import type { Shortages } from "./shortages.ts";

/**
 * Resolves names to addresses that may be connected to.
 *
 * It queries the name servers itself (c-ares) instead of calling the operating system's getaddrinfo. That call blocks
 * one of libuv's four threads until it returns, so a handful of names with hanging servers would delay all lookups and
 * file access. What matters of getaddrinfo is kept: the hosts file, and `localhost` meaning this machine (RFC 6761,
 * 6.3). Search domains aren't applied, because a webhook's host name is complete.
 *
 * Every address passes the guard before it is returned, and callers must connect to exactly these addresses: a second
 * lookup of the name could return a different one (DNS rebinding).
 */
export interface Resolver {
	/**
	 * The addresses of a name (lower case, no trailing dot) that the guard permits, in the order in which to try them; at
	 * least one. Of a name with very many, only the first {@link RECEIVERS.addressesExamined} are examined.
	 * @throws SendFailure `dns_not_found`, `dns_failed`, `address_not_public` or `address_not_allowed`; ShortageFailure
	 *   if none of the machine's name servers responds
	 */
	lookup(hostname: string): Promise<readonly string[]>;
}

export interface ResolverOptions {
	readonly guard: Pick<Guard, "refusal">;
	readonly clock: Clock;
	/** Name servers as `address` or `address:port`, read again when `resolvConf` changes; defaults to the machine's. */
	readonly servers?: readonly string[];
	readonly resolvConf?: string;
	/** Queried instead of `servers`. */
	readonly nameServers?: NameServers | undefined;
	readonly hostsFile?: string;
	/** Locally known names; defaults to those of `hostsFile`. */
	readonly hosts?: Hosts | undefined;
	/** How long a name server has to respond to the first of {@link TRIES}, milliseconds. */
	readonly timeoutMs?: number;
	/** Notified when no name server responds, and when one responds again. */
	readonly shortages?: Shortages | undefined;
}

/** With {@link TRIES}, a lookup at a silent server fails after 2 + 4 seconds. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** A lookup fails after this multiple of its timeout, however many servers there are. */
const LOOKUP_TIMEOUTS = 3;
/** The timeout as a fraction of an attempt's time: a failed lookup and the probe that explains it must both fit in. */
const PART_OF_ATTEMPT = 0.2;

/** The timeout for lookups within attempts of this length, milliseconds. */
export const timeoutWithin = (attemptMs: number): number =>
	Math.ceil(Math.min(TIMEOUT_MS, attemptMs * PART_OF_ATTEMPT));

/** How long to wait for IPv6 addresses once there are IPv4 ones, milliseconds (RFC 8305, 3: resolution delay). */
const RESOLUTION_DELAY_MS = 50;

/** Responses which establish that the name doesn't exist, has no address, or can't have one. */
const NOT_FOUND = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

const ANSWER_BY_CODE: ReadonlyMap<string, DnsAnswer> = new Map<string, DnsAnswer>([
	["ENOTFOUND", "nxdomain"],
	["ENODATA", "no_address"],
	["EBADNAME", "invalid_name"],
	["ESERVFAIL", "servfail"],
	["EREFUSED", "refused"],
	["ETIMEOUT", "timeout"],
	["ECONNREFUSED", "timeout"],
]);

const answerOfCode = (error: Error): DnsAnswer => ANSWER_BY_CODE.get(codeOf(error)) ?? "unusable";

/** Combines the answers for both families: if one says that the name exists, it does. */
function answerOfBoth(errors: readonly Error[]): DnsAnswer {
	const answers = errors.map(answerOfCode);
	return answers.includes("no_address") ? "no_address" : (answers[0] ?? "nxdomain");
}

type Answer = { readonly addresses: readonly string[]; readonly error: Error | null };

export function createResolver(options: ResolverOptions): Resolver {
	const { guard, clock, shortages, timeoutMs = TIMEOUT_MS } = options;
	const hosts = options.hosts ?? hostsFile(options.hostsFile ?? "/etc/hosts", clock);
	const servers = options.nameServers ?? machineNameServers(options, timeoutMs);
	const probe = nameServerProbe(clock, servers);
	const lookups = new Map<string, Promise<readonly string[]>>();

	async function resolve(hostname: string): Promise<readonly string[]> {
		const all = (await localAddresses(hostname, hosts)) ?? (await askServers(hostname));
		const permitted: string[] = [];
		let refused: AddressRefusal = "address_not_public";
		for (const address of all.slice(0, RECEIVERS.addressesExamined)) {
			const refusal = guard.refusal(address);
			if (refusal === null) permitted.push(address);
			// The more specific of the two.
			else if (refusal === "address_not_allowed") refused = refusal;
		}
		if (permitted.length === 0) {
			const dns = refused === "address_not_public" ? "only_private" : "only_denied";
			throw new SendFailure(refused, `${hostname} has no address that requests may go to`, { details: { dns } });
		}
		return permitted;
	}

	async function askServers(hostname: string): Promise<readonly string[]> {
		if (shortages?.blocks("name_servers")) throw new ShortageFailure("name_servers", "no name server answers", false);
		const begun = clock.elapsed();
		// Starts while the lookup is still waiting, so that the probe's result is known by the time the lookup fails.
		const early = clock.setTimeout(() => void probe.isAnswered(begun), timeoutMs);
		try {
			const answers = (await within(clock, LOOKUP_TIMEOUTS * timeoutMs, askBoth(hostname))) ?? [];
			if (answers.some(({ error }) => error === null || !isUnanswered(error))) {
				probe.answered();
				shortages?.passed("name_servers");
			}
			const addresses = alternate(answers[0]?.addresses ?? [], answers[1]?.addresses ?? []);
			if (addresses.length === 0) throw await failureOf(hostname, answers, begun);
			return addresses;
		} finally {
			early.cancel();
		}
	}

	/** Why a name has no addresses. @param answers none if they didn't come in time */
	async function failureOf(hostname: string, answers: readonly Answer[], begun: number): Promise<SendFailure> {
		const errors = answers.flatMap(({ error }) => error ?? []);
		const fault = errors.find((error) => !NOT_FOUND.has(codeOf(error)));
		if (answers.length > 0 && fault === undefined) {
			const details = { dns: answerOfBoth(errors) };
			return new SendFailure("dns_not_found", `${hostname} does not exist`, { cause: errors[0], details });
		}
		if (!(await probe.isAnswered(begun))) return new ShortageFailure("name_servers", "no name server answers", true);
		shortages?.passed("name_servers");
		const dns = fault === undefined ? "timeout" : answerOfCode(fault);
		return new SendFailure("dns_failed", `${hostname} could not be resolved`, { cause: fault, details: { dns } });
	}

	/** Asks for IPv4 and IPv6 addresses. Gives up on IPv6 if it takes too long and there are IPv4 addresses. */
	async function askBoth(hostname: string): Promise<readonly Answer[]> {
		const ipv6 = answerOf(servers.resolve6(hostname));
		const four = await answerOf(servers.resolve4(hostname));
		const six = four.addresses.length === 0 ? await ipv6 : await within(clock, RESOLUTION_DELAY_MS, ipv6);
		return six === null ? [four] : [four, six];
	}

	return {
		lookup(hostname) {
			const joined = lookups.get(hostname);
			if (joined !== undefined) return joined;
			const lookup = resolve(hostname).finally(() => lookups.delete(hostname));
			lookups.set(hostname, lookup);
			return lookup;
		},
	};
}

async function localAddresses(hostname: string, hosts: Hosts): Promise<readonly string[] | undefined> {
	if (hostname === "localhost" || hostname.endsWith(".localhost")) return ["127.0.0.1", "::1"];
	return hosts.addresses(hostname);
}

/** Returns failures as values, so that one family's failure can be weighed against the other's. */
async function answerOf(query: Promise<string[]>): Promise<Answer> {
	try {
		return { addresses: await query, error: null };
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		return { addresses: [], error };
	}
}

/** Alternates the families, IPv4 first, so that a family without a route costs only one try (RFC 8305, 4). */
function alternate(ipv4: readonly string[], ipv6: readonly string[]): string[] {
	const pairs = Array.from({ length: Math.max(ipv4.length, ipv6.length) }, (_, i) => [ipv4[i], ipv6[i]]);
	return pairs.flat().filter((address) => address !== undefined);
}

/** The queries that the resolver sends to name servers. Errors have c-ares codes. */
export interface NameServers {
	resolve4(hostname: string): Promise<string[]>;
	resolve6(hostname: string): Promise<string[]>;
	/** Each as `address` or `address:port`. */
	getServers(): readonly string[];
	/** Asks one server for the root's servers. */
	resolveRoot(server: string): Promise<unknown>;
}

/** c-ares codes which mean that no server answered; every other code is an answer. */
const UNANSWERED = new Set([
	"ETIMEOUT",
	"ECONNREFUSED",
	"EOF",
	"EFILE",
	"ENOMEM",
	"ECANCELLED",
	"EDESTRUCTION",
	"ENOTINITIALIZED",
]);

const isUnanswered = (error: Error): boolean => UNANSWERED.has(codeOf(error));

/** Queries name servers over the network (c-ares). */
function machineNameServers(
	{ clock, servers, resolvConf = "/etc/resolv.conf" }: ResolverOptions,
	timeoutMs: number,
): NameServers {
	const open = (): dns.Resolver => {
		const opened = new dns.Resolver({ timeout: timeoutMs, tries: TRIES });
		if (servers !== undefined) opened.setServers([...servers]);
		return opened;
	};
	let resolver = open();
	// A c-ares resolver reads the machine's servers only once. Queries in flight end with those they were sent to.
	const refresh = watchFile(resolvConf, clock, () => {
		resolver = open();
	});
	const current = async (): Promise<dns.Resolver> => {
		// If the file can't be examined, the known servers are still the best guess.
		await refresh().catch(() => undefined);
		return resolver;
	};
	return {
		resolve4: async (hostname) => (await current()).resolve4(hostname),
		resolve6: async (hostname) => (await current()).resolve6(hostname),
		getServers: () => resolver.getServers(),
		resolveRoot(server) {
			const probe = new dns.Resolver({ timeout: timeoutMs, tries: 1 });
			probe.setServers([server]);
			return probe.resolveNs(".");
		},
	};
}

/** How long the result of an unanswered probe is valid, milliseconds. */
const SILENCE_HOLDS_MS = 1_000;

/**
 * Tells apart a name whose own servers are silent and silent name servers of this machine. The former is the receiver's
 * fault, and anyone can cause it with their own domain; the latter is a local shortage.
 *
 * It asks each of the machine's name servers for the root's servers. Every working resolver can answer that on its own,
 * and an error counts as an answer. One probe serves all lookups that fail meanwhile.
 */
function nameServerProbe(clock: Pick<Clock, "elapsed">, servers: NameServers) {
	let answeredAt = Number.NEGATIVE_INFINITY;
	let silentAt = Number.NEGATIVE_INFINITY;
	let probing: Promise<boolean> | null = null;

	const answered = (): void => {
		answeredAt = clock.elapsed();
	};

	/** Rejects if the server doesn't answer. */
	async function ask(server: string): Promise<void> {
		try {
			await servers.resolveRoot(server);
		} catch (error) {
			if (!(error instanceof Error) || isUnanswered(error)) throw error;
		}
	}

	async function probe(): Promise<boolean> {
		try {
			await Promise.any(servers.getServers().map(ask));
			answered();
			return true;
		} catch {
			silentAt = clock.elapsed();
			return false;
		}
	}

	/** Whether a name server has answered any query since this monotonic time; probes them if none has. */
	async function isAnswered(since: number): Promise<boolean> {
		if (answeredAt >= since) return true;
		if (clock.elapsed() - silentAt < SILENCE_HOLDS_MS) return false;
		probing ??= probe().finally(() => {
			probing = null;
		});
		return probing;
	}

	return { answered, isAnswered };
}

/** Names that the machine resolves without a name server. */
interface Hosts {
	/** @param name in lower case @returns undefined if it isn't listed */
	addresses(name: string): Promise<readonly string[] | undefined>;
}

/** The machine's own names (hosts(5)). A missing file counts as empty. */
function hostsFile(path: string, clock: Pick<Clock, "now">): Hosts {
	let names: ReadonlyMap<string, readonly string[]> = new Map();
	const refresh = watchFile(path, clock, async (exists) => {
		names = exists ? parseHosts(await readFile(path, "utf8")) : new Map();
	});
	return {
		async addresses(name) {
			await refresh();
			return names.get(name);
		},
	};
}

/** Parses lines of an address and its names; `#` starts a comment. Names are lower-cased. */
export function parseHosts(text: string): Map<string, string[]> {
	const names = new Map<string, string[]>();
	for (const line of text.split("\n")) {
		const [address = "", ...aliases] = line.replace(/#.*/, "").trim().split(/\s+/);
		if (isIP(address) === 0) continue;
		for (const alias of aliases) {
			const name = alias.toLowerCase();
			const known = names.get(name);
			if (known === undefined) names.set(name, [address]);
			else if (!known.includes(address)) known.push(address);
		}
	}
	return names;
}

/** Minimum interval between checks of a file, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/**
 * Watches a file of the machine's configuration.
 *
 * @returns a function that loads the file at first and after each change, and rejects if it can't be examined or loaded
 */
function watchFile(
	path: string,
	clock: Pick<Clock, "now">,
	load: (exists: boolean) => Promise<void> | void,
): () => Promise<void> {
	/** Empty if the file is missing; null before it was loaded. */
	let loaded: string | null = null;
	let lookedAt = Number.NEGATIVE_INFINITY;
	let looking: Promise<void> | null = null;
	const look = async (): Promise<void> => {
		const version = await versionOf(path);
		if (version === loaded) return;
		try {
			await load(version !== "");
			loaded = version;
		} catch (error) {
			if (!isMissing(error)) throw error;
			await load(false);
			loaded = "";
		}
	};
	return async () => {
		if (Math.abs(clock.now() - lookedAt) < LOOK_EVERY_MS) return;
		looking ??= look().finally(() => {
			lookedAt = clock.now();
			looking = null;
		});
		await looking;
	};
}

async function versionOf(path: string): Promise<string> {
	try {
		const { mtimeMs, size, ino } = await stat(path);
		return `${mtimeMs} ${size} ${ino}`;
	} catch (error) {
		if (!isMissing(error)) throw error;
		return "";
	}
}

/** A file that this process may not read counts as missing. */
function isMissing(error: unknown): boolean {
	return error instanceof Error && ["ENOENT", "EACCES"].includes(codeOf(error));
}
