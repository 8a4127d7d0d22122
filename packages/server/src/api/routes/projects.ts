import { projectFaults } from "../../registry/index.ts";
import { pageById } from "../pagination.ts";
import type { ApiParts } from "../parts.ts";
import { presentProject } from "../present.ts";
import { invalid, notFound } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { NewProject, PageQuerySchema, Project, ProjectList } from "../schemas/index.ts";

export function projectRoutes({ projects }: Pick<ApiParts, "projects">): Route[] {
	const tag = "Projects";
	const path = "/v1/projects";
	return [
		defineRoute({
			method: "POST",
			path,
			operationId: "createProject",
			tag,
			summary: "Create a project",
			description: "It has the Developer app unless `apps` says otherwise.",
			access: "operator",
			body: NewProject,
			faults: projectFaults,
			success: { status: 201, description: "The project.", schema: Project },
			async handler({ body }) {
				const result = await projects.create(body);
				if (result.kind === "invalid") throw invalid(result.faults);
				return presentProject(result.project);
			},
		}),
		defineRoute({
			method: "GET",
			path,
			operationId: "listProjects",
			tag,
			summary: "List projects",
			description: "Oldest first.",
			access: "operator",
			query: PageQuerySchema,
			success: { status: 200, description: "A page of projects.", schema: ProjectList },
			handler: ({ query }) =>
				pageById(
					"project",
					query,
					(page) => projects.list(page),
					({ id }) => id,
					presentProject,
				),
		}),
		defineRoute({
			method: "GET",
			path: `${path}/{project_id}`,
			operationId: "getProject",
			tag,
			summary: "Get a project",
			access: "operator",
			success: { status: 200, description: "The project.", schema: Project },
			async handler({ params }) {
				const project = await projects.get(params.project_id);
				if (!project) throw notFound("project");
				return presentProject(project);
			},
		}),
		defineRoute({
			method: "PUT",
			path: `${path}/{project_id}/apps/developer`,
			operationId: "installDeveloperApp",
			tag,
			summary: "Install the Developer app",
			description: "Opens the routes for webhooks, API keys and attempts. Webhooks that were paused stay so.",
			access: "operator",
			success: { status: 200, description: "The project.", schema: Project },
			async handler({ params }) {
				const project = await projects.setDeveloperApp(params.project_id, true);
				if (!project) throw notFound("project");
				return presentProject(project);
			},
		}),
		defineRoute({
			method: "DELETE",
			path: `${path}/{project_id}/apps/developer`,
			operationId: "removeDeveloperApp",
			tag,
			summary: "Take the Developer app off",
			description: "Pauses every webhook of the project. Publishing goes on and events wait.",
			access: "operator",
			success: { status: 204, description: "It is off." },
			async handler({ params }) {
				if (!(await projects.setDeveloperApp(params.project_id, false))) throw notFound("project");
			},
		}),
	];
}
