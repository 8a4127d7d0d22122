/**
 * What is left to do once a seal key is lost: nothing can open the secrets that it sealed, so they are replaced. Their
 * webhooks are paused, because receivers would refuse the new signatures until they have the next secret.
 */
import { createSecret } from "@posthorn/protocol";
import { pagesOf } from "../base/collections.ts";
import type { Seal } from "../base/seal.ts";
import { sealSecret } from "../engine/signing-keys.ts";
import type { Storage } from "../storage/port.ts";

type Verbs = Pick<Storage, "listProjects" | "listSecrets" | "getWebhook" | "updateWebhook" | "resealSecret">;

/** A webhook whose secret can't be opened. */
export interface UnopenedWebhook {
	readonly projectId: string;
	readonly id: string;
	readonly url: string;
	readonly sealedDigest: Uint8Array;
}

/** @param seal null if there is no seal key, so that nothing can be opened */
export async function findUnopened(storage: Verbs, seal: Seal | null): Promise<readonly UnopenedWebhook[]> {
	const unopened: UnopenedWebhook[] = [];
	for await (const { id: projectId } of pagesOf((page) => storage.listProjects(page)))
		for await (const { id, sealedDigest } of pagesOf((page) => storage.listSecrets({ projectId, ...page }))) {
			if (opens(seal, sealedDigest, id)) continue;
			const webhook = await storage.getWebhook({ projectId, webhookId: id });
			if (webhook !== null) unopened.push({ projectId, id, url: webhook.url, sealedDigest });
		}
	return unopened;
}

/** Pauses each webhook, then replaces its secret by one that nobody knows. May be repeated after a crash. */
export async function replaceUnopened(storage: Verbs, seal: Seal, webhooks: readonly UnopenedWebhook[]): Promise<void> {
	for (const { projectId, id: webhookId, sealedDigest } of webhooks) {
		await storage.updateWebhook({ projectId, webhookId, patch: { status: "paused" } });
		const secret = sealSecret(seal, createSecret(), webhookId);
		await storage.resealSecret({ projectId, webhookId, from: sealedDigest, ...secret });
	}
}

function opens(seal: Seal | null, sealed: Uint8Array, webhookId: string): boolean {
	try {
		return seal !== null && seal.open(sealed, webhookId).length > 0;
	} catch {
		return false;
	}
}
