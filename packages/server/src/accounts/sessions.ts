import { createHmac } from "node:crypto";
import { NAMES, SIGN_IN } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import { BoundedMap } from "../base/collections.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type {
	Account,
	AccountStorage,
	Actor,
	KeyScope,
	Role,
	Session,
	StillAllowed,
	StillMember,
} from "../storage/port.ts";
import { askImmediately, createKey, isKey, keyHash } from "./tokens.ts";

/** A session ends this long after its last use. */
export const SESSION_MS = 30 * 86_400_000;
/** Its last use is written, or tried to be, at most this often. */
const TOUCH_EVERY_MS = 60_000;
const MAX_USER_AGENT = 300;

type Client = Pick<Session, "userAgent" | "address">;

interface SessionsOptions {
	readonly storage: Pick<AccountStorage, "createSession" | "findSession" | "touchSession">;
	readonly clock: Pick<Clock, "now" | "elapsed">;
	readonly ids: IdSource;
	readonly logger: Logger;
}

/** Sessions of signed-in users. Only their cookie has the token; storage has its hash. */
export class Sessions {
	readonly #options: SessionsOptions;
	/** By session, when this node last began to write its last use, by the monotonic clock. */
	readonly #touchedAt = new BoundedMap<string, number>(NAMES);
	readonly #touches = new Set<Promise<void>>();

	constructor(options: SessionsOptions) {
		this.#options = options;
	}

	/**
	 * @param passwordHash the hash that the password was checked with
	 * @returns the token, for the browser to keep; null if the account has another password by now
	 */
	async begin(accountId: string, client: Client, byLink: boolean, passwordHash?: string): Promise<string | null> {
		const { storage, clock, ids } = this.#options;
		const token = createKey("");
		const now = clock.now();
		const isCreated = await storage.createSession({
			id: ids.next("session"),
			accountId,
			createdAt: now,
			lastSeenAt: now,
			expiresAt: now + SESSION_MS,
			byLink,
			userAgent: client.userAgent.slice(0, MAX_USER_AGENT).toWellFormed(),
			address: client.address,
			tokenHash: keyHash(token),
			maxPerAccount: SIGN_IN.sessions,
			passwordHash,
		});
		return isCreated ? token : null;
	}

	/**
	 * Whose token this is; null if it is no one's or its session has ended.
	 *
	 * @param ask queries storage; its errors are passed on
	 */
	async find(token: string, ask = askImmediately): Promise<Person | null> {
		if (!isKey("", token)) return null;
		const { storage, clock } = this.#options;
		const now = clock.now();
		const hash = keyHash(token);
		const found = await ask(hash.toString("base64"), () => storage.findSession({ tokenHash: hash, at: now }));
		if (!found) return null;
		const { session, account } = found;
		if (now - session.lastSeenAt >= TOUCH_EVERY_MS) this.#touch(session.id, now);
		return { kind: "person", account, session, csrfToken: csrfTokenOf(token) };
	}

	async close(): Promise<void> {
		await Promise.all(this.#touches);
	}

	/** Records a use in the background: a request must neither wait for that nor fail because of it. */
	#touch(sessionId: string, now: number): void {
		const { storage, clock, logger } = this.#options;
		const at = clock.elapsed();
		if (at - (this.#touchedAt.get(sessionId) ?? Number.NEGATIVE_INFINITY) < TOUCH_EVERY_MS) return;
		this.#touchedAt.set(sessionId, at);
		const touch = storage
			.touchSession({ sessionId, lastSeenAt: now, expiresAt: now + SESSION_MS })
			.catch((error: unknown) => logger.warn({ err: error }, "failed to store when a session was last used"))
			.finally(() => this.#touches.delete(touch));
		this.#touches.add(touch);
	}
}

/** Derived from the session's token without revealing it, so nothing more has to be stored. */
function csrfTokenOf(token: string): string {
	return createHmac("sha256", token).update("csrf").digest("base64url");
}

/** The author of a request. */
export type Principal =
	| { readonly kind: "operator" }
	| {
			readonly kind: "project";
			readonly projectId: string;
			readonly keyId: string;
			readonly keyName: string;
			readonly scopes: readonly KeyScope[];
			/** When the key expires; null if it doesn't. */
			readonly expiresAt: number | null;
	  }
	| Person;

export interface Person {
	readonly kind: "person";
	readonly account: Account;
	readonly session: Session;
	/** What unsafe requests must carry in addition to the cookie. */
	readonly csrfToken: string;
}

/** When the principal's rights expire: infinity, unless it is a key with an expiry. */
export const endOfRights = (principal: Principal): number =>
	(principal.kind === "project" ? principal.expiresAt : null) ?? Number.POSITIVE_INFINITY;

/** The member on whose behalf a request with this right acts; null for the operator. */
export function stillMember(principal: Principal, role: Role): StillMember | null {
	return principal.kind === "person" && !principal.account.operator ? { accountId: principal.account.id, role } : null;
}

/** The same, or the key of a project. */
export function stillAllowed(principal: Principal, role: Role): StillAllowed | null {
	return principal.kind === "project" ? { keyId: principal.keyId } : stillMember(principal, role);
}

/** How the audit log identifies the author. */
export function actorOf(principal: Principal): Actor {
	switch (principal.kind) {
		case "operator":
			return { kind: "operator_key", id: null, name: "The operator's key" };
		case "project":
			return { kind: "api_key", id: principal.keyId, name: principal.keyName };
		case "person":
			return { kind: "account", id: principal.account.id, name: principal.account.name };
	}
}
