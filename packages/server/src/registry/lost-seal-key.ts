/**
 * What is left to do once a seal key is lost: nothing can open the secrets that it sealed, so they are replaced. Their
 * webhooks are paused, because receivers would refuse the new signatures until they have the next secret.
 */
import { createSecret } from "@posthorn/protocol";
import { pagesOf } from "../base/collections.ts";
import { IdSource } from "../base/ids.ts";
import type { Seal } from "../base/seal.ts";
import { sealSecret } from "../engine/signing-keys.ts";
import type { Storage, Webhook } from "../storage/port.ts";

type Verbs = Pick<
	Storage,
	"listProjects" | "listSecrets" | "getWebhook" | "updateWebhook" | "resealSecret" | "appendAudit"
>;

/** A webhook whose secret can't be opened. */
export interface UnopenedWebhook extends Pick<Webhook, "projectId" | "id" | "url" | "description" | "status"> {
	readonly sealedDigest: Uint8Array;
}

/** @param seal null if there is no seal key, so that nothing can be opened */
export async function findUnopened(storage: Verbs, seal: Seal | null): Promise<readonly UnopenedWebhook[]> {
	const unopened: UnopenedWebhook[] = [];
	for await (const { id: projectId } of pagesOf((page) => storage.listProjects(page)))
		for await (const { id, sealedDigest } of pagesOf((page) => storage.listSecrets({ projectId, ...page }))) {
			if (opens(seal, sealedDigest, id)) continue;
			const webhook = await storage.getWebhook({ projectId, webhookId: id });
			if (webhook === null) continue;
			const { url, description, status } = webhook;
			unopened.push({ projectId, id, url, description, status, sealedDigest });
		}
	return unopened;
}

/**
 * Pauses each webhook, then replaces its secret by one that nobody knows. May be repeated after a crash. What it is about
 * to do is recorded first: only the audit log then names all webhooks, and tells their owners why they are paused.
 */
export async function replaceUnopened(storage: Verbs, seal: Seal, webhooks: readonly UnopenedWebhook[]): Promise<void> {
	const ids = new IdSource({ now: Date.now });
	for (const { projectId, id, url, description, status, sealedDigest } of webhooks) {
		const target = { kind: "webhook", id, name: description || url };
		const record = (action: string) =>
			storage.appendAudit({ id: ids.next("audit"), at: Date.now(), projectId, action, target, ...BY_OPERATOR });
		if (status === "active") await record("webhook.paused");
		await record("webhook.secret_rotated");
		await storage.updateWebhook({ projectId, webhookId: id, patch: { status: "paused" } });
		const secret = sealSecret(seal, createSecret(), id);
		await storage.resealSecret({ projectId, webhookId: id, from: sealedDigest, ...secret });
	}
}

/** Who may run the command may also read the operator's key, or replace it. */
const BY_OPERATOR = {
	actor: { kind: "operator_key", id: null, name: "The operator's key" },
	detail: { reason: "seal_key_lost" },
} as const;

function opens(seal: Seal | null, sealed: Uint8Array, webhookId: string): boolean {
	try {
		return seal !== null && seal.open(sealed, webhookId).length > 0;
	} catch {
		return false;
	}
}
