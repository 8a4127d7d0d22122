import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { type Client, PasswordsBusy, type Person, type Sessions } from "../../accounts/index.ts";
import type { Account, Storage } from "../../storage/port.ts";
import { comeAgain, RETRY_S } from "../http/problem.ts";
import { PAGE_LIMIT } from "../http/query.ts";
import type { ApiParts } from "../parts.ts";
import { presentAccount } from "../schemas/accounts.ts";
import type * as schemas from "../schemas/index.ts";
import type { SessionCookie } from "./authorize.ts";

export interface SignInParts {
	readonly sessions: Sessions;
	readonly storage: Pick<Storage, "listProjects" | "listMemberships">;
	readonly cookie: SessionCookie;
	readonly config: Pick<ApiParts["config"], "retryDelaysMs">;
}

export function clientOf(request: FastifyRequest): Client {
	return { userAgent: request.headers["user-agent"] ?? "", address: request.ip };
}

/** Starts a session and sets the browser's cookie. */
export async function beginSession(
	account: Account,
	byLink: boolean,
	request: FastifyRequest,
	reply: FastifyReply,
	parts: SignInParts,
): Promise<Static<typeof schemas.Session>> {
	const token = await parts.sessions.begin(account.id, clientOf(request), byLink);
	parts.cookie.set(reply, token);
	const person = await parts.sessions.find(token);
	if (!person) throw new Error("A session that was just started doesn't exist.");
	return presentSession(person, parts);
}

/** What the dashboard needs to know about the signed-in account. */
export async function presentSession(
	{ account, session, csrfToken }: Person,
	{ storage, config }: Pick<SignInParts, "storage" | "config">,
): Promise<Static<typeof schemas.Session>> {
	const own = account.operator
		? (await storage.listProjects({ limit: PAGE_LIMIT.max })).map(({ id, name, apps }) => ({
				id,
				name,
				apps,
				role: "owner" as const,
			}))
		: (await storage.listMemberships({ accountId: account.id })).map(({ projectId, projectName, apps, role }) => ({
				id: projectId,
				name: projectName,
				apps,
				role,
			}));
	return {
		account: presentAccount(account),
		csrf_token: csrfToken,
		by_link: session.byLink,
		projects: own.map((project) => ({ ...project, apps: project.apps as "developer"[] })),
		retry_delays: config.retryDelaysMs.map((ms) => ms / 1_000),
	};
}

/** Runs work that checks a password; responds that the caller should retry if too much of it is in progress. */
export async function withPassword<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (!(error instanceof PasswordsBusy)) throw error;
		throw comeAgain("node", "Too many sign-ins are in progress.", RETRY_S.passwords);
	}
}
