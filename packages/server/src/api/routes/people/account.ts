import { isoTime } from "@posthorn/protocol";
import type { Static } from "typebox";
import { accountFaults, EMAIL_PATTERN, MAX_EMAIL, PASSWORD_LENGTH } from "../../../accounts/index.ts";
import type * as port from "../../../storage/port.ts";
import { found, invalid, Problem, retryLater } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, id, list, Name, NewName, request, Time, Type } from "../../schema.ts";

const route = routeIn("Account", "signed_in");

/** To look an account up: any text, since an unknown address and a malformed one get the same response. */
export const Email = Type.String({ maxLength: 400, examples: ["owner@example.com"] });

export const NewEmail = Type.String({
	maxLength: MAX_EMAIL,
	pattern: EMAIL_PATTERN,
	description: "An e-mail address. Spaces around it are dropped.",
	errorMessage: "must be an e-mail address, such as owner@example.com",
	examples: ["owner@example.com"],
});

export const NewPassword = Type.String({
	minLength: PASSWORD_LENGTH.min,
	maxLength: PASSWORD_LENGTH.max,
	description:
		"Passwords that are easy to guess are refused: common words, keyboard runs, or your own name or address.",
	examples: ["correct horse battery staple"],
});

export const Token = Type.String({
	minLength: 1,
	maxLength: 200,
	description: "The part of a one-time link after the #.",
	examples: ["Wx_HP7TsO7IqaRWtNMGpnvTG-UQtFWw1wgi-2EiDW_I"],
});

export const Account = component("Account")({
	id: id("account"),
	email: Email,
	name: Name,
	operator: Type.Boolean({ description: "Whether this is the operator, who has the owner role in every project." }),
	created_at: Time,
});

const PasswordChange = request("PasswordChange")({
	current: Type.Optional(
		Type.String({
			maxLength: 1_000,
			description: "The current password. Optional once, within 15 minutes of signing in by a one-time link.",
		}),
	),
	password: NewPassword,
});

const SessionInfo = component("SessionInfo")({
	id: id("session"),
	created_at: Time,
	last_seen_at: Time,
	user_agent: Type.String(),
	address: Type.String(),
	current: Type.Boolean({ description: "Whether this is the calling session." }),
});

export function presentAccount({ id, email, name, operator, createdAt }: port.Account): Static<typeof Account> {
	return { id, email, name, operator, created_at: isoTime(createdAt) };
}

function presentSessionInfo(session: port.Session, currentId: string): Static<typeof SessionInfo> {
	const { id, createdAt, lastSeenAt, userAgent, address } = session;
	const times = { created_at: isoTime(createdAt), last_seen_at: isoTime(lastSeenAt) };
	return { id, ...times, user_agent: userAgent, address, current: id === currentId };
}

export function accountRoutes({ people, storage, cookie, clock }: ApiParts): Route[] {
	const path = "/v1/account";
	return [
		route("PATCH", path, "updateAccount", {
			summary: "Change your name",
			body: request("AccountPatch")({ name: NewName }),
			faults: accountFaults,
			success: { status: 200, description: "The account as changed.", schema: Account },
			async handler({ person, body }) {
				const renaming = storage.renameAccount({ accountId: person.account.id, name: body.name.trim() });
				return presentAccount(found("account", await renaming));
			},
		}),
		route("POST", `${path}/password`, "changePassword", {
			summary: "Change your password",
			description: "Signs out everywhere else.",
			body: PasswordChange,
			faults: accountFaults,
			success: { status: 204, description: "The password was changed." },
			async handler({ person, body }) {
				const result = await people.changePassword(person, body.current, body.password);
				switch (result.kind) {
					case "changed":
						return undefined;
					case "invalid":
						throw invalid(result.faults);
					case "throttled":
						throw retryLater("own", "There were too many wrong passwords.", result.wait);
					case "wrong":
						throw invalid([{ pointer: "/current", detail: "is not your current password" }]);
					case "current_needed":
						throw invalid([{ pointer: "/current", detail: "must be your current password" }]);
					case "ended":
						throw new Problem("unauthorized", "Your session has ended. Sign in again.");
				}
			},
		}),
		route("GET", `${path}/sessions`, "listSessions", {
			summary: "List your sessions",
			description: "Newest first.",
			success: { status: 200, description: "All of them.", schema: list(SessionInfo) },
			async handler({ person: { account, session } }) {
				const all = await storage.listSessions({ accountId: account.id, at: clock.now() });
				return { data: all.map((each) => presentSessionInfo(each, session.id)), next_cursor: null };
			},
		}),
		route("DELETE", `${path}/sessions/{session_id}`, "endSession", {
			summary: "End one of your sessions",
			success: { status: 204, description: "The session has ended." },
			async handler({ person, params: { sessionId } }) {
				found("session", await storage.deleteSession({ accountId: person.account.id, sessionId }));
			},
		}),
		route("DELETE", `${path}/sessions`, "signOutEverywhere", {
			summary: "Sign out everywhere",
			description: "Ends every session, including this one.",
			success: { status: 204, description: "All sessions have ended." },
			async handler({ person, reply }) {
				await storage.deleteSessions({ accountId: person.account.id });
				cookie.clear(reply);
			},
		}),
	];
}
