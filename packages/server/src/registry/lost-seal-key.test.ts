import { afterEach, beforeEach, expect, test } from "vitest";
import type { Storage } from "../storage/port.ts";
import { findUnopened, replaceUnopened } from "./lost-seal-key.ts";
import { openSealedWebhooks } from "./sealed-webhooks.fixture.ts";

const [NEW, LOST] = [1, 2].map((byte) => [Buffer.alloc(32, byte)]) as [Buffer[], Buffer[]];

let webhooks: Awaited<ReturnType<typeof openSealedWebhooks>>;
beforeEach(async () => {
	webhooks = await openSealedWebhooks();
});
afterEach(() => webhooks.close());

async function recorded(): Promise<unknown[]> {
	const { storage, projectId } = webhooks;
	const entries = await storage.listAudit({ projectId, limit: 100 });
	return entries.reverse().map(({ action, target, detail, actor }) => [action, target?.name, detail, actor.kind]);
}

// A second run only listed the webhooks that the first hadn't reached, and nothing said why the others were paused.
test("after a crash at any step, the audit log names each webhook that was paused", async () => {
	const { storage, projectId, clock, create } = webhooks;
	await create(NEW, "kept");
	const paused = await create(LOST, "");
	await storage.updateWebhook({ projectId, webhookId: paused, patch: { status: "paused" } });
	const active = await create(LOST, "Accounting");
	const verbs = ["appendAudit", "updateWebhook", "resealSecret"] as const;
	const lost = { reason: "seal_key_lost" };
	let isDone = false;
	for (let steps = 0; !isDone; steps++) {
		let left = steps;
		const failing: Storage = Object.create(storage);
		for (const verb of verbs)
			Object.assign(failing, {
				[verb]: (p: never) => (left-- > 0 ? storage[verb](p) : Promise.reject(new Error("killed"))),
			});
		const unopened = await findUnopened(storage, NEW);
		isDone = await replaceUnopened(failing, NEW, unopened, clock).then(
			() => true,
			() => false,
		);
		const unreached = (await findUnopened(storage, NEW)).webhooks.map(({ id }) => id);
		const names = JSON.stringify(await recorded());
		for (const [id, name] of [
			[paused, "https://receiver.example/"],
			[active, "Accounting"],
		] as const)
			if (!unreached.includes(id)) expect(names).toContain(name);
	}
	expect(await findUnopened(storage, NEW)).toEqual({ starts: true, webhooks: [] });
	expect(await recorded()).toContainEqual(["webhook.paused", "Accounting", lost, "operator_key"]);
	expect(await recorded()).toContainEqual(["webhook.secret_lost", "Accounting", lost, "operator_key"]);
	// It was paused before.
	expect(await recorded()).not.toContainEqual(expect.arrayContaining(["webhook.paused", "https://receiver.example/"]));
	expect((await storage.listWebhooks({ projectId, limit: 9 })).map(({ status }) => status).sort()).toEqual([
		"active",
		"paused",
		"paused",
	]);
});

test("it tells how many secrets it has replaced", async () => {
	const { storage, clock, create } = webhooks;
	for (let n = 0; n < 3; n++) await create(LOST);
	const unopened = await findUnopened(storage, NEW);
	expect(unopened.webhooks[0]).toMatchObject({ projectName: expect.stringMatching(/./) });
	const counts: number[] = [];
	await replaceUnopened(storage, NEW, unopened, clock, (count) => counts.push(count));
	expect(counts).toEqual([1, 2, 3]);
});
