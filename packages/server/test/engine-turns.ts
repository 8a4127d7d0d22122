import { describe, expect, test } from "vitest";
import { PROJECTS } from "../src/base/budgets.ts";
import type { Storage } from "../src/storage/port.ts";
import type { EngineRig, StartRig } from "./engine-rig.ts";

const LIMIT = 10;

/** Projects with one webhook each, by its URL. */
async function projects(rig: EngineRig, count: number): Promise<Map<string, string>> {
	const byUrl = new Map<string, string>();
	for (let n = 0; n < count; n++) {
		const projectId = await rig.project();
		byUrl.set((await rig.webhook(`turn-${n}`, { projectId })).url, projectId);
	}
	return byUrl;
}

/** Counts pending storage calls. */
class Calls {
	open = 0;
	/** Attempts whose receivers responded. */
	ended = 0;

	/** A receiver that responds after this long. */
	after(rig: EngineRig, ms: number): Promise<number> {
		return new Promise((resolve) => {
			rig.clock.setTimeout(() => {
				this.ended += 1;
				resolve(200);
			}, ms);
		});
	}

	readonly count = (storage: Storage): Storage =>
		new Proxy(storage, {
			get: (target, name) => {
				const verb = Reflect.get(target, name) as unknown;
				if (typeof verb !== "function") return verb;
				return (...args: unknown[]): unknown => {
					const answer: unknown = verb.apply(target, args);
					if (!(answer instanceof Promise)) return answer;
					this.open += 1;
					return answer.finally(() => {
						this.open -= 1;
					});
				};
			},
		});

	/** Advances time in steps; in each, waits for pending storage calls and for receivers' responses to be settled. */
	async pass(rig: EngineRig, ms: number, until: () => boolean): Promise<void> {
		for (let passed = 0; passed < ms && !until(); passed += 250) {
			rig.clock.advance(250);
			await this.answered();
			await rig.settledCount(this.ended);
		}
	}

	/** Resolves when no storage call is pending and no more follow. */
	async answered(): Promise<void> {
		for (let quiet = 0; quiet < 5; quiet = this.open === 0 ? quiet + 1 : 0)
			await new Promise((resolve) => setImmediate(resolve));
	}
}

