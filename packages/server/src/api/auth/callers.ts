import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import type { Principal } from "../../accounts/index.ts";
import { UNAUTHENTICATED } from "../../base/budgets.ts";
import { BoundedMap } from "../../base/collections.ts";

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

/** The project of a key, for all keys of it; any other principal itself. */
const ownerOf = (principal: Principal): string =>
	principal.kind === "project" ? principal.projectId : principalName(principal);

/**
 * Whose budget a request's body counts against: the project in its path or of its key, else the principal; null if
 * unauthenticated.
 */
export const payerOf = ({ projectId, principal }: FastifyRequest): string | null =>
	principal && (projectId ?? ownerOf(principal));

export const unauthenticatedOwner = ({ ip }: FastifyRequest): string => networkOf(ip);

/** By address: parsing one costs more than the rest of recognizing a caller. */
const networks = new BoundedMap<string, string>(UNAUTHENTICATED.knownAddresses);

/** 16-bit groups of an IPv6 address that name its network. */
const NETWORK_GROUPS = 3;

/**
 * The network that a client counts as: its IPv4 address, or the /48 of its IPv6 address, because a hosting customer may
 * have a whole /48, which is 65,536 /64s.
 */
export function networkOf(address: string): string {
	const known = networks.get(address);
	if (known !== undefined) return known;
	const network = parseNetwork(address);
	networks.set(address, network);
	return network;
}

function parseNetwork(address: string): string {
	if (!ipaddr.isValid(address)) return address;
	// A socket for both families shows IPv4 clients in IPv6's form.
	const parsed = ipaddr.process(address);
	if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
	const groups = parsed.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
	return `${groups.join(":")}::/${NETWORK_GROUPS * 16}`;
}

declare module "node:http" {
	interface IncomingMessage {
		/** The hash of its credentials, if it was computed; null if it has none. */
		credentialHash?: string | null;
	}
}

/**
 * Credentials that were valid when last used, so that their requests need not wait for those of unauthenticated clients.
 * It grants nothing: each request is authorized as before. Only hashes are kept.
 */
export class KnownCallers {
	readonly #names = new BoundedMap<string, string>(UNAUTHENTICATED.knownTokens);

	/** Whose request it is: its project, for all keys of it, or its account. Null if its credentials aren't known. */
	find(request: IncomingMessage): string | null {
		const hash = hashOf(request);
		return (hash !== null && this.#names.get(hash)) || null;
	}

	/** Records whose request it was; null if it wasn't authenticated. */
	note(request: IncomingMessage, principal: Principal | null): void {
		const hash = hashOf(request);
		if (hash === null || (principal !== null) === this.#names.has(hash)) return;
		if (principal === null) this.#names.delete(hash);
		else this.#names.set(hash, ownerOf(principal));
	}
}

function hashOf(request: IncomingMessage): string | null {
	const { authorization, cookie } = request.headers;
	const credential = authorization ?? cookie;
	request.credentialHash ??= credential === undefined ? null : hash("sha256", credential, "base64");
	return request.credentialHash;
}
