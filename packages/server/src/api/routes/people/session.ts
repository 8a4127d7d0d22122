import { isoTime } from "@posthorn/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { accountFaults, type Person } from "../../../accounts/index.ts";
import type * as port from "../../../storage/port.ts";
import { unauthenticatedOwner } from "../../auth/callers.ts";
import { found, Problem, retryLater } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, id, MAX_ROWS, Name, NewName, request, strictObject, Time, Type } from "../../schema.ts";
import { Account, Email, NewEmail, NewPassword, presentAccount, Token } from "./account.ts";
import { RoleName } from "./members.ts";

const route = routeIn("Account", "signed_in");
const DAY_MS = 86_400_000;

const SetupState = component("SetupState")({
	needed: Type.Boolean({ description: "Whether the operator's account has yet to be created." }),
});

const Setup = request("Setup")({ token: Token, email: NewEmail, name: NewName, password: NewPassword });

const SignIn = Type.Union(
	[strictObject({ email: Email, password: Type.String({ maxLength: 1_000 }) }), strictObject({ token: Token })],
	{ title: "SignIn", examples: [{ email: "owner@example.com", password: "correct horse battery staple" }] },
);

export const Session = component("Session")({
	account: Account,
	csrf_token: Type.String({
		description: "Send it as `X-CSRF-Token` with every change that a cookie authorizes.",
	}),
	by_link: Type.Boolean({
		description: "Whether it was started by a one-time link, and no new password has been set since.",
	}),
	projects: Type.Array(
		Type.Object({
			id: id("project"),
			name: Name,
			apps: Type.Array(Type.Enum(["developer"])),
			role: RoleName,
		}),
		{ description: "The projects that the account is a member of. For the operator, the first 200 of all projects." },
	),
	retry_delays: Type.Array(Type.Number({ minimum: 0 }), {
		description:
			"The delays between the attempts of a series, in seconds. A series has at most one attempt more than there are delays.",
	}),
	log_retention_days: Type.Number({
		minimum: 0,
		description: "How long events and the delivery log are kept, in days (`POSTHORN_LOG_RETENTION_DAYS`).",
	}),
	max_description_length: Type.Integer({
		minimum: 0,
		description: "How many characters the description of a webhook may have (`POSTHORN_MAX_DESCRIPTION_LENGTH`).",
	}),
	quarantine: Type.Boolean({
		description: "Whether the service was restored from a backup, and sends nothing until its operator releases it.",
	}),
});

const SignInLink = component("SignInLink")({
	url: Type.String({ description: "The link. It works once." }),
	expires_at: Time,
});

export function sessionRoutes(parts: ApiParts): Route[] {
	const { people, storage, cookie, publicUrl } = parts;
	const path = "/v1/session";
	return [
		route("POST", path, "signIn", {
			summary: "Sign in",
			description: "With e-mail and password, or with the token of a one-time link.",
			access: "open",
			body: SignIn,
			success: { status: 200, description: "The session; its cookie is set.", schema: Session },
			problems: {
				unauthorized: "The e-mail address or the password is wrong, or the link has expired.",
				forbidden: "The request comes from another site's page.",
				"too-many-requests": "Too many wrong tries from this network, for this account or in all.",
			},
			async handler({ body, request, reply }) {
				const network = unauthenticatedOwner(request);
				const result =
					"token" in body
						? await people.signInByToken(body.token, network)
						: await people.signIn(body.email, body.password, network);
				if (result.kind === "throttled") throw retryLater("own", "There were too many wrong tries.", result.wait);
				if (result.kind === "signed_in")
					return beginSession(result.account, "token" in body, request, reply, parts, result.passwordHash);
				throw new Problem("unauthorized", "token" in body ? LINK_OVER : WRONG_PASSWORD);
			},
		}),
		route("GET", path, "getSession", {
			summary: "Who is signed in?",
			success: { status: 200, description: "The account, its projects, and the CSRF token.", schema: Session },
			handler({ person, request, reply }) {
				cookie.renew(request, reply);
				return presentSession(person, parts);
			},
		}),
		route("DELETE", path, "signOut", {
			summary: "Sign out",
			success: { status: 204, description: "The session has ended." },
			async handler({ person: { account, session }, reply }) {
				await storage.deleteSession({ accountId: account.id, sessionId: session.id });
				cookie.clear(reply);
			},
		}),
		route("POST", "/v1/sign-in-links", "createSignInLink", {
			summary: "Create a one-time sign-in link",
			description: "For someone who forgot their password. Send it yourself; it expires after 15 minutes.",
			access: "operator",
			body: request("NewSignInLink")({ email: Email }),
			success: { status: 201, description: "The link, shown only in this response.", schema: SignInLink },
			problems: { "not-found": "No account has this address." },
			async handler({ body }) {
				const { token, expiresAt } = found("account", await people.createSignInToken(body.email));
				return { url: `${publicUrl()}/sign-in#${token}`, expires_at: isoTime(expiresAt) };
			},
		}),
	];
}

