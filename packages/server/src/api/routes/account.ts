import { accountFaults, type Person } from "../../accounts/index.ts";
import { isId } from "../../base/ids.ts";
import { withPassword } from "../auth/sign-in.ts";
import { comeAgain, invalid, notFound } from "../http/problem.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import { presentAccount, presentSessionInfo } from "../schemas/accounts.ts";
import { Account, AccountPatch, PasswordChange, SessionList } from "../schemas/index.ts";

type AccountParts = Pick<ApiParts, "people" | "storage" | "cookie" | "clock">;

export function accountRoutes({ people, storage, cookie, clock }: AccountParts): Route[] {
	const tag = "Account";
	const path = "/v1/account";
	return [
		defineRoute({
			method: "PATCH",
			path,
			operationId: "updateAccount",
			tag,
			summary: "Change your name",
			access: "signed_in",
			body: AccountPatch,
			faults: accountFaults,
			success: { status: 200, description: "The account as changed.", schema: Account },
			async handler({ principal, body }) {
				const account = await storage.renameAccount({ accountId: (principal as Person).account.id, name: body.name });
				if (!account) throw notFound("account");
				return presentAccount(account);
			},
		}),
		defineRoute({
			method: "POST",
			path: `${path}/password`,
			operationId: "changePassword",
			tag,
			summary: "Change your password",
			description: "Signs out everywhere else.",
			access: "signed_in",
			body: PasswordChange,
			faults: ({ password }) => accountFaults({ ...(password !== undefined && { password }) }),
			success: { status: 204, description: "The password was changed." },
			async handler({ principal, body }) {
				const result = await withPassword(() =>
					people.changePassword(principal as Person, body.current, body.password),
				);
				switch (result.kind) {
					case "changed":
						return undefined;
					case "invalid":
						throw invalid(result.faults);
					case "throttled":
						throw comeAgain("own", "There were too many wrong passwords.", result.wait);
					case "wrong":
						throw invalid([{ pointer: "/current", detail: "is not your current password" }]);
					case "current_needed":
						throw invalid([{ pointer: "/current", detail: "must be your current password" }]);
				}
			},
		}),
		defineRoute({
			method: "GET",
			path: `${path}/sessions`,
			operationId: "listSessions",
			tag,
			summary: "List your sessions",
			description: "Newest first.",
			access: "signed_in",
			success: { status: 200, description: "All of them.", schema: SessionList },
			async handler({ principal }) {
				const { account, session } = principal as Person;
				const all = await storage.listSessions({ accountId: account.id, at: clock.now() });
				return { data: all.map((each) => presentSessionInfo(each, session.id)), next_cursor: null };
			},
		}),
		defineRoute({
			method: "DELETE",
			path: `${path}/sessions/{session_id}`,
			operationId: "endSession",
			tag,
			summary: "End one of your sessions",
			access: "signed_in",
			success: { status: 204, description: "The session has ended." },
			async handler({ principal, params: { session_id } }) {
				const { account } = principal as Person;
				const ended =
					isId("session", session_id) &&
					(await storage.deleteSession({ accountId: account.id, sessionId: session_id }));
				if (!ended) throw notFound("session");
			},
		}),
		defineRoute({
			method: "DELETE",
			path: `${path}/sessions`,
			operationId: "signOutEverywhere",
			tag,
			summary: "Sign out everywhere",
			description: "Ends every session, including this one.",
			access: "signed_in",
			success: { status: 204, description: "All sessions have ended." },
			async handler({ principal, reply }) {
				await storage.deleteSessions({ accountId: (principal as Person).account.id });
				cookie.clear(reply);
			},
		}),
	];
}
