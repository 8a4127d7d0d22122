/**
 * What is stored of a signing secret, and the keys made of it. Everything is sealed under the instance's seal key and
 * bound to the webhook.
 */
import { type SigningKey, secretDigest, signingKey, standardDigest } from "@posthorn/protocol";
import type { Logger } from "../base/logger.ts";
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

/**
 * The same secret, sealed with the first seal key; null if it already is. A second digest that belongs to an earlier
 * secret is dropped. Throws if no seal key opens it.
 */
export function resealSecret(
	seal: Seal,
	{ webhookId, sealedDigest, sealedStandardDigest }: StoredSecret,
): (Pick<SealedSecret, "sealedDigest"> & { readonly sealedStandardDigest: Buffer | null }) | null {
	const digest = seal.reseal(sealedDigest, webhookId);
	if (digest === null) return null;
	const context = standardContext(webhookId, seal.open(digest, webhookId));
	let standard: Buffer | null = null;
	try {
		if (sealedStandardDigest) standard = seal.seal(seal.open(sealedStandardDigest, context), context);
	} catch {
		// As openStandard finds, it can't sign.
	}
	return { sealedDigest: digest, sealedStandardDigest: standard };
}

export class SigningKeys {
	readonly #seal: Seal;
	readonly #logger: Pick<Logger, "warn">;
	/** Webhooks whose second digest belongs to an earlier secret, so that each is logged once. */
	readonly #outdated = new Set<string>();

	constructor(seal: Seal, logger: Pick<Logger, "warn">) {
		this.#seal = seal;
		this.#logger = logger;
	}

	/** Throws if the seal key isn't the one that the secret was sealed with. */
	open({ sealedDigest, webhookId }: StoredSecret): SigningKey {
		try {
			return signingKey(this.#seal.open(sealedDigest, webhookId));
		} catch (cause) {
			const what = `No seal key opens the signing secret of the webhook ${webhookId}`;
			throw new Error(`${what}: restore the key that sealed it, or rotate the secret.`, { cause });
		}
	}

	/** The key for Standard Webhooks. Null if the webhook doesn't ask for it, or if it belongs to an earlier secret. */
	openStandard({ sealedDigest, sealedStandardDigest, webhookId }: StoredSecret): SigningKey | null {
		if (!sealedStandardDigest) return null;
		const context = standardContext(webhookId, this.#seal.open(sealedDigest, webhookId));
		try {
			const key = signingKey(this.#seal.open(sealedStandardDigest, context));
			this.#outdated.delete(webhookId);
			return key;
		} catch {
			if (!this.#outdated.has(webhookId))
				this.#logger.warn(
					{ webhookId },
					"not signing this webhook's requests for Standard Webhooks: a node of an older version rotated its secret; rotate it again once all nodes are upgraded",
				);
			this.#outdated.add(webhookId);
			return null;
		}
	}
}
