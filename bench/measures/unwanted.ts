import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { IdSource } from "../../packages/server/src/base/ids.ts";
import { Seal } from "../../packages/server/src/base/seal.ts";
import { EVENT_TYPE } from "../load/payload.ts";
import type { Receiver } from "../load/receiver.ts";
import { counted } from "../load/stage.ts";
import { WorkerProcess } from "../load/worker-process.ts";
import type { Progress } from "../progress.ts";
import type { Unwanted } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { SingleTask } from "../single/publish-process.ts";
import type { Workspace } from "../workspace.ts";
import { REST_MS } from "./throughput.ts";

/** With the one that gets the event, as many as a project may have. */
const WEBHOOKS = 9_999;
const OTHER_TYPE = "chargeback.created";
const CONNECTIONS = 16;
const ROUNDS = 5;
const EVENTS_PER_S = 500;
const CREATE_AT_ONCE = 64;
/** The goal: at most this many times the cost without them. */
export const UNWANTED_MOST_TIMES = 1.1;

/**
 * CPU time of an event, published without other load and delivered to one webhook, in a project with 10,000 other webhooks that don't
 * want it, and in one without any, alternating. On SQLite.
 */
export async function measureUnwanted(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<Unwanted> {
	const path = join(workspace.makeFolder("unwanted"), "posthorn.db");
	const sealKey = randomBytes(32);
	const settings = {
		POSTHORN_DATABASE_URL: `sqlite:${path}`,
		POSTHORN_SEAL_KEY: sealKey.toString("base64"),
		POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
		POSTHORN_MAX_WEBHOOKS: String(WEBHOOKS + 1),
	};
	progress.start(`${WEBHOOKS.toLocaleString("en")} webhooks that don't want the event: setting up`);
	let service = await Service.start(workspace, { ...options, settings });
	const publisher = new WorkerProcess<SingleTask, null>(
		workspace,
		new URL("../single/publish-process.ts", import.meta.url),
	);
	try {
		const projects = await service.api.setUp(2, async (n) => {
			const id = await service.api.createProject(`unwanted ${n}`);
			await service.api.createWebhook(id, `${receiver.origin}/w${receiver.takePaths(1)}`, [EVENT_TYPE]);
			return id;
		});
		await service.stop();
		await createWebhooks(path, projects[0]!, new Seal([sealKey]));
		service = await Service.start(workspace, { ...options, settings });
		const events = Math.ceil((EVENTS_PER_S * seconds) / CONNECTIONS) * CONNECTIONS;
		const cost = async (projectId: string): Promise<number> => {
			await receiver.reset();
			const before = service.cpuMicros() ?? Number.NaN;
			await publisher.run({
				origin: service.api.origin,
				key: service.api.key,
				paths: Array(CONNECTIONS).fill(`/v1/projects/${projectId}/events`),
				connections: CONNECTIONS,
				requests: events,
				firstNumber: 0,
			});
			const count = await counted({ service, receiver }, events);
			if (count < events) throw new Error(`${events - count} deliveries are missing.`);
			await new Promise((resolve) => setTimeout(resolve, REST_MS));
			return ((service.cpuMicros() ?? Number.NaN) - before) / events;
		};
		for (const projectId of [...projects, ...projects]) await cost(projectId);
		progress.start(`${WEBHOOKS.toLocaleString("en")} webhooks that don't want the event`);
		const rounds: { readonly withUs: number; readonly withoutUs: number }[] = [];
		for (let round = 0; round < ROUNDS; round++) {
			rounds.push({ withUs: await cost(projects[0]!), withoutUs: await cost(projects[1]!) });
			progress.update(round + 1, ROUNDS);
		}
		const ratios = rounds.map(({ withUs, withoutUs }) => Number((withUs / withoutUs).toFixed(2)));
		progress.finish(`${median(ratios).toFixed(2)} times the CPU without them`);
		return {
			webhooks: WEBHOOKS,
			with_us: Number(median(rounds.map(({ withUs }) => withUs)).toFixed(1)),
			without_us: Number(median(rounds.map(({ withoutUs }) => withoutUs)).toFixed(1)),
			ratios,
			ratio: median(ratios),
		};
	} finally {
		await publisher.close();
		await service.stop();
	}
}

/** Over the API this would take minutes. */
async function createWebhooks(path: string, projectId: string, seal: Seal): Promise<void> {
	const clock = { now: () => Date.now() };
	const ids = new IdSource(clock);
	const storage = await openSqliteStorage({ path, clock });
	try {
		let left = WEBHOOKS;
		const create = async (): Promise<void> => {
			while (left-- > 0) {
				const id = ids.next("webhook");
				await storage.createWebhook({
					id,
					projectId,
					url: "https://localhost/unwanted",
					description: "",
					events: [OTHER_TYPE],
					maxInFlight: 1,
					createdAt: clock.now(),
					sealedDigest: seal.seal(randomBytes(32), id),
					maxPerProject: WEBHOOKS + 1,
				});
			}
		};
		await Promise.all(Array.from({ length: CREATE_AT_ONCE }, create));
	} finally {
		await storage.close();
	}
}
