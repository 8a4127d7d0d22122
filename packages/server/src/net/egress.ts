import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import type { Clock } from "../base/clock.ts";
import type { Interfaces } from "./socket.ts";

/**
 * The egress guard decides which addresses and ports requests may go to. Only public unicast addresses are permitted,
 * and none of this machine's own, so that no user can point the service at its own machine, its network or a cloud's
 * metadata (server-side request forgery). The operator allows more ranges, denies others, and limits the ports.
 *
 * It checks twice. At registration, {@link Guard.checkUrl} warns the owner early about URLs that can never work. At
 * delivery, {@link Guard.refusal} and {@link Guard.permitsPort} check what is actually connected to. That is the check
 * that protects, because a name may resolve to something else at any time.
 */
export interface Guard {
	/** Why connecting to this IP address, written as DNS and sockets do, isn't allowed; null if it is. */
	refusal(address: string): AddressRefusal | null;
	/** Whether connecting to this port is allowed, whatever the address. */
	permitsPort(port: number): boolean;
	/** Whether a webhook may be registered for this URL. The fragment is ignored, because it is never sent. */
	checkUrl(url: URL): UrlVerdict;
}

/**
 * `address_not_public`: it isn't public, and the operator doesn't allow it. `address_not_allowed`: it is public or
 * allowed, but is this machine's own, or the operator denies it.
 */
export type AddressRefusal = "address_not_public" | "address_not_allowed";

/** A range of ports, both included. */
export type PortRange = readonly [number, number];

export interface GuardOptions {
	/**
	 * CIDRs (`POSTHORN_EGRESS_ALLOW`) permitted in addition to public addresses. An IPv4 range also permits its
	 * IPv4-mapped addresses (`::ffff:a.b.c.d`); any other form that embeds an IPv4 address (NAT64, 6to4 …) needs its own
	 * range, which permits it only if the IPv4 address is public or allowed too. Only they permit addresses of this
	 * machine.
	 */
	readonly allow: readonly string[];
	/**
	 * CIDRs (`POSTHORN_EGRESS_DENY`) that are never permitted, even if `allow` contains them. An IPv4 range also denies
	 * every IPv6 address that embeds one of its addresses.
	 */
	readonly deny?: readonly string[];
	/** Permitted ports (`POSTHORN_EGRESS_PORTS`), all by default, except 0 and 25 in any case. */
	readonly ports?: readonly PortRange[];
	readonly interfaces?: Interfaces | undefined;
	/** Interfaces are read at most once a second on this clock; without it, for each address. */
	readonly clock?: Pick<Clock, "elapsed"> | undefined;
}

type UrlVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: UrlFault; readonly text: string };

/** What is wrong with a URL: a stable code. */
export type UrlFault =
	| "not_https"
	| "has_credentials"
	| "no_host"
	| "port_not_allowed"
	| "localhost"
	| "local_name"
	| AddressRefusal;

/** Texts for the store's owner. */
const FAULT_TEXT: Record<Exclude<UrlFault, "port_not_allowed">, string> = {
	not_https: "The URL must begin with https://. Webhooks are delivered over HTTPS only.",
	has_credentials:
		"The URL must not contain a user name or password. Verify the signature of each request instead, or put a token in the path.",
	no_host: "The URL has no host name. Give the full address, such as https://example.com/webhooks.",
	localhost:
		"Webhooks can't be delivered to localhost. In development, use a tunnel that gives your machine a public HTTPS URL and register that, or run Posthorn with POSTHORN_EGRESS_ALLOW=127.0.0.0/8,::1/128.",
	local_name:
		"The URL's host is a private network's name, which can't be reached from here. Use a public host name, or a tunnel in development. The operator can open a private network with POSTHORN_EGRESS_ALLOW.",
	address_not_public:
		"The URL's address is not public, so nothing can be delivered there. Use a public host, or a tunnel in development. The operator can allow address ranges with POSTHORN_EGRESS_ALLOW.",
	address_not_allowed:
		"The operator of this service doesn't allow requests to the URL's address, so nothing can be delivered there. Use another host. The operator can change that with POSTHORN_EGRESS_ALLOW and POSTHORN_EGRESS_DENY.",
};

