import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QUARANTINE, type WebhookPatch } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, sorted, World } from "./world.ts";

const hashOf = (key: string) => createHash("sha256").update(key).digest();

export function describeRegistry(harness: StorageHarness): void {
	describe("registry", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("projects are listed in pages, oldest first", async () => {
			const ids = [await world.project("A"), await world.project("B"), await world.project("C")];
			const before = (await world.storage.listProjects({ limit: 1000 })).map(({ id }) => id);
			expect(before).toEqual([...before].sort());
			const page = await world.storage.listProjects({ limit: 2, after: ids[0]! });
			expect(page).toEqual([
				{ id: ids[1], name: "B", apps: ["developer"], createdAt: START },
				{ id: ids[2], name: "C", apps: ["developer"], createdAt: START },
			]);
			expect(await world.storage.getProject({ projectId: ids[2]! })).toEqual(page[1]);
			expect(await world.storage.getProject({ projectId: world.id("project") })).toBeNull();
		});

		test("removing the Developer app pauses all webhooks of the project; installing it resumes none", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const webhooks = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const untouched = await world.webhook(other, ["a"]);
			expect((await world.storage.setDeveloperApp({ projectId: project, installed: false }))?.apps).toEqual([]);
			for (const id of webhooks)
				expect((await world.storage.getWebhook({ projectId: project, webhookId: id }))?.status).toBe("paused");
			expect((await world.storage.setDeveloperApp({ projectId: project, installed: true }))?.apps).toEqual([
				"developer",
			]);
			for (const id of webhooks)
				expect((await world.storage.getWebhook({ projectId: project, webhookId: id }))?.status).toBe("paused");
			expect((await world.storage.getWebhook({ projectId: other, webhookId: untouched }))?.status).toBe("active");
			expect(await world.storage.setDeveloperApp({ projectId: world.id("project"), installed: true })).toBeNull();
		});

		// A request that the API had authorized before still created a webhook, which no one could see or pause.
		test("no webhook is created or resumed once the Developer app has been removed", async () => {
			const { storage } = world;
			const projectId = await world.project();
			const webhookId = await world.webhook(projectId, ["a"]);
			await storage.setDeveloperApp({ projectId, installed: false });
			const fields = { url: "https://a.example/", description: "", events: ["a"], maxInFlight: 1 };
			const fresh = { ...fields, projectId, createdAt: START, sealedDigest: Buffer.from("x"), maxPerProject: 10 };
			const create = () => storage.createWebhook({ ...fresh, id: world.id("webhook") });
			const update = (patch: WebhookPatch) => storage.updateWebhook({ projectId, webhookId, patch });
			expect(await create()).toBe("no_project");
			expect(await update({ status: "active" })).toBeNull();
			const { before, after } = (await update({ description: "x" }))!;
			expect(after).toEqual({ ...before, description: "x", status: "paused" });
			expect(await storage.listWebhooks({ projectId, limit: 10 })).toHaveLength(1);
			await storage.setDeveloperApp({ projectId, installed: true });
			expect(await create()).toBe("created");
			expect(await update({ status: "active" })).toEqual({ before: after, after: { ...after, status: "active" } });
		});

		test("a single lane loads the same as with all lanes", async () => {
			const project = await world.project();
			const [one, closing] = [await world.webhook(project, ["a", "b"]), await world.webhook(project, ["b"])];
			const other = await world.webhook(await world.project(), ["a"]);
			await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "b");
			const retry = {
				webhookId: closing,
				seq: event!.seq,
				queue: "retry",
				replay: 0,
				attempt: 2,
				dueAt: START,
			} as const;
			const attempts = [world.attempt(closing, event!, { status: "failed", nextRetryAt: START })];
			const lanes = [{ webhookId: closing, position: event!.seq, open: [] }];
			await world.settle(await world.lease(project), { attempts, schedule: [retry], lanes });
			await world.storage.deleteWebhook({ projectId: project, webhookId: closing });
			const { lanes: all, ...rest } = await world.storage.loadLanes({ projectId: project });
			expect(all).toHaveLength(3);
			for (const id of [one, closing])
				expect(await world.storage.loadLanes({ projectId: project, webhookId: id })).toEqual({
					lanes: all.filter(({ webhookId }) => webhookId === id),
					...rest,
				});
			for (const id of [other, world.id("webhook")])
				expect(await world.storage.loadLanes({ projectId: project, webhookId: id })).toEqual({ lanes: [], ...rest });
		});

		test("an API key is found by its hash, and listed and deleted only within its project", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const key = {
				id: world.id("apiKey"),
				projectId: project,
				name: "CI",
				prefix: "phk_abc",
				scopes: ["publish", "manage"] as const,
				expiresAt: START + 5,
				createdBy: { kind: "account", id: world.id("account"), name: "Ada" } as const,
				createdAt: START,
			};
			const second = {
				...key,
				id: world.id("apiKey"),
				name: "Backend",
				scopes: ["read"] as const,
				expiresAt: null,
				createdBy: { kind: "operator_key", id: null, name: "The operator's key" } as const,
			};
			await world.storage.createApiKey({ ...key, hash: hashOf(key.id) });
			await world.storage.createApiKey({ ...second, hash: hashOf(second.id) });
			expect(await world.storage.findApiKey({ hash: hashOf(key.id) })).toEqual({ ...key, lastUsedAt: null });
			expect(await world.storage.findApiKey({ hash: hashOf("another") })).toBeNull();
			await world.storage.touchApiKeys({ uses: new Map([[key.id, START + 9]]) });
			const list = await world.storage.listApiKeys({ projectId: project, limit: 10 });
			expect(list).toEqual([
				{ ...key, lastUsedAt: START + 9 },
				{ ...second, lastUsedAt: null },
			]);
			expect(await world.storage.listApiKeys({ projectId: project, limit: 10, after: key.id })).toEqual([list[1]]);
			expect(await world.storage.listApiKeys({ projectId: other, limit: 10 })).toEqual([]);
			expect(await world.storage.getApiKey({ projectId: project, keyId: key.id })).toEqual(list[0]);
			expect(await world.storage.getApiKey({ projectId: other, keyId: key.id })).toBeNull();
			expect(await world.storage.getApiKey({ projectId: project, keyId: world.id("apiKey") })).toBeNull();
			expect(await world.storage.deleteApiKey({ projectId: other, keyId: key.id })).toBe(false);
			expect(await world.storage.deleteApiKey({ projectId: project, keyId: key.id })).toBe(true);
			expect(await world.storage.deleteApiKey({ projectId: project, keyId: key.id })).toBe(false);
			expect(await world.storage.findApiKey({ hash: hashOf(key.id) })).toBeNull();
			expect(await world.storage.getApiKey({ projectId: project, keyId: key.id })).toBeNull();
			expect(await world.storage.getApiKey({ projectId: project, keyId: second.id })).toEqual(list[1]);
		});

		test("webhooks are created, listed, changed and deleted only within their project", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const [first, second] = [await world.webhook(project, ["b", "a"]), await world.webhook(project, ["a"])];
			const wanted = {
				id: first,
				projectId: project,
				url: `https://receiver.example/${first}`,
				description: "",
				events: ["a", "b"],
				status: "active" as const,
				maxInFlight: 1,
				standardWebhooks: false,
				hasStandardDigest: false,
				sealedDigest: expect.anything(),
				createdAt: START,
			};
			expect(sorted(await world.storage.getWebhook({ projectId: project, webhookId: first }))).toEqual(wanted);
			const ids = async (after?: string) =>
				(await world.storage.listWebhooks({ projectId: project, limit: 10, ...(after && { after }) })).map(
					({ id }) => id,
				);
			expect(await ids()).toEqual([first, second]);
			expect(await ids(first)).toEqual([second]);

			const patch = { url: "https://new.example/", description: "Shop", events: ["c"], maxInFlight: 4 };
			const changed = (await world.storage.updateWebhook({ projectId: project, webhookId: first, patch }))!;
			expect([sorted(changed.before), sorted(changed.after)]).toEqual([wanted, { ...wanted, ...patch }]);
			expect(
				(await world.storage.updateWebhook({ projectId: project, webhookId: first, patch: { description: "" } }))?.after
					.description,
			).toBe("");

			expect(await world.storage.getWebhook({ projectId: other, webhookId: first })).toBeNull();
			expect(
				await world.storage.updateWebhook({ projectId: other, webhookId: first, patch: { description: "mine" } }),
			).toBeNull();
			expect(
				await world.storage.rotateSecret({ projectId: other, webhookId: first, sealedDigest: Buffer.from("x") }),
			).toBe(false);
			expect(await world.storage.deleteWebhook({ projectId: other, webhookId: first })).toBe(false);

			const deleted = (projectId: string, after?: string) =>
				world.storage.listDeletedWebhooks({ projectId, limit: 10, ...(after && { after }) });
			expect(await deleted(project)).toEqual([]);
			expect(await world.storage.deleteWebhook({ projectId: project, webhookId: first })).toBe(true);
			expect(await world.storage.deleteWebhook({ projectId: project, webhookId: first })).toBe(false);
			expect(await deleted(project)).toEqual([
				{ id: first, url: patch.url, description: "", deletedAt: expect.any(Number) },
			]);
			expect(await deleted(project, first)).toEqual([]);
			expect(await deleted(other)).toEqual([]);
			expect(await deleted(world.id("project"))).toEqual([]);
			expect(await world.storage.getWebhook({ projectId: project, webhookId: first })).toBeNull();
			expect(
				await world.storage.updateWebhook({ projectId: project, webhookId: first, patch: { description: "gone" } }),
			).toBeNull();
			expect(await ids()).toEqual([second]);
			expect((await world.storage.loadLanes({ projectId: project })).lanes.map(({ webhookId }) => webhookId)).toEqual([
				second,
			]);
		});

		test("a project's webhooks are limited, even when created concurrently; deleted ones don't count", async () => {
			const project = await world.project();
			const make = (projectId = project) =>
				world.storage.createWebhook({
					id: world.id("webhook"),
					projectId,
					url: "https://receiver.example/",
					description: "",
					events: ["a"],
					maxInFlight: 1,
					createdAt: START,
					sealedDigest: Buffer.from("sealed"),
					maxPerProject: 3,
				});
			const results = await Promise.all(Array.from({ length: 5 }, () => make()));
			expect(results.filter((result) => result === "created")).toHaveLength(3);
			expect(results.filter((result) => result === "limit")).toHaveLength(2);
			const [one] = await world.storage.listWebhooks({ projectId: project, limit: 10 });
			await world.storage.deleteWebhook({ projectId: project, webhookId: one!.id });
			expect(await make()).toBe("created");
			expect(await make(world.id("project"))).toBe("no_project");
		});

		test("a lane starts at the end of the log; an added type starts with the next event, others keep their position", async () => {
			const project = await world.project();
			await world.publish(project, "a", "b");
			const webhook = await world.webhook(project, ["a", "b"]);
			let lane = await world.lane(project, webhook);
			expect(lane).toMatchObject({ status: "active", maxInFlight: 1, position: 2, open: [], skipThrough: 0 });
			expect(Buffer.from(lane.sealedDigest)).toEqual(hashOf(webhook));
			expect(lane.subscriptions).toEqual(
				new Map([
					["a", 2],
					["b", 2],
				]),
			);
			await world.publish(project, "a", "c", "c");
			await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { events: ["a", "c"] } });
			lane = await world.lane(project, webhook);
			expect(lane.position).toBe(2);
			expect([...lane.subscriptions].sort()).toEqual([
				["a", 2],
				["c", 5],
			]);
			await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { events: ["b", "a"] } });
			expect([...(await world.lane(project, webhook)).subscriptions].sort()).toEqual([
				["a", 2],
				["b", 5],
			]);
		});

		test("resuming from the backlog keeps the lane's progress; from now on moves it to the end and marks the backlog", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"], { status: "paused" });
			await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 3, open: [2] }] });
			await world.storage.updateWebhook({
				projectId: project,
				webhookId: webhook,
				patch: { status: "active", from: "backlog" },
			});
			expect(await world.lane(project, webhook)).toMatchObject({ position: 3, open: [2], skipThrough: 0 });
			await world.storage.updateWebhook({
				projectId: project,
				webhookId: webhook,
				patch: { status: "active", from: "now" },
			});
			expect(await world.lane(project, webhook)).toMatchObject({ position: 3, open: [], skipThrough: 3 });
		});

		test("every webhook change increments the project's revision", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const changes = [
				() => world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { description: "x" } }),
				() =>
					world.storage.rotateSecret({ projectId: project, webhookId: webhook, sealedDigest: Buffer.from("other") }),
				() => world.storage.deleteWebhook({ projectId: project, webhookId: webhook }),
				() => world.webhook(project, ["a"]),
				() => world.storage.setDeveloperApp({ projectId: project, installed: false }),
			];
			for (const change of changes) {
				const before = (await world.storage.loadLanes({ projectId: project })).seen.revision;
				await change();
				expect((await world.storage.loadLanes({ projectId: project })).seen.revision).toBeGreaterThan(before);
			}
			expect((await world.storage.loadLanes({ projectId: project })).seen.lastSeq).toBe(0);
		});

		test("rotating replaces the sealed digest", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			expect(
				await world.storage.rotateSecret({
					projectId: project,
					webhookId: webhook,
					sealedDigest: Buffer.from("other"),
				}),
			).toBe(true);
			expect(Buffer.from((await world.lane(project, webhook)).sealedDigest).toString()).toBe("other");
		});

		test("a lane has the second digest only while the owner asks for it, and rotating replaces or removes it", async () => {
			const project = await world.project();
			const about = { id: world.id("webhook"), projectId: project, url: "https://receiver.example/", description: "" };
			const digests = { sealedDigest: Buffer.from("one"), sealedStandardDigest: Buffer.from("two") };
			const shape = { events: ["a"], maxInFlight: 1, createdAt: START, maxPerProject: 10, standardWebhooks: true };
			expect(await world.storage.createWebhook({ ...about, ...digests, ...shape })).toBe("created");
			const ref = { projectId: project, webhookId: about.id };
			const [webhook, lane] = [() => world.storage.getWebhook(ref), () => world.lane(project, about.id)];
			const second = async () => {
				const { sealedStandardDigest } = await lane();
				return sealedStandardDigest ? Buffer.from(sealedStandardDigest).toString() : null;
			};
			expect(await webhook()).toMatchObject({ standardWebhooks: true, hasStandardDigest: true });
			expect(await second()).toBe("two");
			await world.storage.updateWebhook({ ...ref, patch: { standardWebhooks: false } });
			expect(await webhook()).toMatchObject({ standardWebhooks: false, hasStandardDigest: true });
			expect(await second()).toBeNull();
			await world.storage.updateWebhook({ ...ref, patch: { standardWebhooks: true } });
			expect(await second()).toBe("two");
			await world.storage.rotateSecret({ ...ref, ...digests, sealedStandardDigest: Buffer.from("three") });
			expect(await second()).toBe("three");
			await world.storage.rotateSecret({ ...ref, sealedDigest: Buffer.from("four") });
			expect(await webhook()).toMatchObject({ standardWebhooks: true, hasStandardDigest: false });
			expect(await second()).toBeNull();
		});

		test("digests are sealed again, unless the secret was rotated or the webhook deleted meanwhile", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const about = { projectId: project, url: "https://receiver.example/", description: "" };
			const shape = { events: ["a"], maxInFlight: 1, createdAt: START, maxPerProject: 10, standardWebhooks: true };
			const [first, second] = [world.id("webhook"), world.id("webhook")];
			const digests = { sealedDigest: Buffer.from("one"), sealedStandardDigest: Buffer.from("two") };
			await world.storage.createWebhook({ ...about, id: first, ...digests, ...shape });
			await world.storage.createWebhook({ ...about, id: second, sealedDigest: Buffer.from("three"), ...shape });
			const text = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString();
			const list = async (projectId: string, limit = 10, after?: string) =>
				(await world.storage.listSecrets({ projectId, limit, ...(after && { after }) })).map(
					({ id, sealedDigest, sealedStandardDigest }) => [id, text(sealedDigest), text(sealedStandardDigest)],
				);
			expect(await list(project)).toEqual([
				[first, "one", "two"],
				[second, "three", null],
			]);
			expect(await list(project, 1)).toEqual([[first, "one", "two"]]);
			expect(await list(project, 1, first)).toEqual([[second, "three", null]]);
			expect(await list(other)).toEqual([]);
			expect(await list(world.id("project"))).toEqual([]);

			const to = { sealedDigest: Buffer.from("uno"), sealedStandardDigest: Buffer.from("due") };
			const reseal = (projectId: string, webhookId: string, from: string) =>
				world.storage.resealSecret({ projectId, webhookId, from: Buffer.from(from), ...to });
			const { revision } = (await world.storage.loadLanes({ projectId: project })).seen;
			expect(await reseal(project, first, "zero")).toBe(false);
			expect(await reseal(other, first, "one")).toBe(false);
			expect(await reseal(world.id("project"), first, "one")).toBe(false);
			expect(await reseal(project, first, "one")).toBe(true);
			expect(await list(project)).toEqual([
				[first, "uno", "due"],
				[second, "three", null],
			]);
			// The secret is the same, so no node has to load it again.
			expect((await world.storage.loadLanes({ projectId: project })).seen.revision).toBe(revision);
			await world.storage.deleteWebhook({ projectId: project, webhookId: second });
			expect(await reseal(project, second, "three")).toBe(false);
			expect(await list(project)).toEqual([[first, "uno", "due"]]);
		});

		test("a setting keeps its first value until it is replaced", async () => {
			expect(await world.storage.getSetting({ name: "operator" })).toBeNull();
			expect(await world.storage.initSetting({ name: "operator", value: "one" })).toBe("one");
			expect(await world.storage.initSetting({ name: "operator", value: "two" })).toBe("one");
			expect(await world.storage.getSetting({ name: "operator" })).toBe("one");
			await world.storage.setSetting({ name: "operator", value: "three" });
			expect(await world.storage.getSetting({ name: "operator" })).toBe("three");
			await world.storage.setSetting({ name: "new", value: "four" });
			expect(await world.storage.getSetting({ name: "new" })).toBe("four");
			await world.storage.setSetting({ name: QUARANTINE, value: "{}" });
			expect(await world.storage.endQuarantine()).toBe(true);
			expect(await world.storage.endQuarantine()).toBe(false);
			expect(await world.storage.getSetting({ name: QUARANTINE })).toBeNull();
			expect(await world.storage.getSetting({ name: "new" })).toBe("four");
		});

		test("a setting is replaced only if it still has the value that was read", async () => {
			const name = "turn";
			const replace = (from: string | null, to: string) => world.storage.replaceSetting({ name, from, to });
			expect(await replace("one", "two")).toBe(false);
			expect(await world.storage.getSetting({ name })).toBeNull();
			expect(await replace(null, "one")).toBe(true);
			expect(await replace(null, "two")).toBe(false);
			expect(await replace("two", "three")).toBe(false);
			expect(await world.storage.getSetting({ name })).toBe("one");
			expect(await replace("one", "two")).toBe(true);
			expect(await world.storage.getSetting({ name })).toBe("two");
		});

		test("the latest trusted time rises by small steps, unless it is confirmed, and falls only by more than one", async () => {
			const observe = (now: number, vouched = 0) => world.storage.observeClock({ now, since: 0, vouched, stepMs: 100 });
			expect(await observe(1_000)).toEqual({ seenAt: 1_000, isAhead: false, jumpedMs: 0 });
			expect(await observe(1_060)).toEqual({ seenAt: 1_060, isAhead: false, jumpedMs: 60 });
			expect(await observe(960)).toEqual({ seenAt: 1_060, isAhead: false, jumpedMs: 60 });
			// Jumps add up. Time that has passed makes up for four times as much.
			expect(await observe(1_101)).toEqual({ seenAt: 1_060, isAhead: true, jumpedMs: 101 });
			expect(await observe(1_110, 1_070)).toEqual({ seenAt: 1_110, isAhead: false, jumpedMs: 60 });
			expect(await observe(2_000, 1_800)).toEqual({ seenAt: 1_110, isAhead: true, jumpedMs: 200 });
			expect(await observe(2_000, 1_900)).toEqual({ seenAt: 2_000, isAhead: false, jumpedMs: 100 });
			await world.storage.confirmClock({ now: 9_000 });
			expect(await observe(9_050)).toEqual({ seenAt: 9_050, isAhead: false, jumpedMs: 50 });
			// Set back, by more than a step.
			expect(await observe(8_950)).toEqual({ seenAt: 9_050, isAhead: false, jumpedMs: 50 });
			expect(await observe(8_949)).toEqual({ seenAt: 8_949, isAhead: false, jumpedMs: 50 });
			expect(await observe(9_050)).toEqual({ seenAt: 8_949, isAhead: true, jumpedMs: 151 });
			// A node that saw the time pass isn't affected by one whose clock is behind.
			expect(await observe(9_050, 9_050)).toEqual({ seenAt: 9_050, isAhead: false, jumpedMs: 0 });
			// Confirmed too far ahead by mistake, and then again after it was set.
			await world.storage.confirmClock({ now: 3_000 });
			expect(await observe(3_050)).toEqual({ seenAt: 3_050, isAhead: false, jumpedMs: 50 });
		});

		test("the storage responds to a ping", async () => {
			await world.storage.ping();
			await world.storage.ping();
			expect(world.storage.peers !== null).toBe(harness.manyNodes);
		});
	});
}
