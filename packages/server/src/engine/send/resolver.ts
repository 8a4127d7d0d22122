import { RECEIVERS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { SendFailure, ShortageFailure } from "./errors.ts";
import type { Guard } from "./guard.ts";
import { HostsFile } from "./hosts-file.ts";
import { NameServerProbe } from "./name-server-probe.ts";
import { isUnanswered, MachineNameServers, type NameServers } from "./name-servers.ts";
import type { Shortages } from "./shortages.ts";

/**
 * Names to addresses that may be connected to.
 *
 * It asks the name servers itself (c-ares) rather than through the operating system's getaddrinfo: that call blocks one
 * of libuv's four threads until it is answered, so that a handful of names whose servers hang would hold up everybody's
 * lookups, and file access with them. What getaddrinfo adds is kept as far as it matters: the hosts file, and `localhost`
 * being this machine (RFC 6761, 6.3). Search domains are not applied: a webhook's host name is complete.
 *
 * Every answer passes the guard before anybody sees it, and what is returned is what must be connected to: whoever
 * resolved the name a second time could be given another address (DNS rebinding).
 */
export interface Resolver {
	/**
	 * The addresses of a name (lower case, without a final dot) that the guard permits, in the order in which to try them;
	 * at least one, at most {@link RECEIVERS.addresses}.
	 * @throws SendFailure `dns_not_found`, `dns_failed` or `address_not_public`; ShortageFailure where none of the machine's
	 * name servers answers
	 */
	lookup(hostname: string): Promise<readonly string[]>;
}

export interface ResolverOptions {
	readonly guard: Pick<Guard, "permits">;
	readonly clock: Clock;
	/** Name servers as `address` or `address:port`; those of the machine (resolv.conf) unless given. */
	readonly servers?: readonly string[];
	/** Asked for addresses, instead of `servers`. */
	readonly nameServers?: NameServers | undefined;
	/** Path of the hosts file. */
	readonly hostsFile?: string;
	/** Names that this machine knows itself: those of `hostsFile` unless given. */
	readonly hosts?: Pick<HostsFile, "addresses"> | undefined;
	/** How long a name server may take to answer the first time of {@link TRIES}, milliseconds. */
	readonly timeoutMs?: number;
	/** Told when no name server answers, and when one does again. */
	readonly shortages?: Shortages | undefined;
}

/** With {@link TRIES} a silent server fails a lookup after 2 + 4 seconds. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** A lookup fails when this many times its timeout have passed, however many servers there are to ask. */
const LOOKUP_TIMEOUTS = 3;
/** This part of an attempt's time is the timeout: a lookup that fails, and the probe that says why, must fit in. */
const PART_OF_ATTEMPT = 0.2;

/** The timeout for lookups within attempts of this length, milliseconds. */
export const timeoutWithin = (attemptMs: number): number =>
	Math.ceil(Math.min(TIMEOUT_MS, attemptMs * PART_OF_ATTEMPT));

/** How long IPv6 addresses are waited for once there are IPv4 ones, milliseconds (RFC 8305, 3: resolution delay). */
const RESOLUTION_DELAY_MS = 50;

/** Answers that say for certain that there is no such name or that it has no address, or that the name can have none. */
const NOT_FOUND = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

type Answer = { readonly addresses: readonly string[]; readonly error: Error | null };

export function createResolver(options: ResolverOptions): Resolver {
	const { guard, clock, shortages, timeoutMs = TIMEOUT_MS } = options;
	const hosts = options.hosts ?? new HostsFile(options.hostsFile ?? "/etc/hosts", clock);
	const servers = options.nameServers ?? new MachineNameServers(timeoutMs, TRIES, options.servers);
	const probe = new NameServerProbe(clock, servers);
	const underWay = new Map<string, Promise<readonly string[]>>();

	async function resolve(hostname: string): Promise<readonly string[]> {
		const all = (await localAddresses(hostname, hosts)) ?? (await askServers(hostname));
		const permitted = all.filter((address) => guard.permits(address)).slice(0, RECEIVERS.addresses);
		if (permitted.length === 0)
			throw new SendFailure("address_not_public", `${hostname} has no address that requests may go to`);
		return permitted;
	}

	async function askServers(hostname: string): Promise<readonly string[]> {
		if (shortages?.blocks("name_servers")) throw new ShortageFailure("name_servers", "no name server answers", false);
		const begun = clock.elapsed();
		// Begun while the lookup still waits, so that its result is there by the time that the lookup fails.
		const early = clock.setTimeout(() => void probe.isAnswered(begun), timeoutMs);
		try {
			const answers = await orAfter(askBoth(hostname), LOOKUP_TIMEOUTS * timeoutMs, clock);
			const errors = (answers ?? []).flatMap(({ error }) => error ?? []);
			if (answers?.some(({ error }) => error === null || !isUnanswered(error))) {
				probe.answered();
				shortages?.passed("name_servers");
			}
			const addresses = alternate(answers?.[0]?.addresses ?? [], answers?.[1]?.addresses ?? []);
			if (addresses.length > 0) return addresses;
			const fault = errors.find((error) => !isNotFound(error));
			if (answers !== null && fault === undefined)
				throw new SendFailure("dns_not_found", `${hostname} does not exist`, { cause: errors[0] });
			if (!(await probe.isAnswered(begun))) throw new ShortageFailure("name_servers", "no name server answers", true);
			shortages?.passed("name_servers");
			throw new SendFailure("dns_failed", `${hostname} could not be resolved`, { cause: fault });
		} finally {
			early.cancel();
		}
	}

	/** IPv4 and IPv6; of the latter nothing where it takes too long and the former is there. */
	async function askBoth(hostname: string): Promise<readonly Answer[]> {
		const ipv6 = answerOf(servers.resolve6(hostname));
		const four = await answerOf(servers.resolve4(hostname));
		const six = four.addresses.length === 0 ? await ipv6 : await orAfter(ipv6, RESOLUTION_DELAY_MS, clock);
		return six === null ? [four] : [four, six];
	}

	return {
		lookup(hostname) {
			const joined = underWay.get(hostname);
			if (joined !== undefined) return joined;
			const lookup = resolve(hostname).finally(() => underWay.delete(hostname));
			underWay.set(hostname, lookup);
			return lookup;
		},
	};
}

async function localAddresses(
	hostname: string,
	hosts: Pick<HostsFile, "addresses">,
): Promise<readonly string[] | undefined> {
	if (hostname === "localhost" || hostname.endsWith(".localhost")) return ["127.0.0.1", "::1"];
	return hosts.addresses(hostname);
}

/** An answer as a value, so that one family's failure can be weighed against the other's. */
async function answerOf(query: Promise<string[]>): Promise<Answer> {
	try {
		return { addresses: await query, error: null };
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		return { addresses: [], error };
	}
}

function orAfter<T>(promise: Promise<T>, ms: number, clock: Clock): Promise<T | null> {
	return new Promise((resolve, reject) => {
		const timer = clock.setTimeout(() => resolve(null), ms);
		promise.then(resolve, reject).finally(() => timer.cancel());
	});
}

/** IPv4 first, the families taking turns, so that a family without a route costs one attempt (RFC 8305, 4). */
function alternate(ipv4: readonly string[], ipv6: readonly string[]): string[] {
	const addresses: string[] = [];
	for (let i = 0; i < Math.max(ipv4.length, ipv6.length); i++) {
		if (i < ipv4.length) addresses.push(ipv4[i]!);
		if (i < ipv6.length) addresses.push(ipv6[i]!);
	}
	return addresses;
}

function isNotFound(error: Error): boolean {
	return "code" in error && typeof error.code === "string" && NOT_FOUND.has(error.code);
}
