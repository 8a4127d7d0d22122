import { timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { isoTime } from "@posthorn/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
	API_KEY_PREFIX,
	askImmediately,
	type Guesses,
	OPERATOR_KEY_PREFIX,
	type Person,
	type Principal,
	SESSION_MS,
	TooManyGuesses,
} from "../../accounts/index.ts";
import { isId } from "../../base/ids.ts";
import { DEVELOPER_APP } from "../../registry/projects.ts";
import { type KeyScope, mayAs, type Role } from "../../storage/port.ts";
import { found, notFound, Problem, retryLater } from "../http/problem.ts";
import { type ApiParts, type Route, roleFor, scopeFor } from "../route.ts";
import { unauthenticatedOwner } from "./callers.ts";

/** RFC 6750: the scheme's name is case-insensitive; one or more spaces, then the token. */
const BEARER = /^bearer +(\S.*)$/i;

const CSRF_HEADER = "x-csrf-token";

export type AuthParts = Pick<ApiParts, "apiKeys" | "sessions" | "members" | "storage" | "cookie" | "publicUrl"> & {
	readonly guesses: Pick<Guesses, "from" | "wrong">;
};

declare module "fastify" {
	interface FastifyRequest {
		/** Null if the request is unauthenticated, or not authorized yet. */
		principal: Principal | null;
		/** The project in its path, if its principal has access to it. */
		projectId: string | null;
	}
}

/** @throws Error on open routes, whose callers aren't authenticated */
export function principalOf({ principal }: Pick<FastifyRequest, "principal">): Principal {
	if (!principal) throw new Error("Callers of an open route aren't authenticated.");
	return principal;
}

/**
 * Throws unless the request may continue to the route, before its body is read. The checks are ordered so that a caller
 * learns nothing about what it may not see: identity (401), CSRF (403), the project (404), the role or the key's scopes
 * (403), and then the project's apps (409, {@link requireApp}).
 */
export async function authorize(request: FastifyRequest, route: Route, parts: AuthParts): Promise<void> {
	const { access } = route;
	if (access === "open") {
		if (isUnsafe(request)) checkOrigin(request, parts, false);
		return;
	}
	const principal = await authenticate(request, parts);
	request.principal = principal;
	if (principal.kind === "person" && isUnsafe(request)) checkIntent(request, principal, parts);
	if (access === "signed_in" && principal.kind !== "person")
		throw new Problem("forbidden", "Only users who are signed in to the dashboard may do this; this is an API key.");
	const { project_id: projectId } = request.params as { project_id?: string };
	if (projectId !== undefined) {
		await checkRole(principal, projectId, route, parts);
		request.projectId = projectId;
	} else if (principal.kind === "project") checkKey(principal, route);
	if (access !== "operator" || principal.kind === "operator") return;
	if (principal.kind === "project")
		throw new Problem("forbidden", "Only the operator's key may do this; this is a project's key.");
	if (!principal.account.operator) throw new Problem("forbidden", "Only the operator may do this.");
}

/** Throws 409 unless the project has what the route needs. After {@link authorize}, and apart because it asks storage. */
export async function requireApp(
	{ projectId }: FastifyRequest,
	{ access }: Route,
	{ storage }: AuthParts,
): Promise<void> {
	if (access !== "developer" || projectId === null) return;
	const { apps } = found("project", await storage.getProject({ projectId }));
	if (apps.includes(DEVELOPER_APP)) return;
	throw new Problem(
		"app-not-installed",
		"Webhooks, API keys and logs need the Developer app, which isn't installed in this project. An owner can install it under Apps, or the operator with PUT /v1/projects/{project_id}/apps/developer.",
	);
}

/**
 * Throws unless an authorized request would be authorized again now. Its key or session was valid before, so wrong ones
 * from the same address must neither end it nor keep it.
 */
export async function authorizeAgain(request: FastifyRequest, route: Route, parts: AuthParts): Promise<void> {
	await authorize(request, route, { ...parts, guesses: { from: () => askImmediately, wrong: () => undefined } });
	await requireApp(request, route, parts);
}

/** Whether {@link authorizeAgain} passes: the caller's session may have ended since, or its key been deleted. */
export async function isStillAllowed(request: FastifyRequest, route: Route, parts: AuthParts): Promise<boolean> {
	try {
		await authorizeAgain(request, route, parts);
		return true;
	} catch (error) {
		if (error instanceof Problem) return false;
		throw error;
	}
}

