import { Service, type ServiceOptions } from "../service.ts";
import type { Workspace } from "../workspace.ts";
import { EVENT_TYPE, type ReferenceFields } from "./payload.ts";
import { type Publication, publish } from "./publisher.ts";
import type { Receiver } from "./receiver.ts";

/** How often to poll the receiver's progress. */
const POLL_MS = 20;
/** If nothing arrives for this long, the remaining deliveries count as missing. */
const STALLED_MS = 20_000;

/** A service with its projects and webhooks, and how many events each project has published. */
export interface Stage {
	readonly service: Service;
	readonly receiver: Receiver;
	readonly workspace: Workspace;
	readonly projectIds: readonly string[];
	/** The number of webhooks per project, which is how many an event goes to. */
	readonly webhooks: readonly { readonly projectId: string; readonly id: string }[];
	published: number;
	/** Whether events have an order id and an e-mail address, and in which fields. */
	readonly references?: ReferenceFields;
	/** Undefined for the publisher's choice. */
	readonly eventsPerRequest?: number;
}

/** Starts a service and registers `fanout` webhooks for each project, each with its own path. */
export async function setStage(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	{ webhooks, fanout }: { readonly webhooks: number; readonly fanout: number },
): Promise<Stage> {
	const service = await Service.start(workspace, options);
	const { api } = service;
	const projectIds = await api.setUp(webhooks / fanout, (index) => api.createProject(`bench ${index}`));
	const firstPath = receiver.takePaths(webhooks);
	const registered = await api.setUp(webhooks, async (index) => {
		const projectId = projectIds[Math.floor(index / fanout)]!;
		const id = await api.createWebhook(projectId, `${receiver.origin}/w${firstPath + index}`, [EVENT_TYPE]);
		return { projectId, id };
	});
	return { service, receiver, workspace, projectIds, webhooks: registered, published: 0 };
}

/** Publishes the next events of every project. Resolves when every call got its response. */
export async function publishNext(stage: Stage, eventsPerProject: number, small = false): Promise<void> {
	const publication: Publication = {
		projectIds: stage.projectIds,
		eventsPerProject,
		firstNumber: stage.published,
		small,
		references: stage.references,
		eventsPerRequest: stage.eventsPerRequest,
	};
	stage.published += eventsPerProject;
	await publish(stage.workspace, stage.service.api, publication);
}

/** Waits until the receiver has this many distinct deliveries since its last reset, or stops getting any. */
export async function received(
	stage: Stage,
	expected: number,
	onCount: (count: number) => void,
	pollMs = POLL_MS,
): Promise<void> {
	// Polls the count, which is cheap, and only checks for duplicates at the end.
	const isComplete = async (count: number) => count >= expected && (await stage.receiver.stats()).distinct >= expected;
	await arrived(stage, isComplete, onCount, pollMs);
}

/**
 * Waits until the receiver has this many deliveries since its last reset, including repetitions, or stops getting any.
 *
 * @returns how many it has
 */
export function counted(at: Pick<Stage, "service" | "receiver">, expected: number): Promise<number> {
	return arrived(
		at,
		(count) => count >= expected,
		() => {},
		POLL_MS,
	);
}

async function arrived(
	{ service, receiver }: Pick<Stage, "service" | "receiver">,
	isComplete: (count: number) => boolean | Promise<boolean>,
	onCount: (count: number) => void,
	pollMs: number,
): Promise<number> {
	let count = 0;
	let since = performance.now();
	do {
		await new Promise((resolve) => setTimeout(resolve, pollMs));
		if (!service.isRunning) throw service.failure("The service ended while it was measured.");
		const now = await receiver.count();
		if (now === count) continue;
		count = now;
		since = performance.now();
		onCount(count);
	} while (performance.now() - since < STALLED_MS && !(await isComplete(count)));
	return count;
}
