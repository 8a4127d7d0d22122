import { projectKey } from "./client/keys.ts";
import { pagedQuery } from "./client/pages.ts";

const ROWS = 50;

/** The project's audit log, newest first. */
export const auditQuery = (projectId: string) =>
	pagedQuery(projectKey(projectId, "audit"), "/v1/projects/{project_id}/audit", {
		path: { project_id: projectId },
		query: { limit: ROWS },
	});
