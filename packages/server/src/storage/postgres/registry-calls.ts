import type * as port from "../port.ts";
import { InsightCalls } from "./insight-calls.ts";
import { listProjects, renameProject } from "./project-list.ts";
import { getProject } from "./projects.ts";
import { listWebhooks } from "./webhook-list.ts";
import { getWebhook } from "./webhook-rows.ts";

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
