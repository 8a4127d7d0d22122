import { AUDIT_RETENTION_DAYS } from "../../accounts/index.ts";
import { pageById } from "../pagination.ts";
import type { ApiParts } from "../parts.ts";
import { presentAudit } from "../present-people.ts";
import { defineRoute, type Route } from "../route.ts";
import { AuditList, PageQuerySchema } from "../schemas/index.ts";

export function auditRoutes({ auditLog }: Pick<ApiParts, "auditLog">): Route[] {
	return [
		defineRoute({
			method: "GET",
			path: "/v1/projects/{project_id}/audit",
			operationId: "listAudit",
			tag: "Members",
			summary: "Read the audit log",
			description: `Who changed what, newest first. Entries are kept for ${AUDIT_RETENTION_DAYS} days.`,
			access: "project",
			role: "owner",
			peopleOnly: true,
			query: PageQuerySchema,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "A page of entries.", schema: AuditList },
			handler: ({ params, query }) =>
				pageById(
					"audit",
					query,
					(page) => auditLog.list(params.project_id, page),
					({ id }) => id,
					presentAudit,
				),
		}),
	];
}
