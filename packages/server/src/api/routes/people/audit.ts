import { isoTime } from "@posthorn/protocol";
import type { Static } from "typebox";
import { AUDIT_ACTIONS, AUDIT_RETENTION_DAYS } from "../../../accounts/index.ts";
import type * as port from "../../../storage/port.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	id,
	list,
	optional,
	orNull,
	pageById,
	paging,
	soughtId,
	strictObject,
	Time,
	Type,
} from "../../schema.ts";

const route = routeIn("Members", "project");

export const Actor = component("Actor")({
	kind: Type.Enum(["account", "api_key", "operator_key"]),
	id: orNull(Type.String()),
	name: Type.String({ description: "Its name at the time." }),
});

const AuditEntry = component("AuditEntry")({
	id: id("audit", "entry"),
	at: Time,
	actor: Actor,
	action: Type.Enum([...AUDIT_ACTIONS]),
	target: orNull(
		Type.Object({
			kind: Type.String({ examples: ["webhook"] }),
			id: Type.String(),
			name: Type.String({ description: "Its name at the time." }),
		}),
	),
	detail: Type.Record(Type.String(), Type.Unknown(), { description: "Further details of the action." }),
});

function presentAudit({ id, at, actor, action, target, detail }: port.AuditEntry): Static<typeof AuditEntry> {
	return {
		id,
		at: isoTime(at),
		actor: { ...actor },
		action: action as Static<typeof AuditEntry>["action"],
		target: target && { ...target },
		detail: { ...detail },
	};
}

/** The actor without an id. */
const OPERATOR_KEY = "operator_key";

export function auditRoutes({ storage }: ApiParts): Route[] {
	return [
		route("GET", "/v1/projects/{project_id}/audit", "listAudit", {
			summary: "Read the audit log",
			description: `Who changed what, newest first. Entries are kept for ${AUDIT_RETENTION_DAYS} days.`,
			role: "owner",
			query: strictObject({
				...paging,
				...optional({
					target_id: soughtId(
						"Only actions on this, such as a webhook, even if it was deleted. Actions on a single delivery are listed under its event, and the removal of an app, which pauses every webhook, under the app.",
					),
					actor_id: soughtId(
						`Only what this account or API key did. \`${OPERATOR_KEY}\` stands for the operator's key.`,
					),
				}),
			}),
			heavy: true,
			success: { status: 200, description: "A page of entries.", schema: list(AuditEntry) },
			handler({ params: { projectId }, query }) {
				const { target_id: targetId, actor_id } = query;
				const actorId = actor_id === OPERATOR_KEY ? null : actor_id;
				return pageById(
					"audit",
					query,
					(page) => storage.listAudit({ projectId, targetId, actorId, ...page }),
					presentAudit,
				);
			},
		}),
	];
}
