import { isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { actorOf, nameFaults } from "../../accounts/index.ts";
import { DEVELOPER_APP } from "../../registry/projects.ts";
import { KEY_SCOPES, type Page, type ApiKey as StoredKey, type Project as StoredProject } from "../../storage/port.ts";
import { found, invalid } from "../http/problem.ts";
import { givenMs } from "../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../route.ts";
import {
	component,
	givenTime,
	id,
	list,
	Name,
	NewName,
	orNull,
	PageQuerySchema,
	pageById,
	request,
	Time,
	Type,
} from "../schema.ts";
import { Actor } from "./people/audit.ts";

const route = routeIn("Projects", "project");
const keyRoute = routeIn("API keys", "developer");

const Apps = Type.Array(Type.Enum(["developer"]), {
	uniqueItems: true,
	description: "Installed apps. `developer` adds webhooks, API keys and logs.",
	examples: [["developer"]],
});

const Project = component("Project")({ id: id("project"), name: Name, apps: Apps, created_at: Time });

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
		const own = await storage.listMemberships({ accountId });
		return own
			.map(({ projectId, projectName, projectCreatedAt, apps }) => {
				return { id: projectId, name: projectName, apps, createdAt: projectCreatedAt };
			})
			.filter(({ id }) => id > after)
			.slice(0, limit);
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
			faults: nameFaults,
			success: { status: 201, description: "The project.", schema: Project },
			async handler({ body, audit }) {
				const project = await projects.create(body);
				audit({ projectId: project.id, action: "project.created", target: targetOf(project) });
				return presentProject(project);
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
			peopleOnly: true,
			success: { status: 200, description: "The project.", schema: Project },
			async handler({ params: { projectId } }) {
				return presentProject(found("project", await storage.getProject({ projectId })));
			},
		}),
		route("PATCH", `${path}/{project_id}`, "updateProject", {
			summary: "Rename a project",
			role: "owner",
			body: request("ProjectPatch")({ name: NewName }),
			faults: nameFaults,
			success: { status: 200, description: "The project as changed.", schema: Project },
			async handler({ params: { projectId }, body, byMember: by, audit, gone }) {
				const project = await storage.renameProject({ projectId, name: body.name.trim(), by });
				if (project === null) return gone("project");
				audit({ projectId: project.id, action: "project.renamed", target: targetOf(project) });
				return presentProject(project);
			},
		}),
		route("PUT", `${path}/{project_id}/apps/developer`, "installDeveloperApp", {
			summary: "Install the Developer app",
			description: "Enables the routes for webhooks, API keys and attempts. Paused webhooks stay paused.",
			role: "owner",
			success: { status: 200, description: "The project.", schema: Project },
			async handler({ params: { projectId }, byMember: by, audit, gone }) {
				const project = await projects.setDeveloperApp(projectId, true, by);
				if (project === null) return gone("project");
				audit({ projectId: project.id, action: "app.installed", target: DEVELOPER });
				return presentProject(project);
			},
		}),
		route("DELETE", `${path}/{project_id}/apps/developer`, "removeDeveloperApp", {
			summary: "Remove the Developer app",
			description: "Pauses every webhook of the project. Publishing continues, and events wait.",
			role: "owner",
			success: { status: 204, description: "The app was removed." },
			async handler({ params: { projectId }, byMember: by, audit, gone }) {
				const project = await projects.setDeveloperApp(projectId, false, by);
				if (project === null) return gone("project");
				audit({ projectId: project.id, action: "app.removed", target: DEVELOPER });
			},
		}),
	];
}

const scopes = (description: string) =>
	Type.Array(Type.Enum([...KEY_SCOPES], { title: "KeyScope" }), {
		minItems: 1,
		uniqueItems: true,
		description: `${description} \`publish\`: publish events and report store facts. \`read\`: read the log, webhooks and deliveries. \`manage\`: change webhooks, replay, send test events, revoke keys.`,
		examples: [["publish"]],
	});