async function checkRole(
	principal: Principal,
	projectId: string,
	route: Route,
	{ members, storage }: AuthParts,
): Promise<void> {
	if (!isId("project", projectId)) throw notFound("project");
	if (principal.kind === "operator") return;
	if (principal.kind === "project") {
		if (principal.projectId !== projectId) throw notFound("project");
		checkKey(principal, route);
		return;
	}
	const role = await members.roleOf(projectId, principal.account);
	if (!role || (principal.account.operator && !(await storage.getProject({ projectId })))) throw notFound("project");
	const needed = roleFor(route);
	if (!mayAs(role, needed)) throw roleTooLow(role, needed);
}

function checkKey(principal: Extract<Principal, { readonly kind: "project" }>, route: Route): void {
	if (route.peopleOnly) throw notForKeys();
	const scope = scopeFor(route);
	if (scope !== null && !principal.scopes.includes(scope)) throw outOfScope(principal.scopes, scope);
}

function roleTooLow(role: Role, needed: Role): Problem {
	const who = { viewer: "a viewer", developer: "a developer", owner: "an owner" };
	return new Problem(
		"forbidden",
		`You are ${who[role]} of this project; this requires ${who[needed]}. An owner can change your role under Members.`,
	);
}

/** RFC 6750, section 3.1. */
function outOfScope(scopes: readonly KeyScope[], needed: KeyScope): Problem {
	const has = scopes.length === 0 ? "no scope" : `the scope${scopes.length > 1 ? "s" : ""} ${scopes.join(" and ")}`;
	return new Problem(
		"forbidden",
		`This key has ${has}; this requires ${needed}. A key's scopes can't be changed: create a key that has ${needed}, under API Keys.`,
		{ headers: { "WWW-Authenticate": `Bearer realm="posthorn", error="insufficient_scope", scope="${needed}"` } },
	);
}

function notForKeys(): Problem {
	return new Problem(
		"forbidden",
		"Only members and the operator can do this: sign in to the dashboard, or use the operator's key; this is a project's key.",
	);
}

async function authenticate(request: FastifyRequest, parts: AuthParts): Promise<Principal> {
	const { authorization } = request.headers;
	if (authorization === undefined) {
		const token = parts.cookie.read(request);
		const person = await findPerson(token, request, parts);
		if (person) return person;
		throw unauthorized(
			token === undefined
				? "Send an API key in the header Authorization: Bearer KEY, or sign in."
				: "Your session has ended. Sign in again.",
		);
	}
	const token = BEARER.exec(authorization)?.[1]?.trimEnd();
	if (token === undefined) throw unauthorized("Send an API key in the header Authorization: Bearer KEY.");
	// Headers are decoded as Latin-1; this restores the original bytes.
	const key = Buffer.from(token, "latin1");
	const principal = await counted(request, parts, (ask) => parts.apiKeys.authenticate(key, ask));
	if (principal !== null && principal.kind !== "expired") return principal;
	if (principal !== null)
		throw invalidToken(`This API key expired at ${isoTime(principal.at)}. Create another one under API Keys.`);
	if (!token.startsWith(API_KEY_PREFIX) && !token.startsWith(OPERATOR_KEY_PREFIX))
		throw invalidToken(
			`This isn't a key that Posthorn creates: those begin with ${API_KEY_PREFIX} or ${OPERATOR_KEY_PREFIX}.`,
		);
	throw invalidToken("This API key is not known. It may have been deleted, or belong to another instance.");
}

const unauthorized = (why: string, error = ""): Problem =>
	new Problem("unauthorized", why, { headers: { "WWW-Authenticate": `Bearer realm="posthorn"${error}` } });
const invalidToken = (why: string): Problem => unauthorized(why, ', error="invalid_token"');

/**
 * The signed-in account that sent this request, after CSRF checks; null if there is none. For open routes that do more
 * for signed-in users.
 */
export async function authenticateCookie(request: FastifyRequest, parts: AuthParts): Promise<Person | null> {
	const person = await findPerson(parts.cookie.read(request), request, parts);
	if (person) checkIntent(request, person, parts);
	return person;
}

async function findPerson(
	token: string | undefined,
	request: FastifyRequest,
	parts: AuthParts,
): Promise<Person | null> {
	return token === undefined ? null : counted(request, parts, (ask) => parts.sessions.find(token, ask));
}

