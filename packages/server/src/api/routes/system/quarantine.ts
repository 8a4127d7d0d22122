import { isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { actorOf, type Principal } from "../../../accounts/index.ts";
import { quarantineNotice, quarantineText } from "../../../engine/quarantine.ts";
import { NO_FIGURES, readHealthOf } from "../../../registry/health.ts";
import type { WebhookView } from "../../../registry/webhooks.ts";
import type { Project, WebhookHealth } from "../../../storage/port.ts";
import { found } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	cursorParts,
	encodeCursor,
	id,
	list,
	Name,
	orNull,
	PageQuerySchema,
	Time,
	Type,
} from "../../schema.ts";
import { presentWaiting, Waiting } from "../webhooks/insight.ts";
import { Backlog, presentBacklog } from "../webhooks/webhooks.ts";

const route = routeIn("System", "operator");

const QuarantineState = component("QuarantineState")({
	active: Type.Boolean({ description: "Whether the database was restored from a backup and nothing is sent yet." }),
	since: orNull(Time, "When it was restored."),
	backup_at: orNull(Time, "The latest time that the backup contains, at most a minute before it was taken."),
	detail: orNull(
		Type.String(),
		"What happened, and what to do. For the operator and owners, it adds that access is as of the backup.",
	),
});

const QuarantineRelease = component("QuarantineRelease")({
	...QuarantineState.properties,
	released: Type.Boolean({
		description: "Whether this call released the database. False if it wasn't in quarantine.",
	}),
});

const QuarantinedWebhook = component("QuarantinedWebhook")({
	id: id("webhook"),
	url: Type.String(),
	description: Type.String(),
	status: Type.Enum(["active", "paused"], { description: "A paused webhook gets nothing." }),
	backlog: Backlog,
	waiting: Waiting,
});

const QuarantinedProject = component("QuarantinedProject")({
	id: id("project"),
	name: Name,
	webhooks: Type.Array(QuarantinedWebhook, { description: "Webhooks with pending deliveries." }),
});

/** A page ends early once it has this many webhooks: each may have a long URL, and a project may have thousands. */
const MAX_WEBHOOKS = 500;
const WEBHOOKS_READ = 100;
/** Where a page ended: with this project, or within it after this webhook. */
const POSITION = /^(proj_[0-9a-z]{26})(?:\.(wh_[0-9a-z]{26}))?$/;

interface PagePosition {
	readonly projectId: string;
	readonly webhookId: string | undefined;
}

function decodePosition(cursor: string): PagePosition {
	const [projectId, webhookId] = cursorParts(cursor, POSITION);
	return { projectId: projectId!, webhookId };
}

/** What an operator looks at after a restore, before anything is sent. */
export function quarantineRoutes({ quarantine, storage, webhooks, clock, logger }: ApiParts): Route[] {
	/** The operator and owners can revoke access that the restore has brought back. Others needn't know of it. */
	async function mayRevoke(principal: Principal): Promise<boolean> {
		if (principal.kind !== "person") return principal.kind === "operator";
		const { id, operator } = principal.account;
		return operator || (await storage.listMemberships({ accountId: id })).some(({ role }) => role === "owner");
	}

	async function present(principal: Principal): Promise<Static<typeof QuarantineState>> {
		const mark = await quarantine.read();
		const textOf = mark !== null && (await mayRevoke(principal)) ? quarantineText : quarantineNotice;
		return {
			active: mark !== null,
			since: isoTimeOrNull(mark?.since ?? null),
			backup_at: isoTimeOrNull(mark?.backupAt ?? null),
			detail: mark && textOf(mark),
		};
	}

	/** A project's webhooks after this one, until at least `most` have pending deliveries. */
	async function pendingOf(projectId: string, from: string | undefined, most: number) {
		const pending: Static<typeof QuarantinedWebhook>[] = [];
		let after = from;
		do {
			const views = await webhooks.list(projectId, { limit: WEBHOOKS_READ, after });
			const ids = views.map(({ webhook }) => webhook.id);
			const byId = await readHealthOf(storage, projectId, ids, clock.now());
			const shown = views.map((view) => presentWebhook(view, byId.get(view.webhook.id)));
			pending.push(...shown.filter(({ backlog, waiting }) => backlog.events > 0 || waiting.count > 0));
			after = views.length < WEBHOOKS_READ ? undefined : views.at(-1)!.webhook.id;
		} while (after !== undefined && pending.length < most);
		return { pending, next: after };
	}

	/** The projects of a page and the one after it. The first one may be continued. */
	async function projectsFrom(position: PagePosition | null, limit: number): Promise<Project[]> {
		if (position === null) return storage.listProjects({ limit: limit + 1 });
		const { projectId, webhookId } = position;
		const after = await storage.listProjects({ limit: limit + 1, after: projectId });
		return webhookId === undefined ? after : [found("project", await storage.getProject({ projectId })), ...after];
	}

	return [
		route("GET", "/v1/quarantine", "getQuarantine", {
			summary: "Get the quarantine's state",
			description:
				"After a restore nothing is sent until the operator releases the database: no deliveries, retries, replays or test events. Events are accepted and logged, and nothing expires.",
			access: "any",
			rate: "reads",
			success: { status: 200, description: "Whether the database is in quarantine.", schema: QuarantineState },
			handler: ({ principal }) => present(principal),
		}),
		route("GET", "/v1/quarantine/waiting", "listQuarantined", {
			summary: "List pending deliveries in quarantine",
			description:
				'By project, oldest first, with the webhooks that have pending deliveries. A project with many webhooks continues on the next page. To skip the pending deliveries of a webhook, `PATCH` it with `"from": "now"` before the release; it stays active or paused.',
			query: PageQuerySchema,
			heavy: true,
			success: { status: 200, description: "A page of projects.", schema: list(QuarantinedProject) },
			async handler({ query: { limit, cursor } }) {
				const position = cursor === undefined ? null : decodePosition(cursor);
				const projects = await projectsFrom(position, limit);
				const data: Static<typeof QuarantinedProject>[] = [];
				let room = MAX_WEBHOOKS;
				for (const { id, name } of projects.slice(0, limit)) {
					const from = id === position?.projectId ? position.webhookId : undefined;
					const { pending, next } = await pendingOf(id, from, room);
					data.push({ id, name, webhooks: pending });
					if (next !== undefined) return { data, next_cursor: encodeCursor(`${id}.${next}`) };
					room -= pending.length;
					if (room <= 0) break;
				}
				const isMore = data.length < projects.length;
				return { data, next_cursor: isMore ? encodeCursor(data.at(-1)!.id) : null };
			},
		}),
		route("POST", "/v1/quarantine/release", "releaseQuarantine", {
			summary: "Release the database",
			description:
				"All nodes send pending deliveries, in order, within a second. Without a quarantine it does nothing.",
			success: { status: 200, description: "The database is released.", schema: QuarantineRelease },
			async handler({ principal }) {
				const released = await quarantine.release();
				if (released) logger.warn({ by: actorOf(principal) }, "an operator released the database from quarantine");
				return { ...(await present(principal)), released };
			},
		}),
	];
}

function presentWebhook(
	{ webhook, backlog }: WebhookView,
	{ waiting }: Pick<WebhookHealth, "waiting"> = NO_FIGURES,
): Static<typeof QuarantinedWebhook> {
	const { id, url, description, status } = webhook;
	return { id, url, description, status, backlog: presentBacklog(backlog), waiting: presentWaiting(waiting) };
}
