import { type Clock, type Repetition, repeat } from "../base/clock.ts";
import { rowsOf } from "../base/collections.ts";
import type { Logger } from "../base/logger.ts";
import type { Seal } from "../base/seal.ts";
import { resealSecret } from "../engine/signing-keys.ts";
import type { Storage, StoredSecret } from "../storage/port.ts";

/** From one pass to the next: a node with another first key may have sealed new secrets meanwhile, milliseconds. */
const PASS_MS = 600_000;
/** From a failed pass to the next, milliseconds. It doubles with each further failure, up to {@link PASS_MS}. */
const RETRY_MS = 10_000;

interface ResealingOptions {
	readonly storage: Pick<Storage, "listProjects" | "listSecrets" | "resealSecret">;
	readonly seal: Seal;
	readonly clock: Pick<Clock, "setTimeout">;
	readonly logger: Logger;
	/** Called after each pass that leaves no secret sealed with another key than the first. */
	readonly onSealed: () => Promise<void>;
}

/** While there are several seal keys, seals all signing secrets with the first that another one has sealed. */
export function startResealing({ storage, seal, clock, logger, onSealed }: ResealingOptions): Repetition {
	let isStopped = false;
	let isComplete = false;

	async function pass(): Promise<void> {
		let sealed = 0;
		const unopened = { count: 0, first: "" };
		for await (const { id: projectId } of rowsOf((page) => storage.listProjects(page)))
			for await (const secret of rowsOf((page) => storage.listSecrets({ projectId, ...page }))) {
				if (isStopped) return;
				const again = open(secret);
				if (again === undefined) {
					unopened.count++;
					unopened.first ||= secret.id;
				}
				// Not stored if it was rotated, or its webhook deleted, a moment ago.
				else if (
					again !== null &&
					(await storage.resealSecret({ projectId, webhookId: secret.id, from: secret.sealedDigest, ...again }))
				)
					sealed++;
			}
		if (unopened.count > 0) {
			logger.error(
				{ webhooks: unopened },
				"none of the seal keys opens these webhooks' secrets: restore their key, or rotate them",
			);
			return;
		}
		await onSealed();
		if (sealed > 0 || !isComplete) logger.info({ sealed }, "all secrets are sealed with the first of the seal keys");
		isComplete = true;
	}

	/** Undefined if no key opens it. */
	function open({ id: webhookId, ...secret }: StoredSecret): ReturnType<typeof resealSecret> | undefined {
		try {
			return resealSecret(seal, { webhookId, ...secret });
		} catch {
			return undefined;
		}
	}

	let retryInMs = RETRY_MS;
	const passes = repeat(clock, 0, async () => {
		try {
			await pass();
			retryInMs = RETRY_MS;
			return PASS_MS;
		} catch (error) {
			const waitMs = retryInMs;
			logger.warn(
				{ err: error, retryInMs: waitMs },
				"failed to seal all secrets with the first of the seal keys; trying again later",
			);
			retryInMs = Math.min(2 * waitMs, PASS_MS);
			return waitMs;
		}
	});
	return {
		async stop() {
			isStopped = true;
			await passes.stop();
		},
	};
}
