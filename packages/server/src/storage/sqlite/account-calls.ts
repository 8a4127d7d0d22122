import type * as port from "../port.ts";
import { WorkerCalls } from "./calls.ts";

/** A copy without the pool that small buffers lie in: a message carries the whole memory behind a view. */
const own = (hash: Uint8Array): Uint8Array => Uint8Array.from(hash);

/** The port's part for people. */
export abstract class AccountCalls extends WorkerCalls implements port.AccountStorage {
	hasOperator(): Promise<boolean> {
		return this.read("hasOperator");
	}

	createAccount(account: port.Account, normalEmail: string, passwordHash: string): Promise<"created" | "taken"> {
		return this.write("createAccount", account, normalEmail, passwordHash);
	}

	createOperator(
		account: port.Account,
		normalEmail: string,
		passwordHash: string,
		tokenHash: Uint8Array,
		at: number,
	): Promise<"created" | "wrong_token" | "over" | "taken"> {
		return this.write("createOperator", account, normalEmail, passwordHash, own(tokenHash), at);
	}

	getAccount(accountId: string): Promise<port.Account | null> {
		return this.read("getAccount", accountId);
	}

	findCredentials(normalEmail: string): Promise<port.Credentials | null> {
		return this.read("findCredentials", normalEmail);
	}

	getCredentials(accountId: string): Promise<port.Credentials | null> {
		return this.read("getCredentials", accountId);
	}

	renameAccount(accountId: string, name: string): Promise<port.Account | null> {
		return this.write("renameAccount", accountId, name);
	}

	setPassword(accountId: string, passwordHash: string, keepSessionId: string | null): Promise<void> {
		return this.write("setPassword", accountId, passwordHash, keepSessionId);
	}

	createSession(session: port.Session, tokenHash: Uint8Array): Promise<void> {
		return this.write("createSession", session, own(tokenHash));
	}

	findSession(tokenHash: Uint8Array, at: number): Promise<{ session: port.Session; account: port.Account } | null> {
		return this.read("findSession", own(tokenHash), at);
	}

	touchSession(sessionId: string, lastSeenAt: number, expiresAt: number): Promise<void> {
		return this.write("touchSession", sessionId, lastSeenAt, expiresAt);
	}

	listSessions(accountId: string, at: number): Promise<port.Session[]> {
		return this.read("listSessions", accountId, at);
	}

	deleteSession(accountId: string, sessionId: string): Promise<boolean> {
		return this.write("deleteSession", accountId, sessionId);
	}

	deleteSessions(accountId: string): Promise<void> {
		return this.write("deleteSessions", accountId);
	}

	sweepExpired(at: number): Promise<void> {
		return this.write("sweepExpired", at);
	}

	createLink(link: port.OneTimeLink, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
		return this.write("createLink", link, own(tokenHash), expiresAt);
	}

	holdsSetupLink(tokenHash: Uint8Array, at: number): Promise<boolean> {
		return this.read("holdsSetupLink", own(tokenHash), at);
	}

	useSignInLink(tokenHash: Uint8Array, at: number): Promise<string | null> {
		return this.write("useSignInLink", own(tokenHash), at);
	}

	listMemberships(accountId: string): ReturnType<port.AccountStorage["listMemberships"]> {
		return this.read("listMemberships", accountId);
	}

	getRole(projectId: string, accountId: string): Promise<port.Role | null> {
		return this.read("getRole", projectId, accountId);
	}

	listMembers(projectId: string, page: port.Page): Promise<port.Member[]> {
		return this.read("listMembers", projectId, page);
	}

	getMember(projectId: string, accountId: string): Promise<port.Member | null> {
		return this.read("getMember", projectId, accountId);
	}

	setRole(projectId: string, accountId: string, role: port.Role): Promise<"changed" | "no_member" | "last_owner"> {
		return this.write("setRole", projectId, accountId, role);
	}

	removeMember(projectId: string, accountId: string): Promise<"removed" | "no_member" | "last_owner"> {
		return this.write("removeMember", projectId, accountId);
	}

	createInvitation(invitation: port.Invitation, tokenHash: Uint8Array): Promise<void> {
		return this.write("createInvitation", invitation, own(tokenHash));
	}

	findInvitation(tokenHash: Uint8Array, at: number): Promise<port.Invitation | null> {
		return this.read("findInvitation", own(tokenHash), at);
	}

	listInvitations(projectId: string, at: number): Promise<port.Invitation[]> {
		return this.read("listInvitations", projectId, at);
	}

	deleteInvitation(projectId: string, invitationId: string): Promise<boolean> {
		return this.write("deleteInvitation", projectId, invitationId);
	}

	acceptInvitation(tokenHash: Uint8Array, accountId: string, at: number): Promise<port.Membership | null> {
		return this.write("acceptInvitation", own(tokenHash), accountId, at);
	}

	appendAudit(entry: port.AuditEntry): Promise<void> {
		return this.write("appendAudit", entry);
	}

	listAudit(projectId: string, page: port.Page): Promise<port.AuditEntry[]> {
		return this.read("listAudit", projectId, page);
	}

	sweepAudit(cutoff: number, limit: number): Promise<number> {
		return this.write("sweepAudit", cutoff, limit);
	}
}
