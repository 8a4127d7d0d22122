/**
 * Projects, the units of order and tenancy, and webhooks, with their lanes and subscriptions. Each engine stores logs and
 * leases in its own way. Changes of webhooks hold all of the project, so that nothing moves meanwhile.
 */
import type { By } from "../port/accounts.ts";
import type {
	ChangedWebhook,
	DeletedWebhook,
	NewWebhook,
	Page,
	Project,
	ProjectRef,
	StoredSecret,
	Webhook,
	WebhookPatch,
	WebhookRef,
} from "../port/registry.ts";
import { holdMembers, mayStill } from "./members.ts";
import { among, Fragment, fragment, isTrue, ofProject, projectNo, type Query, sql } from "./sql.ts";
import { holdProject, now, openLog, row, rows, type Steps, together, wake } from "./verb.ts";

type ProjectRow = Omit<Project, "apps"> & { readonly developer: boolean };
const PROJECT = fragment('id, name, developer, created_at AS "createdAt"');
const toProject = ({ developer, ...project }: ProjectRow): Project => {
	return { ...project, apps: developer ? ["developer"] : [] };
};

export function* createProject({ id, name, apps, createdAt }: Project): Steps<void> {
	yield* together(
		sql`
			INSERT INTO posthorn.projects (id, name, developer, created_at)
			VALUES (${id}, ${name}, ${apps.includes("developer")}, ${createdAt})`,
		openLog(id),
	);
}

const ofId = (projectId: string) => sql<ProjectRow>`SELECT ${PROJECT} FROM posthorn.projects WHERE id = ${projectId}`;

export function* getProject({ projectId }: ProjectRef): Steps<Project | null> {
	const found = yield* row(ofId(projectId));
	return found === undefined ? null : toProject(found);
}

/** By id. */
export function* listProjects({ after = "", limit }: Page): Steps<Project[]> {
	const found = yield* rows<ProjectRow>(sql`
		SELECT ${PROJECT} FROM posthorn.projects WHERE id > ${after} ORDER BY id LIMIT ${limit}`);
	return found.map(toProject);
}

/** Null if the project doesn't exist, or `by` has lost the right. */
export function* renameProject(
	project: number,
	{ projectId, name, by }: ProjectRef & By & { readonly name: string },
): Steps<Project | null> {
	// In the order in which changes of members lock: the project's row, then the member's.
	yield* row(holdMembers(project));
	if (!(yield* mayStill(project, by))) return null;
	const [, [renamed]] = yield* together(
		sql`UPDATE posthorn.projects SET name = ${name} WHERE no = ${project}`,
		ofId(projectId),
	);
	return toProject(renamed!);
}

/**
 * Installs the Developer app, or removes it and pauses every webhook. Null if the project doesn't exist, or `by` has
 * lost the right.
 */
export function* setDeveloperApp(
	project: number,
	{ projectId, installed, by }: ProjectRef & By & { readonly installed: boolean },
): Steps<Project | null> {
	// In the order in which changes of members lock: the project's row, then the member's.
	yield* together(holdProject(project), holdMembers(project));
	if (!(yield* mayStill(project, by))) return null;
	const [, , , [changed]] = yield* together(
		sql`UPDATE posthorn.projects SET developer = ${installed} WHERE no = ${project}`,
		sql`
			UPDATE posthorn.webhooks SET status = 'paused'
			WHERE project_no = ${project} AND deleted_at IS NULL AND NOT ${installed}`,
		wake(project),
		ofId(projectId),
	);
	return toProject(changed!);
}

/**
 * A row if the project has the Developer app, for a caller that holds all of it: its removal pauses every webhook, and
 * none may become active afterwards.
 */
