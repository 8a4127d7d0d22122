import { accountFaults, actorOf, emailFaults } from "../../accounts/index.ts";
import { isId } from "../../base/ids.ts";
import type { Account } from "../../storage/port.ts";
import { authenticateCookie } from "../auth/authorize.ts";
import { networkOf } from "../auth/owner.ts";
import { beginSession, presentSession, withPassword } from "../auth/sign-in.ts";
import { comeAgain, invalid, notFound, Problem } from "../http/problem.ts";
import { formatTime } from "../http/time.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import {
	CreatedInvitation,
	InvitationAcceptance,
	InvitationList,
	InvitationToken,
	NewInvitation,
	SeenInvitation,
	Session,
} from "../schemas/index.ts";
import { presentInvitation } from "../schemas/members.ts";

type InvitationParts = Pick<
	ApiParts,
	"people" | "sessions" | "guesses" | "members" | "projects" | "cookie" | "publicUrl" | "config"
>;

const OVER =
	"This invitation is no longer valid: it was accepted or revoked, or is older than a week. Ask for a new one.";

function checkWait(wait: number | null): void {
	if (wait !== null) throw comeAgain("own", "Too many wrong links came from this address.", wait);
}

export function invitationRoutes(parts: InvitationParts): Route[] {
	const { people, members, projects, publicUrl } = parts;
	const tag = "Members";
	const path = "/v1/projects/{project_id}/invitations";

	/** A valid invitation; wrong tokens count against the address. */
	async function holding(token: string, address: string) {
		checkWait(people.waitForToken(address));
		const invitation = await members.lookAt(token);
		const project = invitation && (await projects.get(invitation.projectId));
		if (invitation && project) return { invitation, project };
		checkWait(people.wrongToken(address));
		throw new Problem("not-found", OVER);
	}

	/** Creates the account of a user who has none yet. */
	async function newAccount(body: { email?: string; name?: string; password?: string }): Promise<Account> {
		const { email, name, password } = body;
		if (email === undefined || name === undefined || password === undefined)
			throw invalid(
				(["email", "name", "password"] as const)
					.filter((field) => body[field] === undefined)
					.map((field) => ({ pointer: `/${field}`, detail: "is needed for a new account; or sign in first" })),
			);
		const result = await withPassword(() => people.create({ email, name, password }));
		if (result.kind === "created") return result.account;
		if (result.kind === "invalid") throw invalid(result.faults);
		throw new Problem(
			"conflict",
			"There is already an account with this e-mail address. Sign in, then open the link again.",
		);
	}

	return [
		defineRoute({
			method: "POST",
			path,
			operationId: "createInvitation",
			tag,
			summary: "Invite a person",
			description: "Send the link yourself. It works once, for a week.",
			access: "project",
			role: "owner",
			peopleOnly: true,
			body: NewInvitation,
			faults: ({ email }) => (email === undefined ? [] : emailFaults(email)),
			success: { status: 201, description: "The invitation with its link.", schema: CreatedInvitation },
			async handler({ params, body, principal, audit }) {
				const { project_id: projectId } = params;
				if (!(await projects.get(projectId))) throw notFound("project");
				const { role } = body;
				const email = body.email?.trim() ?? null;
				const { invitation, token } = await members.invite(projectId, role, email, actorOf(principal));
				const target = { kind: "invitation", id: invitation.id, name: email ?? "a link" };
				audit({ projectId, action: "member.invited", target, detail: { role } });
				return { ...presentInvitation(invitation), url: `${publicUrl()}/invitation#${token}` };
			},
		}),
		defineRoute({
			method: "GET",
			path,
			operationId: "listInvitations",
			tag,
			summary: "List open invitations",
			access: "project",
			role: "owner",
			peopleOnly: true,
			success: { status: 200, description: "All open invitations.", schema: InvitationList },
			async handler({ params }) {
				return { data: (await members.invitations(params.project_id)).map(presentInvitation), next_cursor: null };
			},
		}),
		defineRoute({
			method: "DELETE",
			path: `${path}/{invitation_id}`,
			operationId: "revokeInvitation",
			tag,
			summary: "Revoke an invitation",
			access: "project",
			role: "owner",
			peopleOnly: true,
			success: { status: 204, description: "The link no longer works." },
			async handler({ params: { project_id, invitation_id }, audit }) {
				const open = isId("invitation", invitation_id) ? await members.invitations(project_id) : [];
				const invitation = open.find(({ id }) => id === invitation_id);
				if (!invitation || !(await members.revoke(project_id, invitation_id))) throw notFound("invitation");
				const target = { kind: "invitation", id: invitation_id, name: invitation.email ?? "a link" };
				audit({ projectId: project_id, action: "invitation.revoked", target });
			},
		}),
		defineRoute({
			method: "POST",
			path: "/v1/invitations/look",
			operationId: "lookAtInvitation",
			tag,
			summary: "Get an invitation",
			access: "open",
			body: InvitationToken,
			success: { status: 200, description: "Who invites the user to which project.", schema: SeenInvitation },
			problems: {
				invalid: "Some fields are not acceptable.",
				forbidden: "The request comes from another site's page.",
				"not-found": OVER,
				"too-many-requests": "Too many wrong tokens.",
			},
			async handler({ body, request }) {
				const { invitation, project } = await holding(body.token, networkOf(request.ip));
				const { role, email, expiresAt, invitedBy } = invitation;
				return {
					project: { id: project.id, name: project.name },
					role,
					email,
					expires_at: formatTime(expiresAt),
					invited_by_name: invitedBy.name,
				};
			},
		}),
		defineRoute({
			method: "POST",
			path: "/v1/invitations/accept",
			operationId: "acceptInvitation",
			tag,
			summary: "Accept an invitation",
			description: "With only the token if you are signed in, or with a new account, which is then signed in.",
			access: "open",
			body: InvitationAcceptance,
			faults: accountFaults,
			success: { status: 200, description: "The session; a new one's cookie is set.", schema: Session },
			problems: {
				invalid: "Some fields are not acceptable.",
				forbidden: "The request comes from another site's page.",
				"not-found": OVER,
				conflict: "There is already an account with this address.",
				"too-many-requests": "Too many wrong tokens, or too many sign-ins in progress.",
			},
			async handler({ body, request, reply, audit }) {
				const { invitation } = await holding(body.token, networkOf(request.ip));
				const person = await authenticateCookie(request, parts);
				const account = person?.account ?? (await newAccount(body));
				const membership = await members.accept(body.token, invitation.projectId, account.id);
				if (!membership) throw new Problem("not-found", OVER);
				audit(
					{ projectId: invitation.projectId, action: "member.joined", detail: { role: membership.role } },
					{ kind: "account", id: account.id, name: account.name },
				);
				return person ? presentSession(person, parts) : beginSession(account, false, request, reply, parts);
			},
		}),
	];
}
