import type { FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Principal } from "../../accounts/index.ts";

/** A request's principal, as budgets name it: one account, one key, or the operator's key. */
export function principalName(principal: Principal): string {
	switch (principal.kind) {
		case "operator":
			return "operator";
		case "project":
			return principal.keyId;
		case "person":
			return principal.account.id;
	}
}

/** Whose budget a request's body counts against: its project, else the principal; null if unauthenticated. */
export function payerOf(request: FastifyRequest, principal: Principal | undefined): string | null {
	if (!principal) return null;
	const { project_id: projectId } = request.params as { project_id?: string };
	return projectId ?? principalName(principal);
}

/** The same for reads, except that the operator's count against no budget. */
export const readerOf = (request: FastifyRequest, principal: Principal): string =>
	principal.kind === "operator" ? principalName(principal) : payerOf(request, principal)!;

/**
 * The network that an unauthenticated request came from: the larger one, because a client may have thousands of the
 * smaller.
 */
export const unauthenticatedOwner = ({ ip }: FastifyRequest): string => networkOf(ip, 48);

/** Bits of one of an IPv6 address's eight groups. */
const GROUP_BITS = 16;

/**
 * The network that a client counts as: its IPv4 address, or the network of its IPv6 address, because one client may use
 * all of that network's addresses. That is a /64 for a household; a hosting customer may have a /48.
 */
export function networkOf(address: string, bits: 64 | 48 = 64): string {
	if (!ipaddr.isValid(address)) return address;
	// A socket for both families shows IPv4 clients in IPv6's form.
	const parsed = ipaddr.process(address);
	if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
	const groups = parsed.parts.slice(0, bits / GROUP_BITS).map((group) => group.toString(16));
	return `${groups.join(":")}::/${bits}`;
}
