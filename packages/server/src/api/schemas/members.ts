import type { Static } from "typebox";
import { AUDIT_ACTIONS } from "../../accounts/index.ts";
import type * as port from "../../storage/port.ts";
import { formatTime } from "../http/time.ts";
import { NewEmail, NewPassword, RoleName, Token } from "./accounts.ts";
import { closed, id, list, Name, Time } from "./common.ts";
import { Type } from "./type.ts";

export const Member = Type.Object(
	{
		account_id: id("acc", "account"),
		email: Type.String(),
		name: Name,
		role: RoleName,
		operator: Type.Boolean(),
		added_at: Time,
	},
	{ title: "Member" },
);
export const MemberList = list(Member);
export const MemberPatch = Type.Object({ role: RoleName }, { ...closed, title: "MemberPatch" });

export const Actor = Type.Object(
	{
		kind: Type.Enum(["account", "api_key", "operator_key"], { type: "string" }),
		id: Type.Union([Type.String(), Type.Null()]),
		name: Type.String({ description: "Its name at the time." }),
	},
	{ title: "Actor" },
);

const invitationFields = {
	id: id("inv", "invitation"),
	role: RoleName,
	email: Type.Union([Type.String(), Type.Null()], {
		description: "Who it is for; null if anyone with the link may use it.",
	}),
	invited_by: Actor,
	created_at: Time,
	expires_at: Time,
};
export const Invitation = Type.Object(invitationFields, { title: "Invitation" });
export const InvitationList = list(Invitation);
export const CreatedInvitation = Type.Object(
	{
		...invitationFields,
		url: Type.String({ description: "The link for the invited person, shown only in this response." }),
	},
	{ title: "CreatedInvitation" },
);
export const NewInvitation = Type.Object(
	{ role: RoleName, email: Type.Optional(NewEmail) },
	{ ...closed, title: "NewInvitation", examples: [{ role: "developer" }] },
);
export const InvitationToken = Type.Object({ token: Token }, { ...closed, title: "InvitationToken" });
export const SeenInvitation = Type.Object(
	{
		project: Type.Object({ id: id("proj", "project"), name: Name }),
		role: RoleName,
		email: Type.Union([Type.String(), Type.Null()]),
		expires_at: Time,
		invited_by_name: Type.String(),
	},
	{ title: "SeenInvitation" },
);
export const InvitationAcceptance = Type.Object(
	{
		token: Token,
		email: Type.Optional(NewEmail),
		name: Type.Optional(Name),
		password: Type.Optional(NewPassword),
	},
	{
		...closed,
		title: "InvitationAcceptance",
		description: "If you are signed in, the token is enough. A new account needs all four.",
	},
);

export const AuditEntry = Type.Object(
	{
		id: id("aud", "entry"),
		at: Time,
		actor: Actor,
		action: Type.Enum([...AUDIT_ACTIONS], { type: "string" }),
		target: Type.Union([
			Type.Object({
				kind: Type.String({ examples: ["webhook"] }),
				id: Type.String(),
				name: Type.String({ description: "Its name at the time." }),
			}),
			Type.Null(),
		]),
		detail: Type.Record(Type.String(), Type.Unknown(), { description: "Further details of the action." }),
	},
	{ title: "AuditEntry" },
);
export const AuditList = list(AuditEntry);

export function presentMember({ account, role, addedAt }: port.Member): Static<typeof Member> {
	const { id, email, name, operator } = account;
	return { account_id: id, email, name, role, operator, added_at: formatTime(addedAt) };
}

export function presentInvitation(invitation: port.Invitation): Static<typeof Invitation> {
	const { id, role, email, invitedBy, createdAt, expiresAt } = invitation;
	return {
		id,
		role,
		email,
		invited_by: { ...invitedBy },
		created_at: formatTime(createdAt),
		expires_at: formatTime(expiresAt),
	};
}

export function presentAudit({ id, at, actor, action, target, detail }: port.AuditEntry): Static<typeof AuditEntry> {
	return {
		id,
		at: formatTime(at),
		actor: { ...actor },
		action: action as Static<typeof AuditEntry>["action"],
		target: target && { ...target },
		detail: { ...detail },
	};
}
