/** Webhooks as their owners see them. Creating, changing and deleting their lanes is native to each engine. */
import type { Page, ProjectRef, Webhook, WebhookRef } from "../port/registry.ts";
import { Fragment, fragment, sql } from "./sql.ts";
import { findProject, holdProject, row, rows, type Steps, together, wake } from "./verb.ts";

type WebhookRow = Omit<Webhook, "projectId" | "events" | "standardWebhooks" | "hasStandardDigest"> & {
	readonly events: string;
	/** SQLite has no booleans. */
	readonly standardWebhooks: boolean | number;
	readonly hasStandardDigest: boolean | number;
};

/** The types that `webhooks w` subscribes to, as JSON in any order. */
const EVENTS = new Fragment({
	postgres: `array_to_json(ARRAY(
		SELECT t.name
		FROM posthorn.subscriptions s
			CROSS JOIN LATERAL (SELECT name FROM posthorn.event_types WHERE code = s.type OFFSET 0) t
		WHERE s.project_no = w.project_no AND s.webhook_no = w.no
	))::text`,
	sqlite: `(
		SELECT json_group_array(t.name) FROM subscriptions s CROSS JOIN event_types t ON t.code = s.type
		WHERE s.webhook_no = w.no
	)`,
});
const WEBHOOK = fragment(
	`w.id, w.url, w.description, w.status, w.max_in_flight AS "maxInFlight", w.created_at AS "createdAt",
		w.standard_webhooks AS "standardWebhooks", w.sealed_standard_digest IS NOT NULL AS "hasStandardDigest"`,
);

const toWebhook = (projectId: string, { events, ...webhook }: WebhookRow): Webhook => {
	return {
		...webhook,
		projectId,
		events: (JSON.parse(events) as string[]).sort(),
		standardWebhooks: Boolean(webhook.standardWebhooks),
		hasStandardDigest: Boolean(webhook.hasStandardDigest),
	};
};

export function* getWebhook({ projectId, webhookId }: WebhookRef): Steps<Webhook | null> {
	const project = yield* findProject(projectId);
	const found = yield* row<WebhookRow>(sql`
		SELECT ${WEBHOOK}, ${EVENTS} AS events FROM posthorn.webhooks w
		WHERE w.project_no = ${project} AND w.id = ${webhookId} AND w.deleted_at IS NULL`);
	return found === undefined ? null : toWebhook(projectId, found);
}

/** By id. */
export function* listWebhooks({ projectId, after = "", limit }: Page & ProjectRef): Steps<Webhook[]> {
	const project = yield* findProject(projectId);
	const found = yield* rows<WebhookRow>(sql`
		SELECT ${WEBHOOK}, ${EVENTS} AS events FROM posthorn.webhooks w
		WHERE w.project_no = ${project} AND w.id > ${after} AND w.deleted_at IS NULL ORDER BY w.id LIMIT ${limit}`);
	return found.map((each) => toWebhook(projectId, each));
}

export function* rotateSecret({
	projectId,
	webhookId,
	sealedDigest,
	sealedStandardDigest = null,
}: WebhookRef & {
	readonly sealedDigest: Uint8Array;
	readonly sealedStandardDigest?: Uint8Array | null;
}): Steps<boolean> {
	const project = yield* findProject(projectId);
	if (project === null) return false;
	const [, rotated] = yield* together(
		holdProject(project),
		sql`
			UPDATE posthorn.webhooks SET sealed_digest = ${sealedDigest}, sealed_standard_digest = ${sealedStandardDigest}
			WHERE project_no = ${project} AND id = ${webhookId} AND deleted_at IS NULL RETURNING no`,
	);
	if (rotated.length === 0) return false;
	yield* together(wake(project));
	return true;
}
