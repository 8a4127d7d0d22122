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

/** Takes the place of a secret's digest that was lost with its seal key. Nothing is signed with it. */
const LOST_DIGEST = new Uint8Array(0);

/** Whether requests can be signed; if not, whether because no seal key opens the secret, or because it was given up. */
export type SecretState = "usable" | "unreadable" | "lost";

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

/** Replaces a secret that was lost with its seal key, until it is rotated. */
export function sealLostSecret(seal: Seal, webhookId: string): SealedSecret {
	return {
		sealedDigest: seal.seal(LOST_DIGEST, webhookId),
		sealedStandardDigest: seal.seal(LOST_DIGEST, standardContext(webhookId, LOST_DIGEST)),
	};
}

function openDigest(
	seal: Seal,
	{ webhookId, sealedDigest }: Omit<StoredSecret, "sealedStandardDigest">,
): { readonly state: SecretState; readonly digest: Buffer | null; readonly error?: unknown } {
	try {
		const digest = seal.open(sealedDigest, webhookId);
		return digest.length === 0 ? { state: "lost", digest: null } : { state: "usable", digest };
	} catch (error) {
		return { state: "unreadable", digest: null, error };
	}
}

export const secretStateOf = (seal: Seal, secret: Omit<StoredSecret, "sealedStandardDigest">): SecretState =>
	openDigest(seal, secret).state;

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
	readonly #logger: Pick<Logger, "warn" | "error">;
	/** Webhooks whose secrets no seal key opens, so that each is logged once. */
	readonly #unreadable = new Set<string>();
	/** Webhooks whose second digest belongs to an earlier secret, so that each is logged once. */
	readonly #outdated = new Set<string>();

	constructor(seal: Seal, logger: Pick<Logger, "warn" | "error">) {
		this.#seal = seal;
		this.#logger = logger;
	}

	/** Null if no seal key opens the secret, or if it was lost with its seal key: then nothing can be signed. */
	open(secret: StoredSecret): SigningKey | null {
		const { webhookId } = secret;
		const { state, digest, error } = openDigest(this.#seal, secret);
		if (state !== "unreadable") this.#unreadable.delete(webhookId);
		else if (!this.#unreadable.has(webhookId)) {
			this.#unreadable.add(webhookId);
			this.#logger.error(
				{ webhookId, err: error },
				"no seal key opens this webhook's signing secret, so nothing is sent to it: restore the key that sealed it, or rotate the secret",
			);
		}
		return digest && signingKey(digest);
	}

	/**
	 * The key for Standard Webhooks. Null if the webhook doesn't ask for it, if it belongs to an earlier secret, or if
	 * nothing can be signed.
	 */
	openStandard(secret: StoredSecret): SigningKey | null {
		const { sealedStandardDigest, webhookId } = secret;
		if (!sealedStandardDigest) return null;
		const { digest } = openDigest(this.#seal, secret);
		if (digest === null) return null;
		const context = standardContext(webhookId, digest);
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
