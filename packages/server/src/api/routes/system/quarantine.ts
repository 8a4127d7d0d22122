import { isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { actorOf, type Principal } from "../../../accounts/index.ts";
import { quarantineNotice, quarantineText } from "../../../engine/quarantine.ts";
import { healthWindowStart } from "../../../registry/health.ts";
import type { WebhookView } from "../../../registry/webhooks.ts";
import type { Project, WebhookHealth } from "../../../storage/port.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { id, list, Name, PageQuerySchema, pageById, Time, TimeOrNull, Type } from "../../schema.ts";
import { Backlog } from "../webhooks/webhooks.ts";

const route = routeIn("System");

export const QuarantineState = Type.Object(
	{
		active: Type.Boolean({ description: "Whether the database was restored from a backup and nothing is sent yet." }),
		since: Type.Union([Time, Type.Null()], { description: "When it was restored." }),
		backup_at: Type.Union([Time, Type.Null()], {
			description: "The latest time that the backup contains, at most a minute before it was taken.",
		}),
		detail: Type.Union([Type.String(), Type.Null()], {
			description:
				"What happened, and what to do. For the operator and owners, it adds that access is as of the backup.",
		}),
	},
	{ title: "QuarantineState" },
);

export const QuarantineRelease = Type.Object(
	{
		...QuarantineState.properties,
		released: Type.Boolean({
			description: "Whether this call released the database. If not, it wasn't in quarantine, or no longer.",
		}),
	},
	{ title: "QuarantineRelease" },
);

const QuarantinedWebhook = Type.Object(
	{
		id: id("wh", "webhook"),
		url: Type.String(),
		description: Type.String(),
		status: Type.Enum(["active", "paused"], { type: "string", description: "A paused webhook gets nothing." }),
		backlog: Backlog,
		waiting: Type.Object(
			{ count: Type.Integer({ minimum: 0 }), next_at: TimeOrNull },
			{ description: "Pending retries and replays." },
		),
	},
	{ title: "QuarantinedWebhook" },
);

export const QuarantinedProject = Type.Object(
	{
		id: id("proj", "project"),
		name: Name,
		webhooks: Type.Array(QuarantinedWebhook, { description: "Webhooks with pending deliveries." }),
	},
	{ title: "QuarantinedProject" },
);

export const QuarantinedList = list(QuarantinedProject);

type QuarantineParts = Pick<ApiParts, "quarantine" | "storage" | "webhooks" | "clock" | "logger">;

/** What an operator looks at after a restore, before anything is sent. */
export function quarantineRoutes({ quarantine, storage, webhooks, clock, logger }: QuarantineParts): Route[] {
	/** The operator and owners can revoke access that the restore has brought back. Others needn't know of it. */
	async function mayRevoke(principal: Principal): Promise<boolean> {
		if (principal.kind !== "person") return principal.kind === "operator";
		const { id, operator } = principal.account;
		return operator || (await storage.listMemberships({ accountId: id })).some(({ role }) => role === "owner");
	}

	async function present(principal: Principal): Promise<Static<typeof QuarantineState>> {
		const mark = (await quarantine?.read()) ?? null;
		const textOf = mark !== null && (await mayRevoke(principal)) ? quarantineText : quarantineNotice;
		return {
			active: mark !== null,
			since: isoTimeOrNull(mark?.since ?? null),
			backup_at: isoTimeOrNull(mark?.backupAt ?? null),
			detail: mark && textOf(mark),
		};
	}

	async function waitingOf({ id, name }: Project): Promise<Static<typeof QuarantinedProject>> {
		const views = await webhooks.all(id);
		const since = healthWindowStart(clock.now());
		const healths = views.length === 0 ? [] : await storage.readHealth({ projectId: id, since });
		const byId = new Map(healths.map((health) => [health.webhookId, health]));
		const all = views.map((view) => presentWebhook(view, byId.get(view.webhook.id)));
		return { id, name, webhooks: all.filter(({ backlog, waiting }) => backlog.events > 0 || waiting.count > 0) };
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
				'By project, oldest first, with the webhooks that have pending deliveries. To send none of it to a webhook, `PATCH` it with `"from": "now"` before the release: whether it is paused stays as it is.',
			access: "operator",
			query: PageQuerySchema,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "A page of projects.", schema: QuarantinedList },
			async handler({ query }) {
				const page = await pageById(
					"project",
					query,
					(which) => storage.listProjects(which),
					(project) => project,
				);
				const data: Static<typeof QuarantinedProject>[] = [];
				for (const project of page.data) data.push(await waitingOf(project));
				return { data, next_cursor: page.next_cursor };
			},
		}),
		route("POST", "/v1/quarantine/release", "releaseQuarantine", {
			summary: "Release the database",
			description:
				"All nodes send pending deliveries, in order, within a second. Without a quarantine it does nothing.",
			access: "operator",
			success: { status: 200, description: "The database is released.", schema: QuarantineRelease },
			async handler({ principal }) {
				const released = (await quarantine?.release()) ?? false;
				if (released) logger.warn({ by: actorOf(principal) }, "an operator released the database from quarantine");
				return { ...(await present(principal)), released };
			},
		}),
	];
}

function presentWebhook(
	{ webhook, backlog }: WebhookView,
	health: WebhookHealth | undefined,
): Static<typeof QuarantinedWebhook> {
	const { id, url, description, status } = webhook;
	const { count = 0, nextAt = null } = health?.waiting ?? {};
	return {
		id,
		url,
		description,
		status,
		backlog: { events: backlog.events, oldest_at: isoTimeOrNull(backlog.oldestAt) },
		waiting: { count, next_at: isoTimeOrNull(nextAt) },
	};
}
