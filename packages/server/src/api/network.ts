import ipaddr from "ipaddr.js";

/** Bits of one of an IPv6 address's eight groups. */
const GROUP_BITS = 16;

/**
 * The network that a client counts as: its IPv4 address, or the network of its IPv6 address, since whoever has the network
 * has all its addresses. That is a /64 for a household; a hosting customer may have a /48.
 */
export function networkOf(address: string, bits: 64 | 48 = 64): string {
	if (!ipaddr.isValid(address)) return address;
	// What came over IPv4 to a socket for both is written in IPv6's form.
	const parsed = ipaddr.process(address);
	if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
	const groups = parsed.parts.slice(0, bits / GROUP_BITS).map((group) => group.toString(16));
	return `${groups.join(":")}::/${bits}`;
}