const ifInstalled = (project: number) =>
	sql`SELECT 1 FROM posthorn.projects WHERE no = ${project} AND developer${isTrue}`;

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
		w.standard_webhooks AS "standardWebhooks", w.sealed_standard_digest IS NOT NULL AS "hasStandardDigest",
		w.sealed_digest AS "sealedDigest"`,
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

export function* getWebhook(project: number, { projectId, webhookId }: WebhookRef): Steps<Webhook | null> {
	const found = yield* row<WebhookRow>(sql`
		SELECT ${WEBHOOK}, ${EVENTS} AS events FROM posthorn.webhooks w
		WHERE w.project_no = ${project} AND w.id = ${webhookId} AND w.deleted_at IS NULL`);
	return found === undefined ? null : toWebhook(projectId, found);
}

/** By id. */
export function* listWebhooks(project: number, { projectId, after = "", limit }: ProjectRef & Page): Steps<Webhook[]> {
	const found = yield* rows<WebhookRow>(sql`
		SELECT ${WEBHOOK}, ${EVENTS} AS events FROM posthorn.webhooks w
		WHERE w.project_no = ${project} AND w.id > ${after} AND w.deleted_at IS NULL ORDER BY w.id LIMIT ${limit}`);
	return found.map((each) => toWebhook(projectId, each));
}

/** By id. Retention removes them, once it has removed all that they delivered. */
export function* listDeletedWebhooks(project: number, { after = "", limit }: Page): Steps<DeletedWebhook[]> {
	return yield* rows<DeletedWebhook>(sql`
		SELECT id, url, description, deleted_at AS "deletedAt" FROM posthorn.webhooks
		WHERE project_no = ${project} AND id > ${after} AND deleted_at IS NOT NULL ORDER BY id LIMIT ${limit}`);
}

interface Held {
	readonly webhook: number;
	readonly lastSeq: number;
}

/** A webhook with its number, unless it was deleted. */
export const undeleted = (
	project: number,
	webhookId: string,
): Query<{ readonly no: number; readonly id: string }> => sql`
	SELECT no, id FROM posthorn.webhooks WHERE project_no = ${project} AND id = ${webhookId} AND deleted_at IS NULL`;

/** Holds all of the project; null if the webhook doesn't exist, or not for `by` anymore. */
export function* holdWebhook(project: number, { webhookId, by }: WebhookRef & By): Steps<Held | null> {
	const [lastSeq, [found]] = yield* together(holdProject(project), undeleted(project, webhookId));
	if (found === undefined || !(yield* mayStill(project, by))) return null;
	return { webhook: found.no, lastSeq };
}

/**
 * Registers a webhook whose cursor is at the end of the log. `limit` if the project already has `maxPerProject` webhooks,
 * counted in the same transaction; `no_project` if it doesn't exist or has no Developer app anymore, or `by` has no
 * access anymore.
 */
export function* createWebhook(
	project: number,
	p: NewWebhook & By & { readonly maxPerProject: number },
): Steps<"created" | "limit" | "no_project"> {
	const { id, url, description, events, maxInFlight, sealedDigest, createdAt } = p;
	const [lastSeq, [others], [installed]] = yield* together(
		holdProject(project),
		sql<{ count: number }>`
			SELECT count(*) AS count FROM posthorn.webhooks WHERE project_no = ${project} AND deleted_at IS NULL`,
		ifInstalled(project),
	);
	if (installed === undefined) return "no_project";
	if (!(yield* mayStill(project, p.by))) return "no_project";
	if (others!.count >= p.maxPerProject) return "limit";
	yield* together(
		sql`
			INSERT INTO posthorn.webhooks (
				project_no, id, url, description, status, max_in_flight, sealed_digest, sealed_standard_digest,
				standard_webhooks, created_at)
			VALUES (
				${project}, ${id}, ${url}, ${description}, 'active', ${maxInFlight}, ${sealedDigest},
				${p.sealedStandardDigest ?? null}, ${p.standardWebhooks ?? false}, ${createdAt})`,
		sql`
			INSERT INTO posthorn.lanes (${projectNo}webhook_no, position)
			SELECT ${projectNo}no, ${lastSeq} FROM posthorn.webhooks WHERE project_no = ${project} AND id = ${id}`,
		subscribe(project, id, events, lastSeq),
		wake(project),
	);
	return "created";
}

/** Types already subscribed to keep their start. */
const subscribe = (project: number, webhookId: string, events: readonly string[], lastSeq: number): Query => sql`
	INSERT INTO posthorn.subscriptions (${projectNo}webhook_no, type, from_seq)
	SELECT ${projectNo}w.no, t.code, ${lastSeq} FROM posthorn.webhooks w CROSS JOIN posthorn.event_types t
	WHERE w.project_no = ${project} AND w.id = ${webhookId} AND t.name ${among(events)}
	ON CONFLICT DO NOTHING`;

/** Null if the webhook doesn't exist, or can't be resumed because the Developer app was removed. */
export function* updateWebhook(
	project: number,
	p: WebhookRef & By & { readonly patch: WebhookPatch },
): Steps<ChangedWebhook | null> {
	const found = yield* holdWebhook(project, p);
	if (found === null) return null;
	const { webhook, lastSeq } = found;
	const before = (yield* getWebhook(project, p))!;
	const { url = null, description = null, status = null, maxInFlight = null, events, from } = p.patch;
	const { standardWebhooks = null } = p.patch;
	if (status === "active" && (yield* row(ifInstalled(project))) === undefined) return null;
	yield* together(
		sql`
			UPDATE posthorn.webhooks
			SET url = coalesce(${url}, url), description = coalesce(${description}, description),
				status = coalesce(${status}, status), max_in_flight = coalesce(${maxInFlight}, max_in_flight),
				standard_webhooks = coalesce(${standardWebhooks}, standard_webhooks)
			WHERE project_no = ${project} AND id = ${p.webhookId}`,
		...(events === undefined
			? []
			: [
					sql`
						DELETE FROM posthorn.subscriptions
						WHERE ${ofProject} ${project} AND webhook_no = ${webhook} AND type NOT IN (
							SELECT code FROM posthorn.event_types WHERE name ${among(events)}
						)`,
					subscribe(project, p.webhookId, events, lastSeq),
				]),
		...(from === "now"
			? [
					sql`
						UPDATE posthorn.lanes SET position = ${lastSeq}, open = ${NONE_OPEN}, skip_through = ${lastSeq}
						WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`,
				]
			: []),
		wake(project),
	);
	return { before, after: (yield* getWebhook(project, p))! };
}

const NONE_OPEN = new Fragment({ postgres: "'{}'", sqlite: "NULL" });

/** Replaces the sealed digests. False if the webhook doesn't exist. */
export function* rotateSecret(
	project: number,
	p: WebhookRef & By & Pick<NewWebhook, "sealedDigest" | "sealedStandardDigest">,
): Steps<boolean> {
	const found = yield* holdWebhook(project, p);
	if (found === null) return false;
	yield* together(
		sql`
			UPDATE posthorn.webhooks SET sealed_digest = ${p.sealedDigest},
				sealed_standard_digest = ${p.sealedStandardDigest ?? null}
			WHERE project_no = ${project} AND no = ${found.webhook}`,
		wake(project),
	);
	return true;
}

/** What is stored of the secrets of a project's webhooks, by their ids. */
export function* listSecrets(project: number, { after = "", limit }: Page): Steps<StoredSecret[]> {
	return yield* rows<StoredSecret>(sql`
		SELECT id, sealed_digest AS "sealedDigest", sealed_standard_digest AS "sealedStandardDigest"
		FROM posthorn.webhooks
		WHERE project_no = ${project} AND id > ${after} AND deleted_at IS NULL ORDER BY id LIMIT ${limit}`);
}

/**
 * Replaces the sealed digests by others of the same secret, unless it was rotated or deleted since they were read.
 * Nodes that have the secret in memory keep it. Returns whether they were replaced.
 */
export function* resealSecret(
	project: number,
	p: WebhookRef & Omit<StoredSecret, "id"> & { readonly from: Uint8Array },
): Steps<boolean> {
	const replaced = yield* rows(sql`
		UPDATE posthorn.webhooks SET sealed_digest = ${p.sealedDigest}, sealed_standard_digest = ${p.sealedStandardDigest}
		WHERE project_no = ${project} AND id = ${p.webhookId} AND sealed_digest = ${p.from} RETURNING no`);
	return replaced.length > 0;
}

/** Whether deliveries of a deleted webhook are pending. The order is that of an index which no other one has. */
const setClosing = (project: number, webhook: number): Query => sql`
	UPDATE posthorn.webhooks SET closing = (
		SELECT 1 FROM posthorn.retries WHERE ${ofProject} ${project} AND webhook_no = ${webhook}
		ORDER BY queue, due_at, seq LIMIT 1
	) IS NOT NULL
	WHERE project_no = ${project} AND no = ${webhook}`;

/** The engine closes its pending deliveries; its attempts stay until their retention ends. */
export function* deleteWebhook(project: number, p: WebhookRef & By): Steps<boolean> {
	const found = yield* holdWebhook(project, p);
	if (found === null) return false;
	const { webhook } = found;
	const deletedAt = yield* now();
	yield* together(
		sql`
			UPDATE posthorn.webhooks SET deleted_at = ${deletedAt}, sealed_digest = ${new Uint8Array(0)},
				sealed_standard_digest = NULL
			WHERE project_no = ${project} AND no = ${webhook}`,
		setClosing(project, webhook),
		sql`DELETE FROM posthorn.lanes WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`,
		sql`DELETE FROM posthorn.subscriptions WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`,
		wake(project),
	);
	return true;
}

/** Removes a deleted webhook from the lanes, unless a delivery is still pending. The engine closes those first. */
export function* endDeletion(project: number, { webhookId }: WebhookRef): Steps<void> {
	// Held, because an attempt that was in flight may be settled now.
	const [, [found]] = yield* together(
		holdProject(project),
		sql<{ no: number }>`
			SELECT no FROM posthorn.webhooks WHERE project_no = ${project} AND id = ${webhookId} AND closing${isTrue}`,
	);
	if (found !== undefined) yield* together(setClosing(project, found.no));
}
