import type { Workspace } from "../workspace.ts";
import type { Api } from "./api.ts";
import type { ReferenceFields } from "./payload.ts";
import { WorkerProcess } from "./worker-process.ts";

const MAX_BATCH = 1_000;
/** Events published per round over all projects, so that many webhooks have work early on. */
const ROUND_EVENTS = 10_000;
const MIN_BATCH = 50;
/** Enough that single commits don't limit publishing, which isn't measured. */
const MAX_IN_FLIGHT = 32;
/** For when the rate isn't measured. */
const CALM_IN_FLIGHT = 4;

export interface PublishTask {
	readonly origin: string;
	readonly key: string;
	readonly projectIds: readonly string[];
	readonly eventsPerProject: number;
	/** The number in each project's first event; it counts up from there. */
	readonly firstNumber: number;
	/** Events per request. */
	readonly batch: number;
	/** Concurrent requests. */
	readonly inFlight: number;
	/** Without padding to 1 KB, and with few concurrent requests: for filling a log, not for measuring. */
	readonly small: boolean;
	/** With an order id and an e-mail address in these fields. */
	readonly references?: ReferenceFields | undefined;
}

export interface Publication
	extends Pick<PublishTask, "projectIds" | "eventsPerProject" | "firstNumber" | "small" | "references"> {
	/** By default, large requests: the fewer, the more projects there are. */
	readonly eventsPerRequest?: number | undefined;
}

/** Idle publisher processes. They are reused, because a store's own code would be warm, too. */
const idle = new WeakMap<Workspace, WorkerProcess<PublishTask, null>[]>();

/** Publishes over the API from a separate process. Resolves when every call got its response. */
export async function publish(
	workspace: Workspace,
	api: Api,
	{ eventsPerRequest, ...publication }: Publication,
): Promise<void> {
	const projects = publication.projectIds.length;
	const waiting = idle.get(workspace) ?? [];
	idle.set(workspace, waiting);
	const worker =
		waiting.pop() ?? new WorkerProcess<PublishTask, null>(workspace, new URL("./publish-process.ts", import.meta.url));
	await worker.run({
		...publication,
		origin: api.origin,
		key: api.key,
		batch: eventsPerRequest ?? Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.floor(ROUND_EVENTS / projects))),
		inFlight: Math.min(publication.small ? CALM_IN_FLIGHT : MAX_IN_FLIGHT, projects),
	});
	waiting.push(worker);
}