/** More projects than a node may run at a time. */
export function describeTurns(start: StartRig): void {
	describe("turns", () => {
		test("busy projects beyond the limit take turns, even if some receivers hang", async () => {
			const calls = new Calls();
			await using rig = await start(calls.count, undefined, { activeProjects: LIMIT });
			const byUrl = await projects(rig, 60);
			const hanging = new Set([...byUrl.keys()].slice(0, 10));
			let over = false;
			rig.sender.script = ({ target }) => (over ? 200 : calls.after(rig, hanging.has(target.url) ? 15_000 : 100));
			// More than any project completes.
			for (const projectId of byUrl.values()) await rig.publishAll(600, "delivery.success", projectId);
			const bound = 2 * Math.ceil(60 / LIMIT) * (PROJECTS.quantumMs + 1_000);
			const served = new Set<string>();
			let seen = 0;
			await calls.pass(rig, bound, () => {
				for (; seen < rig.sender.sent.length; seen++) served.add(rig.sender.sent[seen]!.url);
				return served.size === 60;
			});
			expect(served.size).toBe(60);
			expect(rig.engine.node.projects).toBeLessThanOrEqual(2 * LIMIT);
			over = true;
			rig.clock.advance(15_000);
		});

		test("an idle project is released immediately, and only one", async () => {
			let released = 0;
			const calls = new Calls();
			await using rig = await start(
				(storage) => {
					const release = storage.releaseLease.bind(storage);
					storage.releaseLease = (...args) => {
						released += 1;
						return release(...args);
					};
					return calls.count(storage);
				},
				undefined,
				{ activeProjects: LIMIT },
			);
			const all = [...(await projects(rig, LIMIT)).values()];
			for (const projectId of all) await rig.publishAll(1, "delivery.success", projectId);
			await rig.settledCount(LIMIT);
			expect(released).toBe(0);
			const projectId = await rig.project();
			const { url } = await rig.webhook("next", { projectId });
			await rig.publishAll(1, "delivery.success", projectId);
			await rig.sentWhen("the project to be run", (sent) => sent.some((request) => request.url === url));
			await rig.settledCount(LIMIT + 1);
			await calls.answered();
			expect(released).toBe(1);
			expect(rig.engine.node.projects).toBe(LIMIT);
		});

		test("a test event doesn't wait for its project to be acquired, even if all are busy", async () => {
			await using rig = await start(undefined, undefined, { activeProjects: LIMIT });
			const asked = await rig.project();
			const { id, url } = await rig.webhook("asked", { projectId: asked });
			const byUrl = await projects(rig, LIMIT);
			const waiting: ((answer: number) => void)[] = [];
			rig.sender.script = () => new Promise((resolve) => waiting.push(resolve));
			for (const projectId of byUrl.values()) await rig.publishAll(1, "delivery.success", projectId);
			await rig.sentCount(LIMIT);
			await rig.publishAll(1, "delivery.success", asked);
			await rig.engine.sendTest(asked, id, "chargeback.created");
			// The clock doesn't move, so no project's quantum ends.
			await rig.sentWhen("the project to be run", (sent) => sent.some((request) => request.url === url));
			rig.sender.script = () => 200;
			for (const answer of waiting) answer(200);
			await rig.settledCount(LIMIT + 2);
		});

		test("a test event of a project that is being released is sent once its lease is free, even if all are busy", async () => {
			const releasing = Promise.withResolvers<string>();
			const mayRelease = Promise.withResolvers<void>();
			await using rig = await start(
				(storage) => {
					const release = storage.releaseLease.bind(storage);
					storage.releaseLease = async (params) => {
						releasing.resolve(params.lease.projectId);
						await mayRelease.promise;
						return release(params);
					};
					return storage;
				},
				undefined,
				{ activeProjects: LIMIT },
			);
			const idle = await rig.project();
			const { id, url } = await rig.webhook("idle", { projectId: idle });
			await rig.publishAll(1, "delivery.success", idle);
			await rig.settledCount(1);
			const waiting: ((answer: number) => void)[] = [];
			rig.sender.script = () => new Promise((resolve) => waiting.push(resolve));
			const busy = [...(await projects(rig, LIMIT - 1)).values()];
			for (const projectId of busy) await rig.publishAll(1, "delivery.success", projectId);
			await rig.sentCount(LIMIT);
			// Only the idle project can make room for another one.
			await rig.webhook("next", { projectId: await rig.project() });
			expect(await releasing.promise).toBe(idle);
			await rig.engine.sendTest(idle, id, "chargeback.created");
			mayRelease.resolve();
			const isTest = (request: { url: string }, n: number) => request.url === url && n > 0;
			await rig.sentWhen("the test event to be sent", (sent) => sent.some(isTest));
			rig.sender.script = () => 200;
			for (const answer of waiting) answer(200);
			await rig.settledCount(LIMIT + 1);
		});

		test("projects within the limit aren't released, however long they run", async () => {
			let taken = 0;
			const calls = new Calls();
			await using rig = await start(
				(storage) => {
					const acquire = storage.acquireLeases.bind(storage);
					storage.acquireLeases = async (...args) => {
						const leases = await acquire(...args);
						taken += leases.length;
						return leases;
					};
					return calls.count(storage);
				},
				undefined,
				{ activeProjects: LIMIT },
			);
			const byUrl = await projects(rig, LIMIT);
			let over = false;
			rig.sender.script = () => (over ? 200 : calls.after(rig, 1_000));
			for (const projectId of byUrl.values()) await rig.publishAll(100, "delivery.success", projectId);
			await rig.sentCount(LIMIT);
			taken = 0;
			await calls.pass(rig, 30_000, () => false);
			expect(rig.sender.sent.length).toBeGreaterThan(LIMIT * 20);
			expect(taken).toBe(0);
			over = true;
			rig.clock.advance(1_000);
		});
	});
}