/** Top-level names that never exist in public DNS: RFC 6762, RFC 8375, and ICANN's reservation of `internal`. */
const PRIVATE_SUFFIXES = [".local", ".internal", ".home.arpa"];

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/**
 * @throws TypeError if an entry isn't a CIDR
 * @throws Error if this machine's interfaces can't be listed
 */
export function createGuard(options: GuardOptions): Guard {
	const { deny = [], ports = ALL_PORTS, interfaces, clock } = options;
	const allowed = options.allow.map(parseRange);
	const denied = deny.map(parseRange);
	const isOwn = ownAddresses({ clock, interfaces });
	const special = [...SPECIAL_IPV4, ...SPECIAL_IPV6].map(parseRange);
	const globalIpv6 = parseRange(GLOBAL_IPV6);

	const isAllowed = (address: Address): boolean => allowed.some((range) => holds(range, address));

	function isPublicOrAllowed(address: Address): boolean {
		if (!embeddedIpv4(address).every(isPublicOrAllowed)) return false;
		if (isAllowed(address)) return true;
		if (address instanceof ipaddr.IPv6) {
			if (address.isIPv4MappedAddress()) return isAllowed(address.toIPv4Address());
			if (!holds(globalIpv6, address)) return false;
		}
		return !special.some((range) => holds(range, address));
	}

	function isDenied(address: Address): boolean {
		if (denied.some((range) => holds(range, address))) return true;
		return isOwn(address) && !isAllowed(address);
	}

	function refusal(text: string): AddressRefusal | null {
		const address = parseAddress(text);
		if (address === null || !isPublicOrAllowed(address)) return "address_not_public";
		return [address, ...embeddedIpv4(address)].some(isDenied) ? "address_not_allowed" : null;
	}

	const permitsPort = (port: number): boolean =>
		!REFUSED_PORTS.has(port) && ports.some(([from, to]) => from <= port && port <= to);
	const loopback = refusal("127.0.0.1") === null || refusal("::1") === null;
	/** Private names make sense only if the operator allows a private network. */
	const privateNames = allowed.some(([address]) => address.range() !== "loopback");

	function faultOf(url: URL): UrlFault | null {
		if (url.protocol !== "https:") return "not_https";
		if (url.username !== "" || url.password !== "") return "has_credentials";
		const host = hostOf(url);
		if (host === "") return "no_host";
		if (!permitsPort(portOf(url))) return "port_not_allowed";
		if (isIP(host) !== 0) return refusal(host);
		if (host === "localhost" || host.endsWith(".localhost")) return loopback ? null : "localhost";
		if (!host.includes(".") || PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix) || host === suffix.slice(1)))
			return privateNames ? null : "local_name";
		return null;
	}

	return {
		refusal,
		permitsPort,
		checkUrl(url) {
			const fault = faultOf(url);
			if (fault === null) return { ok: true };
			const text = fault === "port_not_allowed" ? portText(ports) : FAULT_TEXT[fault];
			return { ok: false, reason: fault, text };
		},
	};
}

/** Port 0 doesn't exist, and a mail server (25) might take a request for commands. No setting allows them. */
const REFUSED_PORTS: ReadonlySet<number> = new Set([0, 25]);

export const ALL_PORTS: readonly PortRange[] = [[1, 65_535]];

/** Port ranges as people write them: `443, 8000-8999`. */
export const portsText = (ports: readonly PortRange[]): string =>
	ports.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(", ");

const portText = (ports: readonly PortRange[]): string =>
	portsText(ports) === portsText(ALL_PORTS)
		? "Webhooks can't be delivered to this port: 0 is not a port, and 25 is for mail servers only. Use another, such as 443."
		: `Webhooks can't be delivered to this port. The operator of this service allows these: ${portsText(ports)}.`;

