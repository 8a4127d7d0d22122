import { isIPv6 } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

/** What `os.networkInterfaces` returns. */
export type Interfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>;

/**
 * Whether this machine has an address from which it could connect to `target`: one of the same family, on the loopback
 * interface for a loopback target, on any other interface otherwise. Link-local IPv6 addresses don't count, because
 * they reach no receiver.
 *
 * Without such an address, connecting always fails with EADDRNOTAVAIL or ENETUNREACH. IPv6 disabled by sysctl gives the
 * same error as exhausted local ports, but only the latter is a shortage, and temporary.
 */
export function hasLocalAddressFor(target: string, interfaces: Interfaces = networkInterfaces): boolean {
	const family = isIPv6(target) ? "IPv6" : "IPv4";
	const internal = target === "::1" || target.startsWith("127.");
	return Object.values(interfaces()).some((addresses) =>
		addresses?.some((each) => each.family === family && each.internal === internal && !/^fe[89ab]/i.test(each.address)),
	);
}
