import { accountFaults, type Person } from "../../accounts/index.ts";
import { unauthenticatedOwner } from "../auth/owner.ts";
import { beginSession, presentSession, withPassword } from "../auth/sign-in.ts";
import { comeAgain, invalid, notFound, Problem } from "../http/problem.ts";
import { formatTime } from "../http/time.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import { NewSignInLink, Session, Setup, SetupState, SignIn, SignInLink } from "../schemas/index.ts";

type SessionParts = Pick<ApiParts, "people" | "sessions" | "storage" | "cookie" | "publicUrl" | "config">;

export function sessionRoutes(parts: SessionParts): Route[] {
	const { people, storage, cookie, publicUrl } = parts;
	const tag = "Account";
	const path = "/v1/session";
	return [
		defineRoute({
			method: "POST",
			path,
			operationId: "signIn",
			tag,
			summary: "Sign in",
			description: "With e-mail and password, or with the token of a one-time link.",
			access: "open",
			body: SignIn,
			success: { status: 200, description: "The session; its cookie is set.", schema: Session },
			problems: {
				invalid: "Some fields are not acceptable.",
				unauthorized: "The e-mail address or the password is wrong, or the link has expired.",
				forbidden: "The request comes from another site's page.",
				"too-many-requests": "Too many wrong tries from this network, for this account or in all.",
			},
			async handler({ body, request, reply }) {
				const result = await withPassword(() =>
					"token" in body
						? people.signInByToken(body.token, unauthenticatedOwner(request))
						: people.signIn(body.email, body.password, unauthenticatedOwner(request)),
				);
				if (result.kind === "throttled") throw comeAgain("own", "There were too many wrong tries.", result.wait);
				if (result.kind === "signed_in") return beginSession(result.account, "token" in body, request, reply, parts);
				throw new Problem(
					"unauthorized",
					"token" in body
						? "This link is no longer valid: it was used or has expired. Ask for a new one."
						: "The e-mail address or the password is wrong.",
				);
			},
		}),
		defineRoute({
			method: "GET",
			path,
			operationId: "getSession",
			tag,
			summary: "Who is signed in?",
			access: "signed_in",
			success: { status: 200, description: "The account, its projects, and the CSRF token.", schema: Session },
			handler({ principal, request, reply }) {
				cookie.renew(request, reply);
				return presentSession(principal as Person, parts);
			},
		}),
		defineRoute({
			method: "DELETE",
			path,
			operationId: "signOut",
			tag,
			summary: "Sign out",
			access: "signed_in",
			success: { status: 204, description: "The session has ended." },
			async handler({ principal, reply }) {
				const { account, session } = principal as Person;
				await storage.deleteSession({ accountId: account.id, sessionId: session.id });
				cookie.clear(reply);
			},
		}),
		defineRoute({
			method: "POST",
			path: "/v1/sign-in-links",
			operationId: "createSignInLink",
			tag,
			summary: "Create a one-time sign-in link",
			description: "For someone who forgot their password. Send it yourself; it expires after 15 minutes.",
			access: "operator",
			body: NewSignInLink,
			success: { status: 201, description: "The link, shown this once.", schema: SignInLink },
			problems: { "not-found": "No account has this address." },
			async handler({ body }) {
				const made = await people.createSignInToken(body.email);
				if (!made) throw notFound("account");
				return { url: `${publicUrl()}/sign-in#${made.token}`, expires_at: formatTime(made.expiresAt) };
			},
		}),
	];
}

const WRONG_LINK =
	"This setup link is no longer valid. The service prints a new one at startup until an account exists.";

type SetupParts = Pick<ApiParts, "people" | "sessions" | "storage" | "cookie" | "config">;

export function setupRoutes(parts: SetupParts): Route[] {
	const { people } = parts;
	const tag = "Account";
	return [
		defineRoute({
			method: "GET",
			path: "/v1/setup",
			operationId: "getSetup",
			tag,
			summary: "Check whether setup is needed",
			access: "open",
			success: {
				status: 200,
				description: "Whether the operator's account has yet to be created.",
				schema: SetupState,
			},
			handler: async () => ({ needed: await people.needsSetup() }),
		}),
		defineRoute({
			method: "POST",
			path: "/v1/setup",
			operationId: "setUp",
			tag,
			summary: "Create the operator's account",
			description: "With the token of the one-time link that the service prints when it starts. Signs in.",
			access: "open",
			body: Setup,
			faults: accountFaults,
			success: { status: 201, description: "The session; its cookie is set.", schema: Session },
			problems: {
				invalid: "Some fields are not acceptable.",
				forbidden: WRONG_LINK,
				conflict: "The operator, or this e-mail, has an account already.",
				"too-many-requests": "Too many wrong tokens.",
			},
			async handler({ body, request, reply }) {
				const { token, ...person } = body;
				const result = await withPassword(() => people.setUp(token, person, unauthenticatedOwner(request)));
				switch (result.kind) {
					case "created":
						return beginSession(result.account, false, request, reply, parts);
					case "invalid":
						throw invalid(result.faults);
					case "throttled":
						throw comeAgain("own", "Too many wrong links came from this network.", result.wait);
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
