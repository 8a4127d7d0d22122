import { timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
	type ApiKeys,
	askAtOnce,
	type Guesses,
	type Members,
	type Person,
	type Principal,
	SESSION_MS,
	type Sessions,
	TooManyGuesses,
} from "../../accounts/index.ts";
import { isId } from "../../base/ids.ts";
import { DEVELOPER_APP, type Projects } from "../../registry/index.ts";
import { mayAs, type Role } from "../../storage/port.ts";
import { comeAgain, notFound, Problem } from "../http/problem.ts";
import { type Route, roleFor } from "../route.ts";
import { networkOf } from "./owner.ts";

/** RFC 6750: letters are free in the scheme's name; one or more spaces, then the token. */
const BEARER = /^bearer +(\S.*)$/i;

/** Carries the session's token against forged requests. */
export const CSRF_HEADER = "x-csrf-token";

export interface AuthParts extends OriginCheck {
	readonly apiKeys: Pick<ApiKeys, "authenticate">;
	readonly sessions: Pick<Sessions, "find">;
	readonly members: Pick<Members, "roleOf">;
	readonly projects: Pick<Projects, "get">;
	readonly cookie: Pick<SessionCookie, "read">;
	readonly guesses: Pick<Guesses, "from" | "wrong">;
}

/** Who sent the requests that are being handled. */
const principals = new WeakMap<FastifyRequest, Principal>();

/** Who sent the request; undefined where nobody in particular did, or it is not known yet. */
export const principalOrNull = (request: FastifyRequest): Principal | undefined => principals.get(request);

/** @throws Error on open routes, which nobody in particular calls */
export function principalOf(request: FastifyRequest): Principal {
	const principal = principals.get(request);
	if (!principal) throw new Error("Nobody in particular calls an open route.");
	return principal;
}

/**
 * Throws unless the request may go on to the route: before its body is read. Order matters, so that a caller learns
 * nothing of what he may not see: who it is (401), whether he means it (403), whose project (404), what he may (403), what
 * the project has (409).
 */
export async function authorize(request: FastifyRequest, route: Route, parts: AuthParts): Promise<void> {
	const { access } = route;
	if (access === "open") {
		if (isUnsafe(request)) checkOrigin(request, parts, false);
		return;
	}
	const principal = await authenticate(request, parts);
	principals.set(request, principal);
	if (principal.scope === "person" && isUnsafe(request)) checkIntent(request, principal, parts);
	if (access === "signed_in" && principal.scope !== "person")
		throw new Problem("forbidden", "Only somebody who is signed in to the dashboard may do this; this is an API key.");
	const { project_id: projectId } = request.params as { project_id?: string };
	if (projectId !== undefined) await checkRole(principal, projectId, route, parts);
	else if (route.peopleOnly && principal.scope === "project") throw mattersOfPeople();
	if (
		access === "operator" &&
		principal.scope !== "operator" &&
		!(principal.scope === "person" && principal.account.operator)
	)
		throw new Problem(
			"forbidden",
			principal.scope === "person"
				? "Only the operator may do this."
				: "Only the operator's key may do this; this is the key of a project.",
		);
	if (access === "developer" && projectId !== undefined) await checkApp(projectId, parts);
}

