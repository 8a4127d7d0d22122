import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Engine } from "../engine/engine.ts";
import type { Project, RegistryStorage, StillMember } from "../storage/port.ts";

/** The app that adds webhooks, API keys and logs to a project. */
export const DEVELOPER_APP = "developer";

interface ProjectInput {
	readonly name: string;
	/** Installed from the start; by default, the Developer app. */
	readonly apps?: readonly string[];
}

interface ProjectsOptions {
	readonly storage: Pick<RegistryStorage, "createProject" | "setDeveloperApp">;
	readonly engine: Pick<Engine, "change">;
	readonly clock: Pick<Clock, "now">;
	readonly ids: IdSource;
}

/** Projects and their apps. Rejects only if storage fails. */
export class Projects {
	readonly #options: ProjectsOptions;

	constructor(options: ProjectsOptions) {
		this.#options = options;
	}

	async create(input: ProjectInput): Promise<Project> {
		const { storage, clock, ids } = this.#options;
		const project: Project = {
			id: ids.next("project"),
			name: input.name.trim(),
			apps: [...(input.apps ?? [DEVELOPER_APP])],
			createdAt: clock.now(),
		};
		await storage.createProject(project);
		return project;
	}

	/**
	 * Installs the Developer app, or removes it, which pauses every webhook. Null if there is no such project, or `by` has
	 * lost the right.
	 */
	setDeveloperApp(projectId: string, installed: boolean, by: StillMember | null = null): Promise<Project | null> {
		const { engine, storage } = this.#options;
		return engine.change(
			projectId,
			() => storage.setDeveloperApp({ projectId, installed, by }),
			(project) => (project ? "project" : "nothing"),
		);
	}
}
