import type { FastifyRequest } from "fastify";
import type { ApiKeys, Principal } from "../accounts/index.ts";
import { isId } from "../base/ids.ts";
import { DEVELOPER_APP, type Projects } from "../registry/index.ts";
import { notFound, Problem } from "./problem.ts";
import type { Access } from "./route.ts";

/** RFC 6750: letters are free in the scheme's name; one or more spaces, then the token. */
const BEARER = /^bearer +(\S.*)$/i;

/** Wrong keys from one address within a minute; beyond, 429. Right keys are never counted. */
export const WRONG_KEYS_A_MINUTE = 300;

/** Counts a wrong key from the request's address; answers with the seconds to wait once there are too many, else null. */
export type CountWrongKey = (request: FastifyRequest) => Promise<number | null>;

export interface AuthParts {
	readonly apiKeys: Pick<ApiKeys, "authenticate">;
	readonly projects: Pick<Projects, "get">;
	readonly countWrongKey: CountWrongKey;
}

/**
 * Throws unless the request may go on to the route: before its body is read. Order matters, so that a key learns nothing
 * of what it may not see: whose key (401), whose project (404), what the key may (403), what the project has (409).
 */
export async function authorize(request: FastifyRequest, access: Access, parts: AuthParts): Promise<void> {
	if (access === "open") return;
	const principal = await authenticate(request, parts);
	const { project_id: projectId } = request.params as { project_id?: string };
	if (projectId !== undefined) {
		const own = principal.scope === "operator" || principal.projectId === projectId;
		if (!own || !isId("project", projectId)) throw notFound("project");
	}
	if (access === "operator" && principal.scope !== "operator")
		throw new Problem("forbidden", "Only the operator's key may do this; this is the key of a project.");
	if (access === "developer" && projectId !== undefined) {
		const project = await parts.projects.get(projectId);
		if (!project) throw notFound("project");
		if (!project.apps.includes(DEVELOPER_APP))
			throw new Problem(
				"app-not-installed",
				"This project does not have the Developer app, to which webhooks, API keys and logs belong. Its operator can install it: PUT /v1/projects/{project_id}/apps/developer.",
			);
	}
}

async function authenticate(request: FastifyRequest, parts: AuthParts): Promise<Principal> {
	const header = request.headers.authorization;
	const token = header === undefined ? undefined : BEARER.exec(header)?.[1]?.trimEnd();
	if (token === undefined)
		throw new Problem("unauthorized", "Send an API key in the header Authorization: Bearer KEY.", {
			headers: { "WWW-Authenticate": 'Bearer realm="posthorn"' },
		});
	// Headers come as Latin-1: this gives the bytes that were sent.
	const principal = await parts.apiKeys.authenticate(Buffer.from(token, "latin1"));
	if (principal) return principal;
	const wait = await parts.countWrongKey(request);
	if (wait !== null)
		throw new Problem("too-many-requests", `Too many wrong API keys came from this address. Wait ${wait} seconds.`, {
			headers: { "Retry-After": String(wait) },
		});
	throw new Problem(
		"unauthorized",
		"This API key is not known. It may have been deleted, or belong to another instance.",
		{
			headers: { "WWW-Authenticate": 'Bearer realm="posthorn", error="invalid_token"' },
		},
	);
}
