import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

export function describeAudit(harness: StorageHarness): void {
	describe("audit log", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("entries are read as written, newest first, in pages, only in their project", async () => {
			const { storage } = world;
			const [project, other] = [await world.project(), await world.project()];
			const actors = [
				{ kind: "account", id: world.id("account"), name: "Ada" },
				{ kind: "api_key", id: world.id("apiKey"), name: "Deploy" },
				{ kind: "operator_key", id: null, name: "Operator" },
			] as const;
			const entries = Array.from(
				{ length: 7 },
				(_, i): AuditEntry => ({
					id: world.id("audit"),
					projectId: i === 3 ? other : project,
					at: START + i,
					actor: actors[i % 3]!,
					action: i % 2 === 0 ? "webhook.changed" : "project.created",
					target: i % 2 === 0 ? { kind: "webhook", id: world.id("webhook"), name: "https://a.example" } : null,
					detail: i % 2 === 0 ? { fields: ["url", "events"], from: null, deep: { n: 1 } } : {},
				}),
			);
			for (const entry of entries) await storage.appendAudit(entry);
			// Again, as after a commit whose result was lost.
			await storage.appendAudit(entries[0]!);
			const wanted = entries.filter(({ projectId }) => projectId === project).reverse();
			const first = await storage.listAudit({ projectId: project, limit: 4 });
			expect(first).toEqual(wanted.slice(0, 4));
			expect(await storage.listAudit({ projectId: project, limit: 4, after: first.at(-1)!.id })).toEqual(
				wanted.slice(4),
			);
			expect(await storage.listAudit({ projectId: project, limit: 4, after: wanted.at(-1)!.id })).toEqual([]);
			expect(await storage.listAudit({ projectId: other, limit: 4 })).toEqual([entries[3]]);
			expect(await storage.listAudit({ projectId: world.id("project"), limit: 4 })).toEqual([]);
		});

		test("entries are found by what was done to which target, and by who did it", async () => {
			const { storage } = world;
			const [project, other] = [await world.project(), await world.project()];
			const people = [world.id("account"), world.id("apiKey"), null];
			const targets = [world.id("webhook"), world.id("webhook")];
			const entries = Array.from({ length: 12 }, (_, i): AuditEntry => {
				const actorId = people[i % 3]!;
				return {
					id: world.id("audit"),
					projectId: i === 6 ? other : project,
					at: START + i,
					actor: {
						kind: actorId === null ? "operator_key" : i % 3 === 0 ? "account" : "api_key",
						id: actorId,
						name: "Ada",
					},
					action: "webhook.changed",
					target: i === 5 ? null : { kind: "webhook", id: targets[i % 2]!, name: "Till" },
					detail: {},
				};
			});
			for (const entry of entries) await storage.appendAudit(entry);
			const newest = entries.filter(({ projectId }) => projectId === project).reverse();
			// With a target, the empty id was the operator's key's.
			for (const targetId of [undefined, ...targets, world.id("webhook")])
				for (const actorId of [undefined, ...people, world.id("account"), ""]) {
					const wanted = newest.filter(
						({ target, actor }) =>
							(targetId === undefined || target?.id === targetId) && (actorId === undefined || actor.id === actorId),
					);
					const filter = { projectId: project, targetId, actorId };
					expect(await storage.listAudit({ ...filter, limit: 20 })).toEqual(wanted);
					const [first] = await storage.listAudit({ ...filter, limit: 1 });
					expect(await storage.listAudit({ ...filter, limit: 2, after: first?.id ?? "" })).toEqual(wanted.slice(1, 3));
				}
		});

		test("old entries are deleted a few at a time, oldest first, in every project", async () => {
			const fresh = await World.open(harness);
			const { storage } = fresh;
			const [project, other] = [await fresh.project(), await fresh.project()];
			const actor = { kind: "operator_key", id: null, name: "Operator" } as const;
			const ids: string[] = [];
			for (let i = 0; i < 9; i++) {
				const id = fresh.id("audit");
				ids.push(id);
				const about = { at: START - 1_000 + i, actor, action: "webhook.changed", target: null, detail: {} };
				await storage.appendAudit({ id, projectId: i % 3 === 0 ? other : project, ...about });
			}
			const left = async () =>
				(await Promise.all([project, other].map((each) => storage.listAudit({ projectId: each, limit: 20 }))))
					.flatMap((entries) => entries.map(({ id }) => id))
					.toSorted();
			expect(await storage.sweepAudit({ cutoff: START - 1_000, limit: 10 })).toBe(0);
			expect(await left()).toEqual(ids.toSorted());
			expect(await storage.sweepAudit({ cutoff: START - 1_000 + 7, limit: 4 })).toBe(4);
			expect(await left()).toEqual(ids.slice(4).toSorted());
			expect(await storage.sweepAudit({ cutoff: START - 1_000 + 7, limit: 4 })).toBe(3);
			expect(await left()).toEqual(ids.slice(7).toSorted());
			expect(await storage.sweepAudit({ cutoff: START - 1_000 + 7, limit: 4 })).toBe(0);
			await fresh.dispose();
		});
	});
}
