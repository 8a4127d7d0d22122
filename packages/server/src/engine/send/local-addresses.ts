import { isIPv6 } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

/** What `os.networkInterfaces` returns. */
export type Interfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>;

/**
 * Whether this machine has an address that a connection to `target` could come from: one of its family, on the loopback
 * interface for a loopback target and on any other for the rest. Link-local IPv6 addresses reach no receiver.
 *
 * Without one, connecting fails with EADDRNOTAVAIL or ENETUNREACH whatever is free: IPv6 that is switched off by sysctl
 * gives the same error as local ports that are used up. Only the latter is a shortage, and passes.
 */
export function hasLocalAddressFor(target: string, interfaces: Interfaces = networkInterfaces): boolean {
	const family = isIPv6(target) ? "IPv6" : "IPv4";
	const internal = target === "::1" || target.startsWith("127.");
	return Object.values(interfaces()).some((addresses) =>
		addresses?.some((each) => each.family === family && each.internal === internal && !/^fe[89ab]/i.test(each.address)),
	);
}