export const portOf = (url: URL): number => Number(url.port || 443);

/**
 * The URL's host as DNS, certificates and sockets expect it: an IPv6 literal without brackets, a name without its
 * trailing dot. The guard checks this host, and the sender connects to it. The URL parser has already normalized every
 * other spelling of an IPv4 address (octal, hexadecimal, short, single number, full width) to four decimal numbers, and
 * names to lower-case ASCII (WHATWG URL, host parsing).
 */
export function hostOf(url: URL): string {
	const host = url.hostname;
	if (host.startsWith("[")) return host.slice(1, -1);
	return host.endsWith(".") ? host.slice(0, -1) : host;
}

/**
 * Node's own check comes first, because the library also accepts octal and short forms, which never reach a socket.
 * IPv6 goes through the URL parser, which rewrites it in hexadecimal: the library takes `::1.2.3.4` for
 * `::ffff:1.2.3.4`.
 */
function parseAddress(text: string): Address | null {
	const family = isIP(text);
	if (family === 0 || text.includes("%")) return null;
	return ipaddr.parse(family === 4 ? text : new URL(`https://[${text}]`).hostname.slice(1, -1));
}

/** The IPv4 addresses that an IPv6 address may stand for, depending on who translates it. */
function embeddedIpv4(address: Address): ipaddr.IPv4[] {
	if (!(address instanceof ipaddr.IPv6) || holds(UNSPECIFIED_AND_LOOPBACK, address)) return [];
	const { parts } = address;
	const at = (i: number, flip = 0): ipaddr.IPv4 => {
		const [high, low] = [parts[i]! ^ flip, parts[i + 1]! ^ flip];
		return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
	};
	if (holds(SIX_TO_FOUR, address)) return [at(1)];
	// Teredo contains its server, and the client with its bits flipped (RFC 4380, 4).
	if (holds(TEREDO, address)) return [at(2), at(6, 0xffff)];
	// ISATAP, in any prefix (RFC 5214, 6.1).
	const isIsatap = (parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe;
	return isIsatap || LAST_32_BITS.some((range) => holds(range, address)) ? [at(6)] : [];
}

function holds([base, bits]: Range, address: Address): boolean {
	return base.kind() === address.kind() && address.match(base, bits);
}

function parseRange(text: string): Range {
	const slash = text.lastIndexOf("/");
	const base = parseAddress(text.slice(0, slash));
	const bits = /^\d{1,3}$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN;
	if (slash < 0 || base === null || !(bits <= (base.kind() === "ipv4" ? 32 : 128)))
		throw new TypeError(`"${text}" is not a range of addresses in CIDR form, such as 10.0.0.0/8 or fd00::/8.`);
	return [base, bits];
}

const SIX_TO_FOUR = parseRange("2002::/16");
const TEREDO = parseRange("2001::/32");
/** They look like IPv4-compatible addresses. */
const UNSPECIFIED_AND_LOOPBACK = parseRange("::/127");
/** IPv4-compatible, -mapped and -translated addresses, and NAT64 (RFC 4291, 2765, 6052, 8215). */
const LAST_32_BITS = ["::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48"].map(parseRange);

/**
 * Address ranges that aren't ordinary public addresses, from the IANA special-purpose address registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry; RFC 6890 and its updates)
 * and the multicast registries. If a registry marks part of a range as globally reachable, the whole range is still
 * listed, because no one receives webhooks there.
 */
const SPECIAL_IPV4: readonly string[] = [
	"0.0.0.0/8", // "this network", RFC 791
	"10.0.0.0/8", // private, RFC 1918
	"100.64.0.0/10", // shared by carrier-grade NAT, RFC 6598; some clouds' metadata
	"127.0.0.0/8", // loopback, RFC 1122
	"168.63.129.16/32", // not in the registry: Azure's wire server, reachable from every machine there
	"169.254.0.0/16", // link-local, RFC 3927; most clouds' metadata
	"172.16.0.0/12", // private, RFC 1918
	"192.0.0.0/24", // IETF protocol assignments, RFC 6890; some clouds' metadata
	"192.0.2.0/24", // documentation (TEST-NET-1), RFC 5737
	"192.31.196.0/24", // AS112-v4, RFC 7535
	"192.52.193.0/24", // AMT relays, RFC 7450
	"192.88.99.0/24", // 6to4 relays, RFC 7526
	"192.168.0.0/16", // private, RFC 1918
	"192.175.48.0/24", // AS112 direct delegation, RFC 7534
	"198.18.0.0/15", // benchmarking, RFC 2544
	"198.51.100.0/24", // documentation (TEST-NET-2), RFC 5737
	"203.0.113.0/24", // documentation (TEST-NET-3), RFC 5737
	"224.0.0.0/4", // multicast, RFC 5771
	"240.0.0.0/4", // reserved, RFC 1112; limited broadcast, RFC 919
];

/** The IPv6 range of all public unicast addresses assigned so far (RFC 4291, 2.4; IANA IPv6 address space). */
const GLOBAL_IPV6 = "2000::/3";

/**
 * Special ranges within {@link GLOBAL_IPV6}. Everything outside it is refused anyway: unspecified and loopback (::/128,
 * ::1), IPv4-compatible, -mapped and -translated (::/96, ::ffff:0:0/96, ::ffff:0:0:0/96), NAT64 (64:ff9b::/96,
 * 64:ff9b:1::/48), discard (100::/64), SRv6 (5f00::/16), unique local (fc00::/7, including AWS's fd00:ec2::254),
 * link-local (fe80::/10), site-local (fec0::/10) and multicast (ff00::/8).
 */
const SPECIAL_IPV6: readonly string[] = [
	"2001::/23", // IETF protocol assignments, RFC 2928: Teredo, benchmarking, ORCHID and ORCHIDv2, DRIP …
	"2001:db8::/32", // documentation, RFC 3849
	"2002::/16", // 6to4: embeds an IPv4 address, RFC 3056
	"2620:4f:8000::/48", // AS112 direct delegation, RFC 7534
	"3fff::/20", // documentation, RFC 9637
];

/** How long a list of addresses is used, milliseconds. */
const REREAD_AFTER_MS = 1_000;

/**
 * Returns whether an address belongs to one of this machine's interfaces, as they are now. A machine with a public
 * address could otherwise be reached on it from the inside, past the firewall that keeps others out.
 */
function ownAddresses({
	clock,
	interfaces = networkInterfaces,
}: Pick<GuardOptions, "clock" | "interfaces">): (address: Address) => boolean {
	const read = (): ReadonlySet<string> => {
		const all = Object.values(interfaces()).flatMap((addresses) => addresses ?? []);
		return new Set(all.map(({ address }) => ipaddr.parse(address.replace(/%.*/, "")).toNormalizedString()));
	};
	let addresses: ReadonlySet<string>;
	try {
		addresses = read();
	} catch (cause) {
		throw new Error(
			`This machine's own addresses can't be listed, so deliveries to them couldn't be refused (${(cause as Error).message}): ` +
				"allow the service netlink sockets, such as with AF_NETLINK in RestrictAddressFamilies= of its systemd unit.",
			{ cause },
		);
	}
	let readAt = clock?.elapsed();
	return (address) => {
		const now = clock?.elapsed();
		if (now === undefined || readAt === undefined || now - readAt >= REREAD_AFTER_MS) {
			readAt = now;
			try {
				addresses = read();
			} catch {
				// Listing them takes a file descriptor. While there is none, the previous list is the best guess.
			}
		}
		return addresses.has(address.toNormalizedString());
	};
}
