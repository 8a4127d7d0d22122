import type * as port from "../port.ts";
import {
	createAccount,
	createOperator,
	findCredentials,
	getAccount,
	getCredentials,
	hasOperator,
	renameAccount,
	setPassword,
} from "./accounts.ts";
import { appendAudit, listAudit, sweepAudit } from "./audit.ts";
import { DatabaseCalls } from "./calls.ts";
import {
	acceptInvitation,
	createInvitation,
	deleteInvitation,
	findInvitation,
	listInvitations,
} from "./invitations.ts";
import { createLink, holdsSetupLink, sweepExpired, useSignInLink } from "./links.ts";
import { getMember, getRole, listMembers, listMemberships, removeMember, setRole } from "./members.ts";
import { createSession, deleteSession, deleteSessions, findSession, listSessions, touchSession } from "./sessions.ts";

/** The port's part for people. */
export abstract class AccountCalls extends DatabaseCalls implements port.AccountStorage {
	hasOperator(): Promise<boolean> {
		return this.read(hasOperator);
	}

	createAccount(account: port.Account, normalEmail: string, passwordHash: string): Promise<"created" | "taken"> {
		return this.write((c) => createAccount(c, account, normalEmail, passwordHash));
	}

	createOperator(
		account: port.Account,
		normalEmail: string,
		passwordHash: string,
		tokenHash: Uint8Array,
		at: number,
	): Promise<"created" | "wrong_token" | "over" | "taken"> {
		return this.write((c) => createOperator(c, account, normalEmail, passwordHash, tokenHash, at));
	}

	getAccount(accountId: string): Promise<port.Account | null> {
		return this.read((c) => getAccount(c, accountId));
	}

	findCredentials(normalEmail: string): Promise<port.Credentials | null> {
		return this.read((c) => findCredentials(c, normalEmail));
	}

	getCredentials(accountId: string): Promise<port.Credentials | null> {
		return this.read((c) => getCredentials(c, accountId));
	}

	renameAccount(accountId: string, name: string): Promise<port.Account | null> {
		return this.write((c) => renameAccount(c, accountId, name));
	}

	setPassword(accountId: string, passwordHash: string, keepSessionId: string | null): Promise<void> {
		return this.write((c) => setPassword(c, accountId, passwordHash, keepSessionId));
	}

	createSession(session: port.Session, tokenHash: Uint8Array): Promise<void> {
		return this.write((c) => createSession(c, session, tokenHash));
	}

	findSession(tokenHash: Uint8Array, at: number): Promise<{ session: port.Session; account: port.Account } | null> {
		return this.read((c) => findSession(c, tokenHash, at));
	}

	touchSession(sessionId: string, lastSeenAt: number, expiresAt: number): Promise<void> {
		return this.write((c) => touchSession(c, sessionId, lastSeenAt, expiresAt));
	}

	listSessions(accountId: string, at: number): Promise<port.Session[]> {
		return this.read((c) => listSessions(c, accountId, at));
	}

	deleteSession(accountId: string, sessionId: string): Promise<boolean> {
		return this.write((c) => deleteSession(c, accountId, sessionId));
	}

	deleteSessions(accountId: string): Promise<void> {
		return this.write((c) => deleteSessions(c, accountId));
	}

	sweepExpired(at: number): Promise<void> {
		return this.write((c) => sweepExpired(c, at));
	}

	createLink(link: port.OneTimeLink, tokenHash: Uint8Array, expiresAt: number): Promise<void> {
		return this.write((c) => createLink(c, link, tokenHash, expiresAt));
	}

	holdsSetupLink(tokenHash: Uint8Array, at: number): Promise<boolean> {
		return this.read((c) => holdsSetupLink(c, tokenHash, at));
	}

	useSignInLink(tokenHash: Uint8Array, at: number): Promise<string | null> {
		return this.write((c) => useSignInLink(c, tokenHash, at));
	}

	listMemberships(accountId: string): ReturnType<port.AccountStorage["listMemberships"]> {
		return this.read((c) => listMemberships(c, accountId));
	}

	getRole(projectId: string, accountId: string): Promise<port.Role | null> {
		return this.read((c) => getRole(c, projectId, accountId));
	}

	listMembers(projectId: string, page: port.Page): Promise<port.Member[]> {
		return this.read((c) => listMembers(c, projectId, page));
	}

	getMember(projectId: string, accountId: string): Promise<port.Member | null> {
		return this.read((c) => getMember(c, projectId, accountId));
	}

	setRole(projectId: string, accountId: string, role: port.Role): Promise<"changed" | "no_member" | "last_owner"> {
		return this.writeTo(projectId, (c) => setRole(c, projectId, accountId, role));
	}

	removeMember(projectId: string, accountId: string): Promise<"removed" | "no_member" | "last_owner"> {
		return this.writeTo(projectId, (c) => removeMember(c, projectId, accountId));
	}

	createInvitation(invitation: port.Invitation, tokenHash: Uint8Array): Promise<void> {
		return this.writeTo(invitation.projectId, (c) => createInvitation(c, invitation, tokenHash));
	}

	findInvitation(tokenHash: Uint8Array, at: number): Promise<port.Invitation | null> {
		return this.read((c) => findInvitation(c, tokenHash, at));
	}

	listInvitations(projectId: string, at: number): Promise<port.Invitation[]> {
		return this.read((c) => listInvitations(c, projectId, at));
	}

	deleteInvitation(projectId: string, invitationId: string): Promise<boolean> {
		return this.writeTo(projectId, (c) => deleteInvitation(c, projectId, invitationId));
	}

	async acceptInvitation(tokenHash: Uint8Array, accountId: string, at: number): Promise<port.Membership | null> {
		const invitation = await this.findInvitation(tokenHash, at);
		if (invitation === null) return null;
		return this.writeTo(invitation.projectId, (c) => acceptInvitation(c, tokenHash, accountId, at));
	}

	appendAudit(entry: port.AuditEntry): Promise<void> {
		return this.writeTo(entry.projectId, (c) => appendAudit(c, entry));
	}

	listAudit(projectId: string, page: port.Page): Promise<port.AuditEntry[]> {
		return this.read((c) => listAudit(c, projectId, page));
	}

	sweepAudit(cutoff: number, limit: number): Promise<number> {
		return this.write((c) => sweepAudit(c, cutoff, limit));
	}
}