/** Finds a token's principal. An invalid token counts against the network that it came from. */
async function counted<T>(
	request: FastifyRequest,
	{ guesses }: Pick<AuthParts, "guesses">,
	find: (ask: ReturnType<Guesses["from"]>) => Promise<T | null>,
): Promise<T | null> {
	try {
		const found = await find((hash, lookUp) => guesses.from(unauthenticatedOwner(request))(hash, lookUp));
		if (found === null) guesses.wrong(unauthenticatedOwner(request));
		return found;
	} catch (error) {
		if (!(error instanceof TooManyGuesses)) throw error;
		throw retryLater("own", "Too many invalid API keys or sessions came from this network.", error.wait);
	}
}

/**
 * Browsers send the cookie with every request, even those that another site triggers, so this checks that the dashboard
 * sent it.
 */
function checkIntent(request: FastifyRequest, { csrfToken }: Person, parts: AuthParts): void {
	checkOrigin(request, parts, true);
	const given = Buffer.from(String(request.headers[CSRF_HEADER] ?? ""));
	const expected = Buffer.from(csrfToken);
	if (given.length === expected.length && timingSafeEqual(given, expected)) return;
	throw new Problem("forbidden", "The header X-CSRF-Token is missing or wrong. GET /v1/session returns the right one.");
}

function isUnsafe({ method }: FastifyRequest): boolean {
	return method !== "GET" && method !== "HEAD";
}

/**
 * Throws 403 for a request that another site's page made a browser send. Browsers send `Origin` with every such request
 * that could change something, or at least `Sec-Fetch-Site`; a client that sends neither isn't a browser.
 *
 * @param required whether one of the two headers must be present
 */
function checkOrigin(request: FastifyRequest, { publicUrl }: AuthParts, required: boolean): void {
	const { origin, host, "sec-fetch-site": site } = request.headers;
	if (origin !== undefined) {
		if (origin === publicUrl() || (host !== undefined && hostOf(origin) === host && isOwnAddress(host))) return;
	} else if (site === "same-origin" || (site === undefined && !required)) return;
	throw new Problem(
		"forbidden",
		"This request comes from another site's page. If the dashboard itself is refused, POSTHORN_PUBLIC_URL is not the address at which it is opened.",
	);
}

/**
 * Whether a host that the browser asked for can only be this service's: an address or `localhost`. Any other name may
 * be an attacker's that now resolves to this machine (DNS rebinding), so names need POSTHORN_PUBLIC_URL.
 */
function isOwnAddress(host: string): boolean {
	const name = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, "") ?? "";
	return name === "localhost" || isIP(name) !== 0;
}

function hostOf(origin: string): string | null {
	return URL.canParse(origin) ? new URL(origin).host : null;
}

/**
 * The session cookie. Over TLS its name has a prefix that keeps other hosts from setting it (RFC 6265bis). Browsers send a
 * host's cookies to all of its ports, so the name ends with the port unless it is the scheme's default: signing in to one
 * of two services on a host doesn't sign out of the other.
 */
export class SessionCookie {
	readonly #publicUrl: string | null;
	readonly #secure: boolean;

	/** @param publicUrl where users reach the dashboard, if it is configured */
	constructor(publicUrl: string | null) {
		this.#publicUrl = publicUrl;
		this.#secure = publicUrl?.startsWith("https:") ?? false;
	}

	read(request: FastifyRequest): string | undefined {
		return request.cookies[this.#nameFor(request)];
	}

	set(reply: FastifyReply, token: string): void {
		reply.setCookie(this.#nameFor(reply.request), token, { ...this.#options, maxAge: SESSION_MS / 1_000 });
	}

	/** Extends the cookie to the new end of the session, which was just used. */
	renew(request: FastifyRequest, reply: FastifyReply): void {
		const token = this.read(request);
		if (token !== undefined) this.set(reply, token);
	}

	clear(reply: FastifyReply): void {
		reply.clearCookie(this.#nameFor(reply.request), this.#options);
	}

	/** Without a configured URL, the port is the browser's, which needn't be this service's own. */
	#nameFor({ headers: { host } }: FastifyRequest): string {
		const port = URL.parse(this.#publicUrl ?? `http://${host}`)?.port ?? "";
		return `${this.#secure ? "__Host-" : ""}posthorn_session${port === "" ? "" : `_${port}`}`;
	}

	get #options(): { path: string; httpOnly: true; sameSite: "lax"; secure: boolean } {
		return { path: "/", httpOnly: true, sameSite: "lax", secure: this.#secure };
	}
}
