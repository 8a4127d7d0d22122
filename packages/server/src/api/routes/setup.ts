import { accountFaults } from "../../accounts/index.ts";
import { comeAgain } from "../come-again.ts";
import { networkOf } from "../network.ts";
import type { ApiParts } from "../parts.ts";
import { invalid, Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { Session, Setup, SetupState } from "../schemas/index.ts";
import { beginSession, withPassword } from "../sign-in.ts";

const WRONG_LINK =
	"This set-up link is not valid any more. The service prints a new one when it starts, as long as nobody has an account.";

type SetupParts = Pick<ApiParts, "people" | "sessions" | "members" | "projects" | "cookie" | "config">;

export function setupRoutes(parts: SetupParts): Route[] {
	const { people } = parts;
	const tag = "Account";
	return [
		defineRoute({
			method: "GET",
			path: "/v1/setup",
			operationId: "getSetup",
			tag,
			summary: "Is nobody there yet?",
			access: "open",
			success: { status: 200, description: "Whether the operator's account is still to be made.", schema: SetupState },
			handler: async () => ({ needed: await people.needsSetup() }),
		}),
		defineRoute({
			method: "POST",
			path: "/v1/setup",
			operationId: "setUp",
			tag,
			summary: "Make the operator's account",
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
				const result = await withPassword(() => people.setUp(token, person, networkOf(request.ip)));
				switch (result.kind) {
					case "created":
						return beginSession(result.account, false, request, reply, parts);
					case "invalid":
						throw invalid(result.faults);
					case "throttled":
						throw comeAgain("own", "Too many wrong links came from this address.", result.wait);
					case "wrong_token":
						throw new Problem("forbidden", WRONG_LINK);
					case "taken":
						throw new Problem("conflict", "This e-mail has an account already, by an invitation. Take another one.");
					case "over":
						throw new Problem("conflict", "The operator has an account already. Sign in, or ask to be invited.");
				}
			},
		}),
	];
}
