import { isoTime } from "@posthorn/protocol";
import type { Static } from "typebox";
import { accountFaults, actorOf, normalEmail } from "../../../accounts/index.ts";
import { INVITATIONS } from "../../../base/budgets.ts";
import type * as port from "../../../storage/port.ts";
import { authenticateCookie } from "../../auth/authorize.ts";
import { unauthenticatedOwner } from "../../auth/callers.ts";
import { found, invalid, Problem, retryLater } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, id, list, Name, NewName, optional, orNull, request, Time, Type } from "../../schema.ts";
import { NewEmail, NewPassword, Token } from "./account.ts";
import { Actor } from "./audit.ts";
import { RoleName } from "./members.ts";
import { beginSession, presentSession, Session } from "./session.ts";

const route = routeIn("Members", "project");

const invitationFields = {
	id: id("invitation"),
	role: RoleName,
	email: orNull(Type.String(), "Who it is for; null if anyone with the link may use it."),
	invited_by: Actor,
	created_at: Time,
	expires_at: Time,
};

const Invitation = component("Invitation")(invitationFields);

const CreatedInvitation = component("CreatedInvitation")({
	...invitationFields,
	url: Type.String({ description: "The link for the invited person, shown only in this response." }),
});

const NewInvitation = request("NewInvitation", { examples: [{ role: "developer" }] })({
	role: RoleName,
	email: Type.Optional(NewEmail),
});

const SeenInvitation = component("SeenInvitation")({
	project: Type.Object({ id: id("project"), name: Name }),
	role: RoleName,
	email: orNull(Type.String()),
	expires_at: Time,
	invited_by_name: Type.String(),
});

const InvitationAcceptance = request("InvitationAcceptance", {
	description: "If you are signed in, the token is enough. A new account needs all four.",
})({
	token: Token,
	...optional({ email: NewEmail, name: NewName, password: NewPassword }),
});

function presentInvitation(invitation: port.Invitation): Static<typeof Invitation> {
	const { id, role, email, invitedBy, createdAt, expiresAt } = invitation;
	return {
		id,
		role,
		email,
		invited_by: { ...invitedBy },
		created_at: isoTime(createdAt),
		expires_at: isoTime(expiresAt),
	};
}

const OVER =
	"This invitation is no longer valid: it was accepted or revoked, or is older than a week. Ask for a new one.";

const TOO_MANY = `A project may have ${INVITATIONS.open} open invitations. Revoke some first.`;

/** Whether the account with this address may accept; any account may if the invitation names no address. */
const isFor = ({ email }: port.Invitation, address: string): boolean =>
	email === null || normalEmail(email) === normalEmail(address);

const forSomeoneElse = ({ email }: port.Invitation, account: port.Account): Problem =>
	new Problem(
		"forbidden",
		`This invitation is for ${email}, and you are signed in as ${account.email}. Sign in as ${email}, or ask for an invitation to your address.`,
	);

const targetOf = ({ id, email }: port.Invitation) => ({ kind: "invitation", id, name: email ?? "a link" });

function checkWait(wait: number | null): void {
	if (wait !== null)
		throw retryLater("own", "Too many wrong tries with this link, or wrong links from this network.", wait);
}

