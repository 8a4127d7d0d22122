import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { GLOBAL_IPV6, SPECIAL_IPV4, SPECIAL_IPV6 } from "./special-ranges.ts";

/**
 * The egress guard: which addresses requests may go to. Public unicast addresses alone, so that nobody can aim the
 * service at its own machine, its neighbours or a cloud's metadata (server-side request forgery), except for what the
 * operator lets through.
 *
 * It judges twice. At registration {@link Guard.checkUrl} tells the owner early about URLs that can never work. At
 * delivery {@link Guard.permits} judges the very addresses that are connected to: that is the check that protects, since
 * what a name resolves to may change at any time.
 */
export interface Guard {
	/** Whether a connection to this IP address, in the form that DNS and sockets use, is allowed. False for anything else. */
	permits(address: string): boolean;
	/** Whether a webhook may be registered for this URL. Its fragment is no matter: it is never sent. */
	checkUrl(url: URL): UrlVerdict;
}

export type UrlVerdict =
	| { readonly ok: true }
	| { readonly ok: false; readonly reason: UrlFault; readonly text: string };

/** What is wrong with a URL: a stable code. */
export type UrlFault = "not_https" | "has_credentials" | "no_host" | "localhost" | "local_name" | "address_not_public";

/** Told to the store's owner. */
const FAULT_TEXT: Record<UrlFault, string> = {
	not_https: "The URL must begin with https://. Webhooks are delivered over HTTPS only.",
	has_credentials:
		"The URL must not contain a user name or password. Verify the signature of each request instead, or put a token in the path.",
	no_host: "The URL has no host name. Give the full address, such as https://example.com/webhooks.",
	localhost:
		"Webhooks cannot be delivered to localhost. For local development, use a tunnel that gives your machine a public HTTPS URL, and register that.",
	local_name:
		"The URL's host is a name of a private network, which cannot be reached from here. Use a publicly reachable host name; for local development, a tunnel.",
	address_not_public:
		"The URL's address is not public, so nothing can be delivered there. Use a publicly reachable host; for local development, a tunnel.",
};

/** Top-level names that never exist in public DNS: RFC 6762, RFC 8375, and ICANN's reservation of `internal`. */
const PRIVATE_SUFFIXES = [".local", ".internal", ".home.arpa"];

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/**
 * @param options.allow CIDRs (`POSTHORN_EGRESS_ALLOW`) that are let through besides public addresses. A range of IPv4
 * also lets through its addresses in their IPv4-mapped form (`::ffff:a.b.c.d`); every other form that embeds an IPv4
 * address (NAT64, 6to4 …) must be named by its own range.
 * @throws TypeError where an entry is not a CIDR.
 */
export function createGuard(options: { readonly allow: readonly string[] }): Guard {
	const allowed = options.allow.map(parseRange);
	const special = [...SPECIAL_IPV4, ...SPECIAL_IPV6].map(parseRange);
	const globalIpv6 = parseRange(GLOBAL_IPV6);

	function permits(text: string): boolean {
		const address = parseAddress(text);
		if (address === null) return false;
		if (allowed.some((range) => holds(range, address))) return true;
		if (address instanceof ipaddr.IPv6) {
			if (address.isIPv4MappedAddress()) {
				const embedded = address.toIPv4Address();
				return allowed.some((range) => holds(range, embedded));
			}
			if (!holds(globalIpv6, address)) return false;
		}
		return !special.some((range) => holds(range, address));
	}

	const loopback = permits("127.0.0.1") || permits("::1");
	/** Names of private networks make sense where the operator opened one. */
	const privateNames = allowed.some(([address]) => address.range() !== "loopback");

	function faultOf(url: URL): UrlFault | null {
		if (url.protocol !== "https:") return "not_https";
		if (url.username !== "" || url.password !== "") return "has_credentials";
		const host = hostOf(url);
		if (host === "") return "no_host";
		if (isIP(host) !== 0) return permits(host) ? null : "address_not_public";
		if (host === "localhost" || host.endsWith(".localhost")) return loopback ? null : "localhost";
		if (!host.includes(".") || PRIVATE_SUFFIXES.some((suffix) => host.endsWith(suffix) || host === suffix.slice(1)))
			return privateNames ? null : "local_name";
		return null;
	}

	return {
		permits,
		checkUrl(url) {
			const fault = faultOf(url);
			return fault === null ? { ok: true } : { ok: false, reason: fault, text: FAULT_TEXT[fault] };
		},
	};
}

/**
 * The URL's host as DNS and sockets take it: an IPv6 literal without its brackets, a name without the dot of the root.
 * The URL parser has already turned every other spelling of an IPv4 address (octal, hexadecimal, short, one number, full
 * width) into four decimal numbers, and names into lower-case ASCII (WHATWG URL, host parsing).
 */
export function hostOf(url: URL): string {
	const host = url.hostname;
	if (host.startsWith("[")) return host.slice(1, -1);
	return host.endsWith(".") ? host.slice(0, -1) : host;
}

/**
 * Node's judgement of what is an address comes first: the library also takes octal and short forms, which no socket gets.
 * IPv6 goes through the URL parser, which writes it in hexadecimal throughout: the library takes `::1.2.3.4` for
 * `::ffff:1.2.3.4`.
 */
function parseAddress(text: string): Address | null {
	const family = isIP(text);
	if (family === 0 || text.includes("%")) return null;
	return ipaddr.parse(family === 4 ? text : new URL(`https://[${text}]`).hostname.slice(1, -1));
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
