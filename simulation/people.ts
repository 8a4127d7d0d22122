/**
 * Publishers, owners and the store platform: clients of the service that ask a node, wait for its answer, and ask again
 * (the same node or another) when none comes.
 */
import { EVENT_TYPES, eventTypeEntry } from "@posthorn/protocol";
import type { LogPosition } from "../packages/server/src/api/routes/publishing/events.ts";
import type { RetryPosition } from "../packages/server/src/storage/port.ts";
import type { Act, ReadResult } from "./happenings.ts";
import type { SimNode } from "./nodes/node.ts";
import type { Mood, Step } from "./plan.ts";
import type { Random } from "./random.ts";
import { poll } from "./reader.ts";
import type { World } from "./world.ts";

/** How long a client waits for an answer, milliseconds. */
const PATIENCE_MS = 60_000;
const TRIES = 4;
const REPLAY_STEP = 20;
const RETRY_STEP = 20;

export interface Project {
	readonly index: number;
	id: string | null;
	readonly webhooks: Map<number, Webhook>;
	readonly orders: { id: string; leftCents: number }[];
}

export interface Webhook {
	readonly project: Project;
	readonly index: number;
	id: string | null;
	url: string;
	urls: number;
	mood: Mood;
	/** What its owner did last: an owner does one thing after another. */
	busy: Promise<void>;
}

/** What a node answered. */
interface Answer {
	/** Whether it did what was asked. */
	readonly done: boolean;
	/** In words, or the secret of a rotation. */
	readonly answer: string;
	readonly events?: readonly { readonly id: string; readonly seq: number }[];
	readonly webhookId?: string;
	readonly read?: ReadResult;
}

const STRICT = new Set(EVENT_TYPES.filter(({ strict }) => strict).map(({ type }) => type));

export class People {
	readonly projects = new Map<number, Project>();
	readonly #world: World;
	#calls = 0;
	/** Calls that have not come to an end. */
	underWay = 0;

	constructor(world: World) {
		this.#world = world;
	}

	project(index: number): Project {
		let project = this.projects.get(index);
		if (!project) {
			project = { index, id: null, webhooks: new Map(), orders: [] };
			this.projects.set(index, project);
		}
		return project;
	}

	webhook(project: number, index: number): Webhook {
		const owner = this.project(project);
		let webhook = owner.webhooks.get(index);
		if (!webhook) {
			const busy = Promise.resolve();
			webhook = { project: owner, index, id: null, url: "", urls: 0, mood: [[1, "ok"]], busy };
			owner.webhooks.set(index, webhook);
		}
		return webhook;
	}

	/** From now on receivers either accept everything or fail always. */
	calm(random: Random): void {
		for (const { webhooks } of this.projects.values())
			for (const webhook of webhooks.values()) webhook.mood = random.chance(0.85) ? [[1, "ok"]] : [[1, "error"]];
	}

	/** Does what a step says, if it is people's business. */
	async perform(step: Step): Promise<void> {
		this.underWay += 1;
		try {
			await this.#perform(step, this.#world.random("step", step.id));
		} finally {
			this.underWay -= 1;
		}
	}