const LINK_OVER = "This link is no longer valid: it was used or has expired. Ask for a new one.";
const WRONG_PASSWORD = "The e-mail address or the password is wrong.";
const WRONG_LINK =
	"This setup link is no longer valid. The service prints a new one at startup until an account exists.";

export function setupRoutes(parts: ApiParts): Route[] {
	const { people } = parts;
	return [
		route("GET", "/v1/setup", "getSetup", {
			summary: "Check whether setup is needed",
			access: "open",
			success: {
				status: 200,
				description: "Whether the operator's account has yet to be created.",
				schema: SetupState,
			},
			handler: async () => ({ needed: await people.needsSetup() }),
		}),
		route("POST", "/v1/setup", "setUp", {
			summary: "Create the operator's account",
			description: "With the token of the one-time link that the service prints when it starts. Signs in.",
			access: "open",
			body: Setup,
			faults: accountFaults,
			success: { status: 201, description: "The session; its cookie is set.", schema: Session },
			problems: {
				forbidden: WRONG_LINK,
				conflict: "The operator, or this e-mail, has an account already.",
				"too-many-requests": "Too many wrong tokens.",
			},
			async handler({ body, request, reply }) {
				const { token, ...person } = body;
				const result = await people.setUp(token, person, unauthenticatedOwner(request));
				switch (result.kind) {
					case "created":
						return beginSession(result.account, false, request, reply, parts);
					case "throttled":
						throw retryLater("own", "Too many wrong links came from this network.", result.wait);
					case "wrong_token":
						throw new Problem("forbidden", WRONG_LINK);
					case "taken":
						throw new Problem("conflict", "This e-mail address already has an account. Use another one.");
					case "over":
						throw new Problem("conflict", "The operator already has an account. Sign in, or ask for an invitation.");
				}
			},
		}),
	];
}

/** Starts a session and sets the browser's cookie. */
export async function beginSession(
	account: port.Account,
	byLink: boolean,
	request: FastifyRequest,
	reply: FastifyReply,
	parts: ApiParts,
	passwordHash?: string,
): Promise<Static<typeof Session>> {
	const client = { userAgent: request.headers["user-agent"] ?? "", address: request.ip };
	const token = await parts.sessions.begin(account.id, client, byLink, passwordHash);
	if (token === null) throw new Problem("unauthorized", byLink ? LINK_OVER : WRONG_PASSWORD);
	parts.cookie.set(reply, token);
	const person = await parts.sessions.find(token);
	if (!person) throw new Error("A session that was just started doesn't exist.");
	return presentSession(person, parts);
}

/** What the dashboard needs to know about the signed-in account. */
export async function presentSession(
	{ account, session, csrfToken }: Person,
	{ storage, config, quarantine }: ApiParts,
): Promise<Static<typeof Session>> {
	return {
		account: presentAccount(account),
		csrf_token: csrfToken,
		by_link: session.byLink,
		projects: await projectsOf(account, storage),
		retry_delays: config.retryDelaysMs.map((ms) => ms / 1_000),
		log_retention_days: config.logRetentionMs / DAY_MS,
		max_description_length: config.maxDescriptionLength,
		quarantine: quarantine.mark !== null,
	};
}

async function projectsOf(
	account: port.Account,
	storage: ApiParts["storage"],
): Promise<Static<typeof Session>["projects"]> {
	if (account.operator) {
		const all = await storage.listProjects({ limit: MAX_ROWS });
		return all.map(({ id, name, apps }) => ({ id, name, apps: apps as "developer"[], role: "owner" }));
	}
	const own = await storage.listMemberships({ accountId: account.id });
	return own.map((member) => ({
		id: member.projectId,
		name: member.projectName,
		apps: member.apps as "developer"[],
		role: member.role,
	}));
}
