/**
 * Address ranges that aren't ordinary public addresses, from the IANA special-purpose address registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry; RFC 6890 and its updates)
 * and the multicast registries. If a registry marks part of a range as globally reachable, the whole range is still
 * listed, because no one receives webhooks there.
 */
export const SPECIAL_IPV4: readonly string[] = [
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
export const GLOBAL_IPV6 = "2000::/3";

/**
 * Special ranges within {@link GLOBAL_IPV6}. Everything outside it is refused anyway: unspecified and loopback (::/128,
 * ::1), IPv4-compatible, -mapped and -translated (::/96, ::ffff:0:0/96, ::ffff:0:0:0/96), NAT64 (64:ff9b::/96,
 * 64:ff9b:1::/48), discard (100::/64), SRv6 (5f00::/16), unique local (fc00::/7, including AWS's fd00:ec2::254),
 * link-local (fe80::/10), site-local (fec0::/10) and multicast (ff00::/8).
 */
export const SPECIAL_IPV6: readonly string[] = [
	"2001::/23", // IETF protocol assignments, RFC 2928: Teredo, benchmarking, ORCHID and ORCHIDv2, DRIP …
	"2001:db8::/32", // documentation, RFC 3849
	"2002::/16", // 6to4: embeds an IPv4 address, RFC 3056
	"2620:4f:8000::/48", // AS112 direct delegation, RFC 7534
	"3fff::/20", // documentation, RFC 9637
];