/** Whether a request that was authorized would be so again now: the session may be over, the key deleted. */
export async function isStillAllowed(request: FastifyRequest, route: Route, parts: AuthParts): Promise<boolean> {
	try {
		// Its key or session was right before: wrong ones from the same address must not end it, or keep it.
		await authorize(request, route, { ...parts, guesses: { from: () => askAtOnce, wrong: () => undefined } });
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
	{ members, projects }: AuthParts,
): Promise<void> {
	if (!isId("project", projectId)) throw notFound("project");
	if (principal.scope === "operator") return;
	if (principal.scope === "project") {
		if (principal.projectId !== projectId) throw notFound("project");
		if (route.peopleOnly) throw mattersOfPeople();
		return;
	}
	const role = await members.roleOf(projectId, principal.account);
	if (!role || (principal.account.operator && !(await projects.get(projectId)))) throw notFound("project");
	const needed = roleFor(route);
	if (!mayAs(role, needed)) throw roleTooLow(role, needed);
}

/** 403 in plain words. */
export function roleTooLow(role: Role, needed: Role): Problem {
	const who = { viewer: "a viewer", developer: "a developer", owner: "an owner" };
	return new Problem(
		"forbidden",
		`You are ${who[role]} of this project; this takes ${who[needed]}. An owner can change your role under Members.`,
	);
}

function mattersOfPeople(): Problem {
	return new Problem(
		"forbidden",
		"This is a matter for people and the operator: sign in to the dashboard, or use the operator's key; this is the key of a project.",
	);
}

async function checkApp(projectId: string, { projects }: AuthParts): Promise<void> {
	const project = await projects.get(projectId);
	if (!project) throw notFound("project");
	if (project.apps.includes(DEVELOPER_APP)) return;
	throw new Problem(
		"app-not-installed",
		"This project does not have the Developer app, to which webhooks, API keys and logs belong. Its owner can install it under Apps, and the operator with PUT /v1/projects/{project_id}/apps/developer.",
	);
}

async function authenticate(request: FastifyRequest, parts: AuthParts): Promise<Principal> {
	const { authorization } = request.headers;
	if (authorization === undefined) {
		const token = parts.cookie.read(request);
		const person = token === undefined ? null : await findPerson(token, request, parts);
		if (person) return person;
		throw new Problem(
			"unauthorized",
			token === undefined
				? "Send an API key in the header Authorization: Bearer KEY, or sign in."
				: "Your session has ended. Sign in again.",
			{ headers: { "WWW-Authenticate": 'Bearer realm="posthorn"' } },
		);
	}
	const token = BEARER.exec(authorization)?.[1]?.trimEnd();
	if (token === undefined)
		throw new Problem("unauthorized", "Send an API key in the header Authorization: Bearer KEY.", {
			headers: { "WWW-Authenticate": 'Bearer realm="posthorn"' },
		});
	// Headers come as Latin-1: this gives the bytes that were sent.
	const key = Buffer.from(token, "latin1");
	const principal = await counted(request, parts, (ask) => parts.apiKeys.authenticate(key, ask));
	if (principal) return principal;
	throw new Problem(
		"unauthorized",
		"This API key is not known. It may have been deleted, or belong to another instance.",
		{ headers: { "WWW-Authenticate": 'Bearer realm="posthorn", error="invalid_token"' } },
	);
}

/** Whoever is signed in and means this request; null where nobody is. For open routes that do more for those who are. */
export async function authenticateCookie(
	request: FastifyRequest,
	parts: Pick<AuthParts, "cookie" | "sessions" | "guesses" | "publicUrl">,
): Promise<Person | null> {
	const token = parts.cookie.read(request);
	const person = token === undefined ? null : await findPerson(token, request, parts);
	if (person) checkIntent(request, person, parts);
	return person;
}

function findPerson(
	token: string,
	request: FastifyRequest,
	parts: Pick<AuthParts, "sessions" | "guesses">,
): Promise<Person | null> {
	return counted(request, parts, (ask) => parts.sessions.find(token, ask));
}

/** Finds whose token it is. Where it is no one's, that counts for the network that it came from. */
async function counted<T>(
	request: FastifyRequest,
	{ guesses }: Pick<AuthParts, "guesses">,
	find: (ask: ReturnType<Guesses["from"]>) => Promise<T | null>,
): Promise<T | null> {
	const network = networkOf(request.ip);
	try {
		const found = await find(guesses.from(network));
		if (found === null) guesses.wrong(network);
		return found;
	} catch (error) {
		if (!(error instanceof TooManyGuesses)) throw error;
		throw comeAgain("own", "Too many API keys or sessions that are no one's came from this address.", error.wait);
	}
}

/** A cookie goes along with whatever request a browser is made to send: this one must be meant. */
function checkIntent(request: FastifyRequest, { csrfToken }: Person, parts: OriginCheck): void {
	checkOrigin(request, parts, true);
	const given = Buffer.from(String(request.headers[CSRF_HEADER] ?? ""));
	const expected = Buffer.from(csrfToken);
	if (given.length === expected.length && timingSafeEqual(given, expected)) return;
	throw new Problem("forbidden", "The header X-CSRF-Token is missing or wrong: GET /v1/session tells the right one.");
}

function isUnsafe({ method }: FastifyRequest): boolean {
	return method !== "GET" && method !== "HEAD";
}

/** What a browser sends along with requests that a page of another site makes it send gives those away. */
export interface OriginCheck {
	/** Where people reach the dashboard, such as `https://hooks.example.com`: an origin, as their browsers know it. */
	readonly publicUrl: () => string;
}

/**
 * Throws 403 for a request that a page of another site has made a browser send. `Origin` comes with every such request
 * that could change something; a browser without it says `Sec-Fetch-Site`; and what says neither is no browser.
 *
 * @param required whether one of the two headers must be there
 */
export function checkOrigin(request: FastifyRequest, { publicUrl }: OriginCheck, required: boolean): void {
	const { origin, host, "sec-fetch-site": site } = request.headers;
	if (origin !== undefined) {
		if (origin === publicUrl() || (host !== undefined && hostOf(origin) === host)) return;
	} else if (site === "same-origin" || (site === undefined && !required)) return;
	throw new Problem(
		"forbidden",
		"This request comes from another site's page. If the dashboard itself is refused, POSTHORN_PUBLIC_URL is not the address that it is opened at.",
	);
}

function hostOf(origin: string): string | null {
	return URL.canParse(origin) ? new URL(origin).host : null;
}

/** The cookie that a session is known by. Over TLS its name has a prefix that keeps other hosts from setting it (RFC 6265bis). */
export class SessionCookie {
	readonly #secure: () => boolean;

	/** @param secure whether people reach the dashboard by https */
	constructor(secure: () => boolean) {
		this.#secure = secure;
	}

	read(request: FastifyRequest): string | undefined {
		return request.cookies[this.#name];
	}

	set(reply: FastifyReply, token: string): void {
		reply.setCookie(this.#name, token, { ...this.#options, maxAge: SESSION_MS / 1_000 });
	}

	/** Has the browser keep the cookie for as long from now on as the service keeps the session, which was used just now. */
	renew(request: FastifyRequest, reply: FastifyReply): void {
		const token = this.read(request);
		if (token !== undefined) this.set(reply, token);
	}

	clear(reply: FastifyReply): void {
		reply.clearCookie(this.#name, this.#options);
	}

	get #name(): string {
		return this.#secure() ? "__Host-posthorn_session" : "posthorn_session";
	}

	get #options(): { path: string; httpOnly: true; sameSite: "lax"; secure: boolean } {
		return { path: "/", httpOnly: true, sameSite: "lax", secure: this.#secure() };
	}
}
