import type { StillAllowed } from "../../../src/storage/port/accounts.ts";
import type {
	ChangedWebhook,
	DeletedWebhook,
	Page,
	Params,
	Project,
	StoredSecret,
	Webhook,
} from "../../../src/storage/port.ts";
import { BEYOND_ALL_IDS } from "../../../src/storage/shared/deliveries.ts";
import { mayStill } from "../../../src/storage/verbs/members.ts";
import { wakeForChange } from "./alarm.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import { hasRetries } from "./retries.ts";
import type { LaneRow, ProjectRow, WebhookRow } from "./rows.ts";

const toProject = ({ id, name, developer, createdAt }: ProjectRow): Project => {
	return { id, name, apps: developer ? ["developer"] : [], createdAt };
};

/** Cold verbs read a copy of it. */
function putProject({ database, tables }: MemoryNode, row: ProjectRow): void {
	tables.projects.put(row);
	database.cold.putProject(row);
}

export function createProject(node: MemoryNode, { id, name, apps, createdAt }: Project): void {
	const { database, tables } = node;
	const no = database.nextNo();
	putProject(node, { no, id, name, developer: apps.includes("developer"), createdAt });
	tables.logs.put({ projectNo: no, lastSeq: 0, lastTestSeq: 0, revision: 0 });
	tables.leases.put({ projectNo: no, wakeAt: null, holder: null, generation: 0, until: null, acknowledged: null });
}

export function getProject({ database }: MemoryNode, { projectId }: Params<"getProject">): Project | null {
	const row = database.project(projectId);
	return row === undefined ? null : toProject(row);
}

export function listProjects({ tables }: MemoryNode, { after = "", limit }: Page): Project[] {
	// No id ends with a space: this sorts right after `after`.
	const walk = tables.projects.by.id.ascending({ id: `${after} ` }, { id: BEYOND_ALL_IDS });
	return take(walk, limit).map(toProject);
}

export function renameProject(node: MemoryNode, { projectId, name, by }: Params<"renameProject">): Project | null {
	const row = node.database.project(projectId);
	if (row === undefined || !isAllowed(node, row, by)) return null;
	putProject(node, { ...row, name });
	return getProject(node, { projectId });
}

export function setDeveloperApp(node: MemoryNode, { projectId, installed }: Params<"setDeveloperApp">): Project | null {
	const project = node.database.project(projectId);
	if (project === undefined) return null;
	putProject(node, { ...project, developer: installed });
	if (!installed)
		for (const webhook of liveWebhooks(node, project.no)) node.tables.webhooks.put({ ...webhook, status: "paused" });
	wakeForChange(node, project);
	return getProject(node, { projectId });
}

/** By id. */
export function liveWebhooks({ tables }: MemoryNode, projectNo: number): WebhookRow[] {
	return [...tables.webhooks.by.live.ascending({ projectNo, id: "" }, { projectNo, id: BEYOND_ALL_IDS })];
}

/** A webhook that isn't deleted, with its project and its lane. */
export function findLive(
	{ database, tables }: MemoryNode,
	projectId: string,
	webhookId: string,
): { readonly project: ProjectRow; readonly webhook: WebhookRow; readonly lane: LaneRow } | null {
	const project = database.project(projectId);
	const webhook = project && database.webhook(project.no, webhookId);
	const lane = webhook && tables.lanes.get(webhook.no);
	return project && webhook && lane ? { project, webhook, lane } : null;
}

/** Whether a change by this member or key may still be made. */
export function isAllowed(node: MemoryNode, project: ProjectRow, by: StillAllowed | null | undefined): boolean {
	if (!by) return true;
	const { clock, database } = node;
	return database.cold.run("read", mayStill(project.no, by), { now: clock.now(), tellPeers: () => undefined });
}

/** The same, if the change by this member or key may still be made. */
export function findChangeable(
	node: MemoryNode,
	projectId: string,
	webhookId: string,
	by: StillAllowed | null | undefined,
) {
	const found = findLive(node, projectId, webhookId);
	return found !== null && isAllowed(node, found.project, by) ? found : null;
}

export function createWebhook(
	node: MemoryNode,
	{ maxPerProject, by, ...webhook }: Params<"createWebhook">,
): "created" | "limit" | "no_project" {
	const { database, tables } = node;
	const project = database.project(webhook.projectId);
	if (!project?.developer || !isAllowed(node, project, by)) return "no_project";
	if (liveWebhooks(node, project.no).length >= maxPerProject) return "limit";
	const { id, url, description, events, maxInFlight, createdAt, sealedDigest } = webhook;
	const { lastSeq } = tables.logs.get(project.no)!;
	const no = database.nextNo();
	tables.webhooks.put({
		...{ no, id, projectNo: project.no, url, description, status: "active", maxInFlight, createdAt },
		sealedDigest: Buffer.from(sealedDigest),
		sealedStandardDigest: copyOf(webhook.sealedStandardDigest),
		standardWebhooks: webhook.standardWebhooks ?? false,
		deletedAt: null,
		closing: false,
	});
	tables.lanes.put({
		...{ webhookNo: no, projectNo: project.no, position: lastSeq, open: [], skipThrough: 0 },
		...{ retriesWaiting: 0, deadLetters: 0 },
		subscriptions: new Map(events.map((type) => [type, lastSeq])),
	});
	wakeForChange(node, project);
	return "created";
}

export function getWebhook(node: MemoryNode, { projectId, webhookId }: Params<"getWebhook">): Webhook | null {
	const found = findLive(node, projectId, webhookId);
	return found === null ? null : toWebhook(projectId, found.webhook, found.lane);
}