export function invitationRoutes(parts: ApiParts): Route[] {
	const { people, members, storage, publicUrl } = parts;
	const path = "/v1/projects/{project_id}/invitations";

	/** A valid invitation; wrong tokens count against the address. */
	async function holding(token: string, network: string) {
		checkWait(people.waitForToken(network));
		const invitation = await members.findInvitation(token);
		const project = invitation && (await storage.getProject({ projectId: invitation.projectId }));
		if (invitation && project) return { invitation, project };
		checkWait(people.wrongToken(network));
		throw new Problem("not-found", OVER);
	}

	interface Accepted {
		readonly account: port.Account;
		readonly membership: port.Membership;
	}

	/** Creates an account and makes its user a member. */
	async function acceptWithNewAccount(
		body: Static<typeof InvitationAcceptance>,
		invitation: port.Invitation,
		network: string,
	): Promise<Accepted> {
		const { token, email, name, password } = body;
		if (email === undefined || name === undefined || password === undefined)
			throw invalid(
				(["email", "name", "password"] as const)
					.filter((field) => body[field] === undefined)
					.map((field) => ({ pointer: `/${field}`, detail: "is needed for a new account; or sign in first" })),
			);
		if (!isFor(invitation, email))
			throw invalid([{ pointer: "/email", detail: `must be ${invitation.email}, whom this invitation is for` }]);
		// Holders of the link could otherwise try which addresses have accounts.
		const tried = await people.tryAddress(invitation.id, async () => {
			const newAccount = await people.prepare({ email, name, password }, network);
			const membership = await members.accept(token, invitation.projectId, { newAccount });
			if (membership === null) throw new Problem("not-found", OVER);
			return membership === "taken" ? null : { account: newAccount.account, membership };
		});
		if (tried.kind === "right") return tried.result;
		checkWait(tried.kind === "throttled" ? tried.wait : null);
		throw new Problem(
			"conflict",
			"There is already an account with this e-mail address. Sign in, then open the link again.",
		);
	}

	/** Makes a signed-in user a member. */
	async function accept(token: string, invitation: port.Invitation, account: port.Account): Promise<Accepted> {
		const membership = await members.accept(token, invitation.projectId, { accountId: account.id });
		if (membership === null) throw new Problem("not-found", OVER);
		if (membership === "taken") throw new Error("Only a new account's address can be taken.");
		return { account, membership };
	}

	return [
		route("POST", path, "createInvitation", {
			summary: "Invite a person",
			description:
				"Send the link yourself. It works once, for a week, and if it names an address, only for the account with that address.",
			role: "owner",
			body: NewInvitation,
			faults: accountFaults,
			success: { status: 201, description: "The invitation with its link.", schema: CreatedInvitation },
			problems: { conflict: TOO_MANY },
			async handler({ params: { projectId }, body, principal, byMember: by, audit, gone }) {
				found("project", await storage.getProject({ projectId }));
				const { role } = body;
				const email = body.email?.trim() ?? null;
				const result = await members.invite({ projectId, role, email, invitedBy: actorOf(principal), by });
				if (result.kind === "too_many") throw new Problem("conflict", TOO_MANY);
				if (result.kind !== "created") return gone("project");
				const { invitation, token } = result;
				audit({ projectId, action: "member.invited", target: targetOf(invitation), detail: { role } });
				return { ...presentInvitation(invitation), url: `${publicUrl()}/invitation#${token}` };
			},
		}),
		route("GET", path, "listInvitations", {
			summary: "List open invitations",
			role: "owner",
			success: { status: 200, description: "All open invitations.", schema: list(Invitation) },
			async handler({ params }) {
				return { data: (await members.invitations(params.projectId)).map(presentInvitation), next_cursor: null };
			},
		}),
		route("DELETE", `${path}/{invitation_id}`, "revokeInvitation", {
			summary: "Revoke an invitation",
			role: "owner",
			success: { status: 204, description: "The link no longer works." },
			async handler({ params: { projectId, invitationId }, byMember: by, audit, gone }) {
				const open = await members.invitations(projectId);
				const [invitation] = open.filter(({ id }) => id === invitationId);
				const target = targetOf(found("invitation", invitation));
				if (!(await storage.deleteInvitation({ projectId, invitationId, by }))) return gone("invitation");
				audit({ projectId, action: "invitation.revoked", target });
			},
		}),
		route("POST", "/v1/invitations/look", "lookAtInvitation", {
			summary: "Get an invitation",
			access: "open",
			body: request("InvitationToken")({ token: Token }),
			success: { status: 200, description: "Who invites the user to which project.", schema: SeenInvitation },
			problems: {
				forbidden: "The request comes from another site's page.",
				"not-found": OVER,
				"too-many-requests": "Too many wrong tokens.",
			},
			async handler({ body, request }) {
				const { invitation, project } = await holding(body.token, unauthenticatedOwner(request));
				const { role, email, expiresAt, invitedBy } = invitation;
				return {
					project: { id: project.id, name: project.name },
					role,
					email,
					expires_at: isoTime(expiresAt),
					invited_by_name: invitedBy.name,
				};
			},
		}),
		route("POST", "/v1/invitations/accept", "acceptInvitation", {
			summary: "Accept an invitation",
			description:
				"With only the token if you are signed in, or with a new account, which is then signed in. An invitation to an address can only be accepted by the account with that address.",
			access: "open",
			body: InvitationAcceptance,
			faults: accountFaults,
			success: { status: 200, description: "The session; a new one's cookie is set.", schema: Session },
			problems: {
				forbidden: "The invitation is for someone else's address, or the request comes from another site's page.",
				"not-found": OVER,
				conflict: "There is already an account with this address.",
				"too-many-requests": "Too many wrong tokens, or too many sign-ins in progress.",
			},
			async handler({ body, request, reply, audit }) {
				const network = unauthenticatedOwner(request);
				const { invitation } = await holding(body.token, network);
				const person = await authenticateCookie(request, parts);
				if (person && !isFor(invitation, person.account.email)) throw forSomeoneElse(invitation, person.account);
				const { account, membership } = person
					? await accept(body.token, invitation, person.account)
					: await acceptWithNewAccount(body, invitation, network);
				audit(
					{ projectId: invitation.projectId, action: "member.joined", detail: { role: membership.role } },
					{ kind: "account", id: account.id, name: account.name },
				);
				return person ? presentSession(person, parts) : beginSession(account, false, request, reply, parts);
			},
		}),
	];
}
