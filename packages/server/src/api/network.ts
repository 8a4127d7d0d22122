import ipaddr from "ipaddr.js";

/** How many of an IPv6 address's eight groups name the network; whoever has the network has all its addresses. */
const NETWORK_GROUPS = 4;

/** By what failures of a client are counted: its IPv4 address, or the /64 network of its IPv6 address. */
export function networkOf(address: string): string {
	if (!ipaddr.isValid(address)) return address;
	// What came over IPv4 to a socket for both is written in IPv6's form.
	const parsed = ipaddr.process(address);
	if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
	const groups = parsed.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
	return `${groups.join(":")}::/64`;
}
