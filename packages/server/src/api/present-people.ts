import type { Static } from "typebox";
import type * as port from "../storage/port.ts";
import type * as schemas from "./schemas/index.ts";
import { formatTime } from "./time.ts";

export function presentAccount({ id, email, name, operator, createdAt }: port.Account): Static<typeof schemas.Account> {
	return { id, email, name, operator, created_at: formatTime(createdAt) };
}

export function presentSessionInfo(session: port.Session, currentId: string): Static<typeof schemas.SessionInfo> {
	return {
		id: session.id,
		created_at: formatTime(session.createdAt),
		last_seen_at: formatTime(session.lastSeenAt),
		user_agent: session.userAgent,
		address: session.address,
		current: session.id === currentId,
	};
}

export function presentMember({ account, role, addedAt }: port.Member): Static<typeof schemas.Member> {
	const { id, email, name, operator } = account;
	return { account_id: id, email, name, role, operator, added_at: formatTime(addedAt) };
}

export function presentInvitation(invitation: port.Invitation): Static<typeof schemas.Invitation> {
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

export function presentAudit({
	id,
	at,
	actor,
	action,
	target,
	detail,
}: port.AuditEntry): Static<typeof schemas.AuditEntry> {
	return {
		id,
		at: formatTime(at),
		actor: { ...actor },
		action: action as Static<typeof schemas.AuditEntry>["action"],
		target: target && { ...target },
		detail: { ...detail },
	};
}
