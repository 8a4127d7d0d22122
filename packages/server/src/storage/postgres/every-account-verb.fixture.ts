import { createHash } from "node:crypto";
import { START, type World } from "../conformance/world.ts";

const LATER = START + 3_600_000;
const NEVER = "nobody";

/** Runs every verb about people; the project keeps a member, an invitation and an entry of its audit. */
export async function runAccountVerbs(world: World, project: string): Promise<void> {
	const { storage } = world;
	const account = (operator: boolean) => {
		const id = world.id("account");
		return { id, email: `${id}@Example.com`, name: "", operator, createdAt: START };
	};
	const token = () => createHash("sha256").update(world.id("session")).digest();
	const [operator, member, other] = [account(true), account(false), account(false)];
	const setup = token();
	await storage.hasOperator();
	await storage.createLink({ kind: "setup", supersedes: START }, setup, LATER);
	await storage.holdsSetupLink(setup, START);
	await storage.createOperator(operator, operator.email.toLowerCase(), "", setup, START);
	for (const one of [member, other]) await storage.createAccount(one, one.email.toLowerCase(), "");
	await storage.getAccount(member.id);
	await storage.findCredentials(member.email.toLowerCase());
	await storage.getCredentials(member.id);
	await storage.renameAccount(member.id, "B");

	const session = { id: world.id("session"), accountId: member.id, createdAt: START, lastSeenAt: START };
	const about = { expiresAt: LATER, byLink: false, userAgent: "", address: "" };
	const cookie = token();
	await storage.createSession({ ...session, ...about }, cookie);
	await storage.findSession(cookie, START);
	await storage.touchSession(session.id, START, LATER);
	await storage.listSessions(member.id, START);
	const link = token();
	await storage.createLink({ kind: "sign_in", accountId: member.id }, link, LATER);
	await storage.useSignInLink(link, START);

	const actor = { kind: "operator_key" as const, id: null, name: "" };
	const invite = async () => {
		const [id, hash] = [world.id("invitation"), token()];
		const invitation = { id, projectId: project, role: "owner" as const, email: null, invitedBy: actor };
		await storage.createInvitation({ ...invitation, createdAt: START, expiresAt: LATER }, hash);
		return { id, hash };
	};
	const first = await invite();
	await storage.findInvitation(first.hash, START);
	await storage.listInvitations(project, START);
	await storage.acceptInvitation(first.hash, member.id, START);
	await storage.listMemberships(member.id);
	await storage.getRole(project, member.id);
	await storage.listMembers(project, { limit: 10 });
	await storage.getMember(project, member.id);
	await storage.setRole(project, member.id, "viewer");
	await storage.acceptInvitation((await invite()).hash, other.id, START);
	await storage.setRole(project, member.id, "viewer");
	await storage.removeMember(project, member.id);
	await storage.removeMember(project, NEVER);
	await storage.deleteInvitation(project, (await invite()).id);
	await invite();
	const entry = { id: world.id("audit"), projectId: project, at: START, actor, action: "a", detail: {} };
	await storage.appendAudit({ ...entry, id: world.id("audit"), at: START - 1, target: null });
	await storage.sweepAudit(START, 10);
	await storage.appendAudit({ ...entry, target: null });
	await storage.setPassword(member.id, "", session.id);
	await storage.deleteSession(member.id, session.id);
	await storage.deleteSessions(member.id);
	await storage.sweepExpired(START);
}