	async #perform(step: Step, random: Random): Promise<void> {
		switch (step.do) {
			case "project": {
				const project = this.project(step.project);
				const name = `p${step.project}`;
				await this.#call(
					{ act: "fact", projectId: "", what: `create store ${name}` },
					random,
					1,
					async ({ projects }) => {
						project.id = (await projects.create({ name })).id;
						return { done: true, answer: "created" };
					},
				);
				return;
			}
			case "publish":
				return this.#publish(step, random);
			case "orders":
			case "refund":
			case "basket":
			case "subscription":
				return this.#report(step, random);
			case "app": {
				const { id: projectId } = this.project(step.project);
				if (projectId === null) return;
				const { installed } = step;
				await this.#call({ act: "app", projectId, installed }, random, TRIES, async ({ projects }) => {
					const project = await projects.setDeveloperApp(projectId, installed);
					return { done: project !== null, answer: project === null ? "not there" : "done" };
				});
				return;
			}
			case "mood":
				this.webhook(step.project, step.webhook).mood = step.mood;
				return;
			case "read":
				void this.#read(step, random);
				return;
			case "replay project":
				return this.#replayMatching(this.project(step.project).id, null, random);
			default:
				if ("webhook" in step && step.do !== "name") {
					const webhook = this.webhook(step.project, step.webhook);
					webhook.busy = webhook.busy.then(() => this.#change(step, webhook, random));
					await webhook.busy;
				}
		}
	}

	async #publish({ types, project, id, bytes }: Extract<Step, { do: "publish" }>, random: Random): Promise<void> {
		const projectId = this.project(project).id;
		if (projectId === null) return;
		const drafts = types.map((type, n) => {
			const { sample } = eventTypeEntry(type as Parameters<typeof eventTypeEntry>[0]);
			const data = STRICT.has(type as never) ? sample : { ...sample, n, filler: "x".repeat(bytes) };
			return { id: `evt_${id}-${n}`, type, data: JSON.stringify(data) };
		});
		const act: Act = { act: "publish", projectId, ids: drafts.map((draft) => draft.id) };
		await this.#call(act, random, TRIES, async ({ engine }) => {
			const result = await engine.publish(projectId, drafts);
			const done = result.kind === "published";
			return { done, answer: result.kind, ...(done && { events: result.events }) };
		});
	}

	/** Polls until the world ends. */
	async #read({ id: reader, project, everyMs }: Extract<Step, { do: "read" }>, random: Random): Promise<void> {
		const projectId = this.project(project).id;
		if (projectId === null) return;
		let position: LogPosition = { after: 0, epoch: undefined };
		while (!this.#world.isOver) {
			let next = position;
			let hasMore = false;
			const act: Act = { act: "read", projectId, reader, after: position.after };
			const isDone = await this.#call(act, random, 1, async ({ storage }) => {
				const result = await poll(storage.seen, projectId, position);
				({ position: next, hasMore } = result);
				return { done: true, answer: result.text, read: result.read };
			});
			if (isDone) position = next;
			await new Promise<void>((resolve) => this.#world.timeline.after(isDone && hasMore ? 1 : everyMs, resolve));
		}
	}

	async #report(
		step: Extract<Step, { do: "orders" | "refund" | "basket" | "subscription" }>,
		random: Random,
	): Promise<void> {
		const project = this.project(step.project);
		const projectId = project.id;
		if (projectId === null) return;
		const fact = (what: string, report: (node: SimNode) => Promise<{ kind: string; events?: Answer["events"] }>) =>
			this.#call({ act: "fact", projectId, what }, random, TRIES, async (node) => {
				const result = await report(node);
				const isTold = result.kind === "recorded" || result.kind === "repeated";
				return { done: isTold, answer: result.kind, ...(isTold && { events: result.events! }) };
			});
		const { items } = eventTypeEntry("basket.abandoned").sample as { items: Record<string, unknown>[] };
		const customer_email = `customer${step.id % 7}@example.com`;
		switch (step.do) {
			case "orders":
				for (let n = 0; n < step.count; n++) {
					const order_id = `order-${step.id}-${n}`;
					const basket = step.basket === null ? {} : { basket_id: `basket-${step.basket}` };
					const amount_cents = random.between(100, 10_000);
					const order = { order_id, customer_email, amount_cents, currency: "EUR", items, ...basket };
					await fact(`order ${order_id}`, ({ store }) => store.orders.record(projectId, order));
					project.orders.push({ id: order_id, leftCents: amount_cents });
				}
				return;
			case "refund": {
				const order = project.orders.at(-1);
				if (!order) return;
				const amount_cents = Math.max(1, Math.floor(order.leftCents * step.part));
				const refund = { refund_id: `refund-${step.id}`, amount_cents };
				await fact(`refund of ${order.id}`, ({ store }) => store.orders.refund(projectId, order.id, refund));
				return;
			}
			case "basket": {
				const basket = `basket-${step.basket}`;
				const input = { items: step.isEmpty ? [] : items, customer_email };
				await fact(`touch of ${basket}`, ({ store }) => store.baskets.touch(projectId, basket, input));
				return;
			}
			case "subscription": {
				const subscription_id = `subscription-${step.subscription}`;
				const input = { subscription_id, customer_email, plan: "pro" };
				if (step.ends)
					await fact(`end of ${subscription_id}`, ({ store }) =>
						store.subscriptions.cancel(projectId, subscription_id),
					);
				else await fact(`${subscription_id}`, ({ store }) => store.subscriptions.record(projectId, input));
			}
		}
	}

	async #change(step: Extract<Step, { webhook: number }>, webhook: Webhook, random: Random): Promise<void> {
		const { id: projectId } = webhook.project;
		if (projectId === null) return;
		if (step.do === "webhook") {
			if (webhook.id === null) await this.#create(step, webhook, projectId, random);
			return;
		}
		const webhookId = webhook.id;
		if (webhookId === null) return;
		const of = { projectId, webhookId };
		switch (step.do) {
			case "rotate":
				await this.#call({ act: "rotate", ...of }, random, TRIES, async ({ webhooks }) => {
					const secret = await webhooks.rotateSecret(projectId, webhookId);
					return { done: secret !== null, answer: secret ?? "not there" };
				});
				break;
			case "delete":
				webhook.id = null;
				await this.#call({ act: "delete", ...of }, random, TRIES, async ({ webhooks }) => {
					const done = await webhooks.delete(projectId, webhookId);
					return { done, answer: done ? "deleted" : "not there" };
				});
				break;
			case "pause":
				await this.#update(of, { status: "paused" }, random);
				break;
			case "resume":
				await this.#update(of, { status: "active", from: step.from }, random);
				break;
			case "types":
				await this.#update(of, { events: step.types }, random);
				break;
			case "width":
				await this.#update(of, { max_in_flight: step.maxInFlight }, random);
				break;
			case "url":
				webhook.url = this.#world.urlOf(webhook);
				await this.#update(of, { url: webhook.url }, random);
				break;
			case "test": {
				const { type } = random.pick(EVENT_TYPES);
				await this.#call({ act: "test", ...of, type }, random, 1, async ({ engine }) => {
					const { kind } = await engine.sendTest(projectId, webhookId, type);
					return { done: kind === "queued", answer: kind };
				});
				break;
			}
			case "replay one":
				await this.#replayOne(projectId, webhookId, random);
				break;
			case "replay failed":
				await this.#replayMatching(projectId, webhookId, random);
				break;
			case "retry one":
				await this.#retryOne(projectId, webhookId, random);
				break;
			case "retry all":
				await this.#retryAll(projectId, webhookId, random);
				break;
		}
	}

	async #create(
		step: Extract<Step, { do: "webhook" }>,
		webhook: Webhook,
		projectId: string,
		random: Random,
	): Promise<void> {
		webhook.mood = step.mood;
		const url = this.#world.urlOf(webhook);
		webhook.url = url;
		const input = { url, events: step.types, max_in_flight: step.maxInFlight };
		await this.#call({ act: "create", projectId, url }, random, 1, async ({ webhooks }) => {
			const result = await webhooks.create(projectId, input);
			if (result.kind !== "created") return { done: false, answer: result.kind };
			webhook.id = result.view.webhook.id;
			return { done: true, answer: result.secret, webhookId: webhook.id };
		});
	}

	async #update(
		of: { readonly projectId: string; readonly webhookId: string },
		change: Parameters<SimNode["webhooks"]["update"]>[2],
		random: Random,
	): Promise<void> {
		const { max_in_flight: maxInFlight, ...others } = change;
		const patch = { ...others, ...(maxInFlight !== undefined && { maxInFlight }) };
		await this.#call({ act: "update", ...of, patch }, random, TRIES, async ({ webhooks }) => {
			const result = await webhooks.update(of.projectId, of.webhookId, change);
			// For the response, as the API does.
			if (result.kind === "updated") await webhooks.view(result.after);
			return { done: result.kind === "updated", answer: result.kind };
		});
	}

	/** Replays what the log shows: an owner looks at it first. */
	async #replayOne(projectId: string, webhookId: string, random: Random): Promise<void> {
		let eventId = "";
		await this.#call({ act: "fact", projectId, what: "look at the log" }, random, 1, async ({ storage }) => {
			const { rows } = await storage.seen.listAttemptSummaries({
				projectId,
				filter: { webhookIds: [webhookId] },
				page: { limit: 20 },
			});
			if (rows.length > 0) eventId = random.pick(rows).eventId;
			return { done: true, answer: `${rows.length} entries` };
		});
		if (eventId === "") return;
		await this.#call(
			{ act: "replay", projectId, webhookId, eventId },
			random,
			1,
			async ({ storage, engine, clock }) => {
				const stored = storage.seen.replayDelivery({ projectId, webhookId, eventId, at: clock.now() });
				const result = await engine.wakeAfter(projectId, stored, ({ kind }) => kind === "queued");
				return { done: result.kind === "queued", answer: result.kind };
			},
		);
	}

	/** Retries the delivery that waits longest, which an owner sees on the webhook's page. */
	async #retryOne(projectId: string, webhookId: string, random: Random): Promise<void> {
		await this.#call({ act: "retry now", projectId, webhookId }, random, 1, async ({ storage, engine, clock }) => {
			const waiting = await storage.seen.listWaitingRetries({ projectId, webhookId, limit: 20 });
			const eventId = waiting.at(-1)?.eventId;
			if (eventId === undefined) return { done: false, answer: "nothing waits" };
			const deliveries = [{ webhookId, eventId }];
			const stored = storage.seen.retryDeliveries({ projectId, deliveries, at: clock.now() });
			const [result] = await engine.wakeAfter(projectId, stored, ([result]) => result!.kind === "queued");
			return { done: result!.kind === "queued", answer: result!.kind };
		});
	}

	/** Retries everything that waits, step by step, as the API's route does. */
	async #retryAll(projectId: string, webhookId: string, random: Random): Promise<void> {
		let at: number | null = null;
		let left: number | null = null;
		let after: RetryPosition | null = null;
		for (let steps = 0; steps < 100; steps++) {
			const behind: RetryPosition | undefined = after ?? undefined;
			after = null;
			await this.#call(
				{ act: "retry now", projectId, webhookId },
				random,
				TRIES,
				async ({ storage, engine, clock }) => {
					at = Math.min(at ?? clock.now(), clock.now());
					const waiting: number =
						left ?? (await storage.seen.countRetries({ projectId, webhookId, at, limit: 100_000 })).count;
					const limit = Math.min(RETRY_STEP, waiting);
					if (limit === 0) return { done: true, answer: "nothing waits" };
					const step = { projectId, webhookId, at, limit, after: behind };
					const { seqs, next } = await engine.wakeAfter(
						projectId,
						storage.seen.retryWaiting(step),
						({ seqs }) => seqs.length > 0,
					);
					left = waiting - seqs.length;
					after = next;
					return { done: true, answer: `${seqs.length} are due` };
				},
			);
			if (after === null) return;
		}
	}

	/** Replays step by step, as the API's route has clients do. */
	async #replayMatching(projectId: string | null, webhookId: string | null, random: Random): Promise<void> {
		if (projectId === null) return;
		let after: string | null = "";
		let before: number | null = null;
		for (let steps = 0; after !== null && steps < 100; steps++) {
			const behind: string = after;
			after = null;
			await this.#call(
				{ act: "replay matching", projectId, webhookId },
				random,
				TRIES,
				async ({ storage, engine, clock }) => {
					const now = clock.now();
					before = Math.min(before ?? now, now);
					const selection = { statuses: ["failed" as const], ...(webhookId !== null && { webhookIds: [webhookId] }) };
					const matching = { projectId, selection, at: before, limit: REPLAY_STEP, after: behind || undefined };
					const { count, next } = await engine.wakeAfter(
						projectId,
						storage.seen.replayMatching(matching),
						({ count }) => count > 0,
					);
					after = next;
					return { done: true, answer: `${count} begun` };
				},
			);
		}
	}

	/** Asks a node, and another one if no answer comes. @returns whether one came that says that it was done */
	async #call(act: Act, random: Random, tries: number, run: (node: SimNode) => Promise<Answer>): Promise<boolean> {
		const { timeline } = this.#world;
		for (let tried = 0; tried < tries; tried++) {
			const node = this.#world.nodeFor(random);
			if (!node) {
				await new Promise<void>((resolve) => timeline.after(1_000, resolve));
				tried -= this.#world.isOver ? 0 : 1;
				continue;
			}
			const answer = await this.#ask(act, node, run);
			if (answer !== null && answer.answer !== "locked" && answer.answer !== "busy") return answer.done;
			await new Promise<void>((resolve) => timeline.after(random.between(200, 5_000), resolve));
		}
		return false;
	}

	#ask(act: Act, node: SimNode, run: (node: SimNode) => Promise<Answer>): Promise<Answer | null> {
		const { timeline } = this.#world;
		const call = ++this.#calls;
		const askedAt = timeline.now();
		this.#world.tell({ kind: "asked", call, node: node.name, act });
		return new Promise((resolve) => {
			let isOver = false;
			const unanswered = (why: string): void => {
				if (isOver) return;
				isOver = true;
				this.#world.tell({ kind: "unanswered", call, askedAt, act, why });
				resolve(null);
			};
			const patience = timeline.after(PATIENCE_MS, () => unanswered("no answer came in time"));
			node.host.run(() => {
				run(node).then(
					(answer) => {
						if (isOver || node.host.isDead) return;
						isOver = true;
						patience.cancel();
						this.#world.tell({ kind: "answered", call, askedAt, act, ...answer });
						resolve(answer);
					},
					(error: Error) => {
						if (node.host.isDead) return;
						patience.cancel();
						unanswered(error.message);
					},
				);
			});
		});
	}
}
