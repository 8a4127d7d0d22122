import { createSecret } from "@posthorn/protocol";
import { MemoryWorld } from "../../test/storage/memory/world.ts";
import { Seal } from "../base/seal.ts";
import { sealSecret } from "../engine/signing-keys.ts";

/** A database in memory with one project, whose webhooks' secrets any keys may have sealed. */
export async function openSealedWebhooks() {
	const { world } = await MemoryWorld.open();
	const { storage, clock } = world;
	const projectId = await world.project();
	return {
		...{ storage, clock, projectId },
		/** Returns the new webhook's id. */
		async create(keys: readonly Uint8Array[], description = ""): Promise<string> {
			const id = world.id("webhook");
			const about = { id, projectId, url: "https://receiver.example/", description, events: ["a"] };
			const limits = { maxInFlight: 1, createdAt: 0, maxPerProject: 1_000 };
			await storage.createWebhook({ ...about, ...limits, ...sealSecret(new Seal(keys), createSecret(), id) });
			return id;
		},
		close: () => world.dispose(),
	};
}
