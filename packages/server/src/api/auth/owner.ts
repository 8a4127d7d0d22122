import type { FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Principal } from "../../accounts/index.ts";

/** Who a request's principal is, as budgets name it: one account, one key, or the operator's key. */
export function principalName(principal: Principal): string {
	switch (principal.scope) {
		case "operator":
			return "operator";
		case "project":
			return principal.keyId;
		case "person":
			return principal.account.id;
	}
}

/** Whose budget a request's body counts to: the project that it is for, else the principal; null for a stranger. */
export function payerOf(request: FastifyRequest, principal: Principal | undefined): string | null {
	if (!principal) return null;
	const { project_id: projectId } = request.params as { project_id?: string };
	return projectId ?? principalName(principal);
}

/** The same for what it reads, except that the operator reads at nobody's expense. */
export const readerOf = (request: FastifyRequest, principal: Principal): string =>
	principal.scope === "operator" ? principalName(principal) : payerOf(request, principal)!;

/** The network that a stranger's request came from: the larger one, as a stranger may have thousands of the smaller. */
export const strangerName = ({ ip }: FastifyRequest): string => networkOf(ip, 48);

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