export function listWebhooks(
	{ database, tables }: MemoryNode,
	{ projectId, after = "", limit }: Params<"listWebhooks">,
): Webhook[] {
	const project = database.project(projectId);
	if (project === undefined) return [];
	const from = { projectNo: project.no, id: `${after} ` };
	const walk = tables.webhooks.by.live.ascending(from, { projectNo: project.no, id: BEYOND_ALL_IDS });
	return take(walk, limit).map((row) => toWebhook(projectId, row, tables.lanes.get(row.no)!));
}

export function listDeletedWebhooks(
	{ database, tables }: MemoryNode,
	{ projectId, after = "", limit }: Params<"listDeletedWebhooks">,
): DeletedWebhook[] {
	const project = database.project(projectId);
	return [
		...tables.webhooks.by.deleted.ascending({ deletedAt: 0, no: 0 }, { deletedAt: Number.MAX_SAFE_INTEGER, no: 0 }),
	]
		.filter((row) => row.projectNo === project?.no && row.id > after)
		.map(({ id, url, description, deletedAt }) => ({ id, url, description, deletedAt: deletedAt! }))
		.sort((a, b) => (a.id < b.id ? -1 : 1))
		.slice(0, limit);
}

const copyOf = (bytes: Uint8Array | undefined): Buffer | null => (bytes ? Buffer.from(bytes) : null);

function toWebhook(projectId: string, row: WebhookRow, { subscriptions }: LaneRow): Webhook {
	const { id, url, description, status, maxInFlight, standardWebhooks, sealedDigest, createdAt } = row;
	const events = [...subscriptions.keys()].sort();
	const hasStandardDigest = row.sealedStandardDigest !== null;
	return {
		id,
		projectId,
		url,
		description,
		events,
		status,
		maxInFlight,
		standardWebhooks,
		hasStandardDigest,
		sealedDigest: copyOf(sealedDigest)!,
		createdAt,
	};
}

export function updateWebhook(
	node: MemoryNode,
	{ projectId, webhookId, patch, by }: Params<"updateWebhook">,
): ChangedWebhook | null {
	const found = findChangeable(node, projectId, webhookId, by);
	if (found === null) return null;
	const { project, webhook, lane } = found;
	if (patch.status === "active" && !project.developer) return null;
	const before = getWebhook(node, { projectId, webhookId })!;
	const { lastSeq } = node.tables.logs.get(project.no)!;
	node.tables.webhooks.put({
		...webhook,
		url: patch.url ?? webhook.url,
		description: patch.description ?? webhook.description,
		status: patch.status ?? webhook.status,
		maxInFlight: patch.maxInFlight ?? webhook.maxInFlight,
		standardWebhooks: patch.standardWebhooks ?? webhook.standardWebhooks,
	});
	// Types already subscribed to keep their start.
	const wanted = patch.events?.map((type) => [type, lane.subscriptions.get(type) ?? lastSeq] as const);
	node.tables.lanes.put({
		...lane,
		...(wanted && { subscriptions: new Map(wanted) }),
		...(patch.from === "now" && { position: lastSeq, open: [], skipThrough: lastSeq }),
	});
	wakeForChange(node, project);
	return { before, after: getWebhook(node, { projectId, webhookId })! };
}

export function rotateSecret(
	node: MemoryNode,
	{ projectId, webhookId, sealedDigest, sealedStandardDigest, by }: Params<"rotateSecret">,
): boolean {
	const found = findChangeable(node, projectId, webhookId, by);
	if (found === null) return false;
	node.tables.webhooks.put({
		...found.webhook,
		sealedDigest: Buffer.from(sealedDigest),
		sealedStandardDigest: copyOf(sealedStandardDigest),
	});
	wakeForChange(node, found.project);
	return true;
}

export function listSecrets(
	{ database, tables }: MemoryNode,
	{ projectId, after = "", limit }: Params<"listSecrets">,
): StoredSecret[] {
	const project = database.project(projectId);
	if (project === undefined) return [];
	const from = { projectNo: project.no, id: `${after} ` };
	const walk = tables.webhooks.by.live.ascending(from, { projectNo: project.no, id: BEYOND_ALL_IDS });
	return take(walk, limit).map(({ id, sealedDigest, sealedStandardDigest }) => {
		return { id, sealedDigest, sealedStandardDigest };
	});
}

export function resealSecret(
	node: MemoryNode,
	{ projectId, webhookId, from, sealedDigest, sealedStandardDigest }: Params<"resealSecret">,
): boolean {
	const found = findLive(node, projectId, webhookId);
	if (found === null || Buffer.compare(found.webhook.sealedDigest, from) !== 0) return false;
	node.tables.webhooks.put({
		...found.webhook,
		sealedDigest: Buffer.from(sealedDigest),
		sealedStandardDigest: copyOf(sealedStandardDigest ?? undefined),
	});
	return true;
}

export function deleteWebhook(node: MemoryNode, { projectId, webhookId, by }: Params<"deleteWebhook">): boolean {
	const found = findChangeable(node, projectId, webhookId, by);
	if (found === null) return false;
	const { project, webhook } = found;
	node.tables.webhooks.put({
		...webhook,
		sealedDigest: Buffer.alloc(0),
		sealedStandardDigest: null,
		deletedAt: node.clock.now(),
		closing: hasRetries(node, webhook.no),
	});
	node.tables.lanes.delete(webhook.no);
	wakeForChange(node, project);
	return true;
}