const apiKeyFields = {
	id: id("apiKey", "key"),
	name: Name,
	prefix: Type.String({
		description: "The key's first characters, to tell keys apart.",
		examples: ["phk_Zk3v9QxB"],
	}),
	scopes: scopes("What the key may do."),
	expires_at: orNull(Time, "When the key stops working; null if it doesn't expire."),
	created_by: orNull(Actor, "Who created the key; null for keys created before this was recorded."),
	created_at: Time,
};

const ApiKey = component("ApiKey")({
	...apiKeyFields,
	last_used_at: orNull(Time, "When it was last used, accurate to about a minute."),
});

const CreatedApiKey = component("CreatedApiKey")({
	...apiKeyFields,
	key: Type.String({ description: "The key, shown only in this response and stored as a hash." }),
});

const NewApiKey = request("NewApiKey", { examples: [{ name: "Shop", scopes: ["publish"] }] })({
	name: NewName,
	scopes: Type.Optional(scopes("What the key may do; everything by default.")),
	expires_at: Type.Optional(givenTime("When the key stops working, in the future; by default, it doesn't expire.")),
});

function presentApiKey(key: StoredKey): Static<typeof ApiKey> {
	const { id, name, prefix, scopes, expiresAt, createdBy, createdAt, lastUsedAt } = key;
	return {
		id,
		name,
		prefix,
		scopes: [...scopes],
		expires_at: isoTimeOrNull(expiresAt),
		created_by: createdBy && { ...createdBy },
		created_at: isoTime(createdAt),
		last_used_at: isoTimeOrNull(lastUsedAt),
	};
}

export function apiKeyRoutes({ apiKeys }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/api-keys";
	return [
		keyRoute("POST", path, "createApiKey", {
			summary: "Create an API key",
			description:
				"The key can only access this project, within its scopes. It is shown only in this response. Keys can't create keys.",
			peopleOnly: true,
			body: NewApiKey,
			faults: nameFaults,
			success: { status: 201, description: "The key, shown only in this response.", schema: CreatedApiKey },
			async handler({ params: { projectId }, body, principal, byMember: by, audit, gone }) {
				const { name, scopes, expires_at } = body;
				const expiresAt = givenMs(expires_at) ?? null;
				const createdBy = actorOf(principal);
				const result = await apiKeys.create({ projectId, name, scopes, expiresAt, createdBy, by });
				if (result.kind === "invalid") throw invalid(result.faults);
				if (result.kind === "not_member") return gone("project");
				const { last_used_at: _, ...created } = presentApiKey(result.apiKey);
				audit({
					projectId,
					action: "api_key.created",
					target: { kind: "api_key", id: created.id, name },
					detail: { scopes: created.scopes, expires_at: created.expires_at },
				});
				return { ...created, key: result.key };
			},
		}),
		keyRoute("GET", path, "listApiKeys", {
			summary: "List API keys",
			description: "Oldest first, without the keys themselves. Expired keys are listed until they are deleted.",
			query: PageQuerySchema,
			success: { status: 200, description: "A page of keys.", schema: list(ApiKey) },
			handler: ({ params, query }) =>
				pageById("apiKey", query, (page) => apiKeys.list(params.projectId, page), presentApiKey),
		}),
		keyRoute("GET", `${path}/{key_id}`, "getApiKey", {
			summary: "Get an API key",
			description: "Without the key itself.",
			success: { status: 200, description: "The key.", schema: ApiKey },
			async handler({ params: { projectId, keyId } }) {
				return presentApiKey(found("API key", await apiKeys.get(projectId, keyId)));
			},
		}),
		keyRoute("DELETE", `${path}/{key_id}`, "deleteApiKey", {
			summary: "Delete an API key",
			description:
				"It is refused from then on. Other nodes are notified immediately; a node that misses the notification refuses it within five seconds.",
			success: { status: 204, description: "The key was deleted." },
			async handler({ params: { projectId, keyId }, by, audit, gone }) {
				const key = found("API key", await apiKeys.get(projectId, keyId));
				if (!(await apiKeys.delete(projectId, keyId, by))) return gone("API key");
				const target = { kind: "api_key", id: key.id, name: key.name };
				audit({ projectId, action: "api_key.revoked", target });
			},
		}),
	];
}
