import { createHash } from "node:crypto";
import { START, type World } from "../conformance/world.ts";

const LATER = START + 3_600_000;
const NEVER = "nobody";

/** Runs every account verb; the project keeps a member, an invitation and an audit entry. */
export async function runAccountVerbs(world: World, project: string): Promise<void> {
	const { storage } = world;
	const account = (operator: boolean) => {
		const id = world.id("account");
		return { id, email: `${id}@Example.com`, name: "", operator, createdAt: START };
	};
	const newAccount = (of: ReturnType<typeof account>) => {
		return { account: of, normalEmail: of.email.toLowerCase(), passwordHash: "" };
	};
	const token = () => createHash("sha256").update(world.id("session")).digest();
	const [operator, member, other] = [account(true), account(false), account(false)];
	const setup = token();
	await storage.hasOperator();
	await storage.createLink({ kind: "setup", supersedes: START, tokenHash: setup, expiresAt: LATER });
	await storage.holdsSetupLink({ tokenHash: setup, at: START });
	await storage.createOperator({ ...newAccount(operator), tokenHash: setup, at: START });
	for (const one of [member, other]) await storage.createAccount(newAccount(one));
	await storage.getAccount({ accountId: member.id });
	await storage.findCredentials({ normalEmail: member.email.toLowerCase() });
	await storage.getCredentials({ accountId: member.id });
	await storage.renameAccount({ accountId: member.id, name: "B" });

	const session = { id: world.id("session"), accountId: member.id, createdAt: START, lastSeenAt: START };
	const about = { expiresAt: LATER, byLink: false, userAgent: "", address: "" };
	const cookie = token();
	await storage.createSession({ ...session, ...about, tokenHash: cookie, maxPerAccount: 100 });
	await storage.findSession({ tokenHash: cookie, at: START });
	await storage.touchSession({ sessionId: session.id, lastSeenAt: START, expiresAt: LATER });
	await storage.listSessions({ accountId: member.id, at: START });
	const link = token();
	await storage.createLink({ kind: "sign_in", accountId: member.id, tokenHash: link, expiresAt: LATER });
	await storage.useSignInLink({ tokenHash: link, at: START });

	const actor = { kind: "operator_key" as const, id: null, name: "" };
	const invite = async () => {
		const [id, hash] = [world.id("invitation"), token()];
		const invitation = { id, projectId: project, role: "owner" as const, email: null, invitedBy: actor };
		await storage.createInvitation({ ...invitation, createdAt: START, expiresAt: LATER, tokenHash: hash });
		return { id, hash };
	};
	const first = await invite();
	await storage.findInvitation({ tokenHash: first.hash, at: START });
	await storage.listInvitations({ projectId: project, at: START });
	await storage.acceptInvitation({
		projectId: project,
		tokenHash: first.hash,
		by: { accountId: member.id },
		at: START,
	});
	await storage.listMemberships({ accountId: member.id });
	await storage.getRole({ projectId: project, accountId: member.id });
	await storage.listMembers({ projectId: project, limit: 10 });
	await storage.getMember({ projectId: project, accountId: member.id });
	await storage.setRole({ projectId: project, accountId: member.id, role: "viewer" });
	await storage.acceptInvitation({
		projectId: project,
		tokenHash: (await invite()).hash,
		by: { accountId: other.id },
		at: START,
	});
	await storage.setRole({ projectId: project, accountId: member.id, role: "viewer" });
	await storage.removeMember({ projectId: project, accountId: member.id });
	await storage.removeMember({ projectId: project, accountId: NEVER });
	await storage.deleteInvitation({ projectId: project, invitationId: (await invite()).id });
	await invite();
	const entry = { id: world.id("audit"), projectId: project, at: START, actor, action: "a", detail: {} };
	await storage.appendAudit({ ...entry, id: world.id("audit"), at: START - 1, target: null });
	await storage.sweepAudit({ cutoff: START, limit: 10 });
	await storage.appendAudit({ ...entry, target: null });
	await storage.setPassword({ accountId: member.id, passwordHash: "", keepSessionId: session.id });
	await storage.deleteSession({ accountId: member.id, sessionId: session.id });
	await storage.deleteSessions({ accountId: member.id });
	await storage.sweepExpired({ at: START });
}
