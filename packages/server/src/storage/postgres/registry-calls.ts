import type * as port from "../port.ts";
import { InsightCalls } from "./insight-calls.ts";
import { listProjects, renameProject } from "./registry/project-list.ts";
import { getProject } from "./registry/projects.ts";
import { listWebhooks } from "./registry/webhook-list.ts";
import { getWebhook } from "./registry/webhook-rows.ts";

/** The port's part for what people set up. */
export abstract class RegistryCalls extends InsightCalls {
	getProject(projectId: string): Promise<port.Project | null> {
		return this.read((c) => getProject(c, projectId));
	}

	listProjects(page: port.Page): Promise<port.Project[]> {
		return this.read((c) => listProjects(c, page));
	}

	renameProject(projectId: string, name: string): Promise<port.Project | null> {
		return this.writeTo(projectId, (c) => renameProject(c, projectId, name));
	}

	getWebhook(projectId: string, webhookId: string): Promise<port.Webhook | null> {
		return this.read((c) => getWebhook(c, projectId, webhookId));
	}

	listWebhooks(projectId: string, page: port.Page): Promise<port.Webhook[]> {
		return this.read((c) => listWebhooks(c, projectId, page));
	}
}
