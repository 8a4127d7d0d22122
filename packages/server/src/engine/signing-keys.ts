/**
 * What is stored of a signing secret, and the keys made of it. Everything is sealed under the instance's seal key and
 * bound to the webhook.
 */
import { type SigningKey, secretDigest, signingKey, standardDigest } from "@posthorn/protocol";
import type { Seal } from "../base/seal.ts";
import type { LaneState } from "../storage/port.ts";

export interface SealedSecret {
	readonly sealedDigest: Buffer;
	readonly sealedStandardDigest: Buffer;
}

type StoredSecret = Pick<LaneState, "webhookId" | "sealedDigest" | "sealedStandardDigest">;

/** Binds the second digest to the first: a version that didn't know it may have rotated only that one. */
const standardContext = (webhookId: string, digest: Uint8Array): string =>
	`${webhookId} ${Buffer.from(digest).toString("hex")}`;

export function sealSecret(seal: Seal, secret: string, webhookId: string): SealedSecret {
	const digest = secretDigest(secret);
	return {
		sealedDigest: seal.seal(digest, webhookId),
		sealedStandardDigest: seal.seal(standardDigest(secret), standardContext(webhookId, digest)),
	};
}

/** Throws if the seal key isn't the one that the secret was sealed with. */
export function openSigningKey(seal: Seal, { sealedDigest, webhookId }: StoredSecret): SigningKey {
	return signingKey(seal.open(sealedDigest, webhookId));
}

/** The key for Standard Webhooks. Null if the webhook doesn't ask for it, or if it belongs to an earlier secret. */
export function openStandardKey(seal: Seal, stored: StoredSecret): SigningKey | null {
	const { sealedDigest, sealedStandardDigest, webhookId } = stored;
	if (!sealedStandardDigest) return null;
	const context = standardContext(webhookId, seal.open(sealedDigest, webhookId));
	try {
		return signingKey(seal.open(sealedStandardDigest, context));
	} catch {
		return null;
	}
}
