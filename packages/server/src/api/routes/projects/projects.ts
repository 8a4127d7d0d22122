import { isoTime } from "@posthorn/protocol";
import type { Static } from "typebox";
import { trimmed } from "../../../base/text.ts";
import { DEVELOPER_APP, projectFaults } from "../../../registry/projects.ts";
import type { Page, Project as StoredProject } from "../../../storage/port.ts";
import { found, invalid } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, id, list, Name, NewName, PageQuerySchema, pageById, request, Time, Type } from "../../schema.ts";

const route = routeIn("Projects");

const Apps = Type.Array(Type.Enum(["developer"]), {
	uniqueItems: true,
	description: "Installed apps. `developer` adds webhooks, API keys and logs.",
	examples: [["developer"]],
});

const Project = component("Project")({ id: id("proj", "project"), name: Name, apps: Apps, created_at: Time });

const NewProject = request("NewProject", { examples: [{ name: "My store" }] })({
	name: NewName,
	apps: Type.Optional(Apps),
});

function presentProject({ id, name, apps, createdAt }: StoredProject): Static<typeof Project> {
	return { id, name, apps: apps as "developer"[], created_at: isoTime(createdAt) };
}

const DEVELOPER = { kind: "app", id: DEVELOPER_APP, name: "Developer" };
const targetOf = ({ id, name }: StoredProject) => ({ kind: "project", id, name });

export function projectRoutes({ projects, storage }: ApiParts): Route[] {
	const path = "/v1/projects";

	async function projectsOf(accountId: string, { limit, after = "" }: Page): Promise<StoredProject[]> {
		const own = (await storage.listMemberships({ accountId }))
			.filter(({ projectId }) => projectId > after)
			.slice(0, limit);
		const found = await Promise.all(own.map(({ projectId }) => storage.getProject({ projectId })));
		return found.filter((project) => project !== null);
	}

	/** The page of a project's own key. */
	async function projectOf(projectId: string, { after = "" }: Page): Promise<StoredProject[]> {
		const project = projectId > after ? await storage.getProject({ projectId }) : null;
		return project === null ? [] : [project];
	}

	return [
		route("POST", path, "createProject", {
			summary: "Create a project",
			description: "By default, it has the Developer app.",
			access: "operator",
			body: NewProject,
			faults: projectFaults,
			success: { status: 201, description: "The project.", schema: Project },
			async handler({ body, audit }) {
				const result = await projects.create(body);
				if (result.kind === "invalid") throw invalid(result.faults);
				audit({ projectId: result.project.id, action: "project.created", target: targetOf(result.project) });
				return presentProject(result.project);
			},
		}),
		route("GET", path, "listProjects", {
			summary: "List projects",
			description:
				"Oldest first. Users see the projects that they are members of, and a project's key sees its own; the operator sees all.",
			access: "any",
			query: PageQuerySchema,
			success: { status: 200, description: "A page of projects.", schema: list(Project) },
			handler: ({ query, principal }) =>
				pageById(
					"project",
					query,
					(page) => {
						if (principal.kind === "project") return projectOf(principal.projectId, page);
						return principal.kind === "person" && !principal.account.operator
							? projectsOf(principal.account.id, page)
							: storage.listProjects(page);
					},
					presentProject,
				),
		}),
		route("GET", `${path}/{project_id}`, "getProject", {
			summary: "Get a project",
			access: "project",
			peopleOnly: true,
			success: { status: 200, description: "The project.", schema: Project },
			async handler({ params: { projectId } }) {
				return presentProject(found("project", await storage.getProject({ projectId })));
			},
		}),
		route("PATCH", `${path}/{project_id}`, "updateProject", {
			summary: "Rename a project",
			access: "project",
			role: "owner",
			peopleOnly: true,
			body: request("ProjectPatch")({ name: NewName }),
			faults: projectFaults,
			success: { status: 200, description: "The project as changed.", schema: Project },
			async handler({ params: { projectId }, body, audit }) {
				const project = found("project", await storage.renameProject({ projectId, name: trimmed(body.name) }));
				audit({ projectId: project.id, action: "project.renamed", target: targetOf(project) });
				return presentProject(project);
			},
		}),
		route("PUT", `${path}/{project_id}/apps/developer`, "installDeveloperApp", {
			summary: "Install the Developer app",
			description: "Enables the routes for webhooks, API keys and attempts. Paused webhooks stay paused.",
			access: "project",
			role: "owner",
			peopleOnly: true,
			success: { status: 200, description: "The project.", schema: Project },
			async handler({ params, audit }) {
				const project = found("project", await projects.setDeveloperApp(params.projectId, true));
				audit({ projectId: project.id, action: "app.installed", target: DEVELOPER });
				return presentProject(project);
			},
		}),
		route("DELETE", `${path}/{project_id}/apps/developer`, "removeDeveloperApp", {
			summary: "Remove the Developer app",
			description: "Pauses every webhook of the project. Publishing continues, and events wait.",
			access: "project",
			role: "owner",
			peopleOnly: true,
			success: { status: 204, description: "The app was removed." },
			async handler({ params, audit }) {
				const project = found("project", await projects.setDeveloperApp(params.projectId, false));
				audit({ projectId: project.id, action: "app.removed", target: DEVELOPER });
			},
		}),
	];
}
