import type * as port from "../port.ts";
import { InsightCalls } from "./insight-calls.ts";
import { createApiKey, deleteApiKey, findApiKey, getApiKey, listApiKeys, touchApiKeys } from "./keys.ts";
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

	createApiKey(key: Omit<port.ApiKey, "lastUsedAt">, hash: Uint8Array): Promise<void> {
		return this.writeTo(key.projectId, (c) => createApiKey(c, key, hash));
	}

	listApiKeys(projectId: string, page: port.Page): Promise<port.ApiKey[]> {
		return this.read((c) => listApiKeys(c, projectId, page));
	}

	getApiKey(projectId: string, keyId: string): Promise<port.ApiKey | null> {
		return this.read((c) => getApiKey(c, projectId, keyId));
	}

	deleteApiKey(projectId: string, keyId: string): Promise<boolean> {
		return this.writeTo(projectId, (c) => deleteApiKey(c, projectId, keyId));
	}

	findApiKey(hash: Uint8Array): Promise<port.ApiKey | null> {
		return this.read((c) => findApiKey(c, hash));
	}

	touchApiKeys(uses: ReadonlyMap<string, number>): Promise<void> {
		return this.write((c) => touchApiKeys(c, uses));
	}

	getWebhook(projectId: string, webhookId: string): Promise<port.Webhook | null> {
		return this.read((c) => getWebhook(c, projectId, webhookId));
	}

	listWebhooks(projectId: string, page: port.Page): Promise<port.Webhook[]> {
		return this.read((c) => listWebhooks(c, projectId, page));
	}
}
