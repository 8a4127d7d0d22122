import type { Static } from "typebox";
import type { Principal } from "../../accounts/index.ts";
import { LOG_READS } from "../../base/budgets.ts";
import { isId } from "../../base/ids.ts";
import { judgeWebhooks, noHealthCounts } from "../../registry/health.ts";
import { DEVELOPER_APP } from "../../registry/projects.ts";
import { isGeneral } from "../../storage/port.ts";
import { type ApiParts, type Route, routeIn } from "../route.ts";
import { component, count, id, orNull, soughtId, strictObject, Type } from "../schema.ts";
import { SEVERAL } from "./log/log-filters.ts";

const route = routeIn("Projects", "any");

const MAX_PROJECTS = 20;

const WebhookCounts = Type.Object(
	{ failing: count(), unstable: count(), healthy: count(), idle: count(), paused: count() },
	{ description: "How many webhooks have each health, as `state` in the health of each webhook defines it." },
);

const ProjectHealth = component("ProjectHealth")({
	project_id: id("project"),
	webhooks: WebhookCounts,
	dead_letters: count("Dead-lettered deliveries that were neither replayed nor dismissed, without test events."),
});

const ProjectHealthList = component("ProjectHealthList")({
	data: Type.Array(ProjectHealth),
	next_project_id: orNull(
		Type.String(),
		`The first of the given projects that wasn't counted, because the call took ${LOG_READS.projectsHealthMs / 1_000} seconds; null if all were. Ask for it and those after it in another call.`,
	),
});

const ProjectHealthQuery = strictObject({
	project_id: Type.Array(soughtId("A project."), {
		minItems: 1,
		maxItems: MAX_PROJECTS,
		description: `The projects to count in. Unknown ids are ignored. ${SEVERAL}`,
		examples: [["proj_01kbjh6mrxe3q8z1v2t4w5y6a7"]],
	}),
});

export function projectHealthRoutes({ storage, webhooks, members, clock, logger }: ApiParts): Route[] {
	/** Whether the caller may see the webhooks of a project, and it has the app for them. */
	async function isVisible(principal: Principal, projectId: string): Promise<boolean> {
		if (!isId("project", projectId)) return false;
		if (principal.kind === "project" && principal.projectId !== projectId) return false;
		if (principal.kind === "person" && (await members.roleOf(projectId, principal.account)) === null) return false;
		return (await storage.getProject({ projectId }))?.apps.includes(DEVELOPER_APP) ?? false;
	}

	return [
		route("GET", "/v1/projects/health", "listProjectHealth", {
			summary: "Count webhooks by their health",
			description: `For up to ${MAX_PROJECTS} projects, how many webhooks have each health, and how many deliveries failed for good and need a decision. The projects come in the order given, each once. Those that you may not see, that don't exist, that lack the Developer app or whose data is damaged are left out.`,
			scope: "read",
			query: ProjectHealthQuery,
			rate: "reads",
			success: {
				status: 200,
				description: "The projects' health, in the order given.",
				schema: ProjectHealthList,
			},
			async handler(call) {
				const { query, heavy } = call;
				const begun = clock.elapsed();
				const data: Static<typeof ProjectHealth>[] = [];
				let next: string | null = null;
				let damaged: { readonly projectId: string; readonly err: unknown } | null = null;
				// Not `heavy` as a whole: all projects may have 200,000 webhooks together. Other reads have a turn before each
				// step, which also ends the call if its client has left or lost its access.
				for (const projectId of new Set(query.project_id)) {
					if (data.length > 0 && clock.elapsed() - begun >= LOG_READS.projectsHealthMs) {
						next = projectId;
						break;
					}
					if (!(await heavy(() => isVisible(call.principal, projectId)))) continue;
					const counts = noHealthCounts();
					let deadLetters = 0;
					const steps = judgeWebhooks(storage, webhooks.secretState, projectId, clock.now());
					const read = () =>
						steps.next().catch((err: unknown) => {
							if (isGeneral(err)) throw err;
							return { err };
						});
					let step = await heavy(read);
					for (; !("err" in step || step.done); step = await heavy(read))
						for (const { health, figures } of step.value) {
							counts[health]++;
							deadLetters += figures.deadLetters;
						}
					if ("err" in step) damaged ??= { projectId, err: step.err };
					else data.push({ project_id: projectId, webhooks: counts, dead_letters: deadLetters });
				}
				if (damaged !== null) {
					// Perhaps it's not their rows.
					if (data.length === 0) throw damaged.err;
					logger.warn(damaged, "failed to read the health of a project's webhooks; others are counted");
				}
				return { data, next_project_id: next };
			},
		}),
	];
}
