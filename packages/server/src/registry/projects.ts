import { NAME_LENGTH } from "@posthorn/protocol";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import { type Fault, type Invalid, textFaults, trimmed } from "../base/text.ts";
import type { Engine } from "../engine/engine.ts";
import type { Project, RegistryStorage, StillMember } from "../storage/port.ts";

/** The app that adds webhooks, API keys and logs to a project. */
export const DEVELOPER_APP = "developer";
const APPS: readonly string[] = [DEVELOPER_APP];

export interface ProjectInput {
	readonly name: string;
	/** Installed from the start; by default, the Developer app. */
	readonly apps?: readonly string[];
}

export interface ProjectsOptions {
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

	async create(input: ProjectInput): Promise<Invalid | { readonly kind: "created"; readonly project: Project }> {
		const faults = projectFaults(input);
		if (faults.length > 0) return { kind: "invalid", faults };
		const { storage, clock, ids } = this.#options;
		const project: Project = {
			id: ids.next("project"),
			name: trimmed(input.name),
			apps: [...(input.apps ?? [DEVELOPER_APP])],
			createdAt: clock.now(),
		};
		await storage.createProject(project);
		return { kind: "created", project };
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

export function projectFaults({ name, apps }: Partial<ProjectInput>): Fault[] {
	const faults = name === undefined ? [] : textFaults(name, "/name", NAME_LENGTH);
	for (const [index, app] of (apps ?? []).entries()) {
		if (!APPS.includes(app))
			faults.push({ pointer: `/apps/${index}`, detail: `must be an app that exists: ${APPS.join(", ")}` });
		else if (apps!.indexOf(app) < index) faults.push({ pointer: `/apps/${index}`, detail: "is listed twice" });
	}
	return faults;
}
