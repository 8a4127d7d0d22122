import type { FastifyRequest } from "fastify";
import type { Principal } from "../accounts/index.ts";
import { networkOf } from "./network.ts";

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
