/**
 * Leases and alarms use only the database's clock, because nodes' clocks may differ. A node's times are converted to
 * offsets from its current time when stored, and back when read. Tests pass the time of both clocks.
 */
import { type HandedOver, HINTED_MS, type Lease, type Params, QUARANTINE, type Renewal } from "../../port.ts";
import { handedOverOf, QUEUE_CODE } from "../../shared/deliveries.ts";
import type { Connections } from "../connection/connections.ts";
import { isLocked } from "../connection/errors.ts";
import { newestLog } from "../connection/hot-rows.ts";
import { findProject, findWebhook } from "../connection/names.ts";
import { lockingSql, numberArray, type Session, sql, textArray } from "../connection/session.ts";
import { holdingOne, lockDeliveries, lockProject } from "../lanes/locks.ts";
import type { PostgresNode } from "../node.ts";

export interface LeaseTime {
	/** On the node's clock, at the time of the call. */
	readonly node: number;
	/** On the database's clock; null to read it in the database. */
	readonly database: number | null;
}

/** The time of the database's clock: `$now`, or what it shows if that is null. */
export const NOW = "coalesce($now::bigint, posthorn.now_ms())";

/** Whether the database is not in quarantine. */
const RELEASED = `NOT EXISTS (SELECT FROM posthorn.settings WHERE name = '${QUARANTINE}')`;

/** Whether any node may take free leases: all that were held when the current epoch began have expired. */
export const LEASES_OPEN = `coalesce((SELECT open_at FROM posthorn.epochs ORDER BY no DESC LIMIT 1) <= ${NOW}, true)`;

const take = (free: string) => `
	UPDATE posthorn.leases l
	SET wake_at = NULL, holder = $holder, generation = l.generation + 1, acknowledged = NULL, until = ${NOW} + $termMs
	FROM (${free}) free JOIN posthorn.projects p ON p.no = free.project_no
	WHERE l.project_no = free.project_no
	RETURNING p.id, l.generation, free.over`;

/**
 * Alternates between two queues: projects with news, taking turns by number from `$after` on; and overdue ones (a retry
 * is due, or a lease expired), longest overdue first. `$overdueFirst`: these get the odd slots.
 */
const TAKE_DUE = sql(`
	WITH news AS MATERIALIZED (
		SELECT project_no FROM posthorn.leases WHERE wake_at = 0 AND project_no > $after AND ${LEASES_OPEN} AND ${RELEASED}
		ORDER BY project_no LIMIT $limit FOR UPDATE SKIP LOCKED
	), due AS MATERIALIZED (
		SELECT project_no, wake_at FROM posthorn.leases WHERE wake_at > 0 AND wake_at <= ${NOW} AND ${LEASES_OPEN} AND ${RELEASED}
		ORDER BY wake_at LIMIT $limit FOR UPDATE SKIP LOCKED
	), ended AS MATERIALIZED (
		SELECT project_no, until FROM posthorn.leases WHERE until <= ${NOW} AND ${LEASES_OPEN} AND ${RELEASED}
		ORDER BY until LIMIT $limit FOR UPDATE SKIP LOCKED
	)
	${take(`
		SELECT project_no, over, news_no FROM (
			SELECT project_no, false AS over, project_no AS news_no, row_number() OVER (ORDER BY project_no) AS turn FROM news
			UNION ALL
			SELECT project_no, over, NULL, row_number() OVER (ORDER BY since) FROM (
				SELECT project_no, false AS over, wake_at AS since FROM due
				UNION ALL SELECT project_no, true, until FROM ended
			) past
		) line ORDER BY turn, (news_no IS NULL) <> $overdueFirst LIMIT $limit`)}, free.news_no`);

const FREE = `(q.until IS NULL OR q.until <= ${NOW} OR ($heldBefore AND coalesce(q.holder, $holder) = $holder)) AND ($heldBefore OR ${LEASES_OPEN}) AND ${RELEASED}`;

/**
 * Free leases whose rows another session has locked are returned without a generation. `$heldBefore`: the caller held
 * them until the current epoch began, so those that no one has taken since are its own.
 */
const TAKE_NAMED = sql(`
	WITH free AS MATERIALIZED (
		SELECT q.project_no FROM posthorn.leases q
		WHERE q.project_no = ANY (ARRAY(SELECT no FROM posthorn.projects WHERE id = ANY ($projectIds::text[]))) AND ${FREE}
	), named AS MATERIALIZED (
		SELECT q.project_no, q.until IS NOT NULL AND NOT $heldBefore AS over FROM posthorn.leases q
		WHERE q.project_no = ANY (ARRAY(SELECT project_no FROM free)) AND ${FREE}
		ORDER BY q.project_no LIMIT $limit FOR UPDATE SKIP LOCKED
	), taken AS (${take("SELECT project_no, over FROM named")})
	SELECT id, generation, over FROM taken
	UNION ALL
	SELECT p.id, NULL, false FROM free JOIN posthorn.projects p ON p.no = free.project_no
	WHERE free.project_no NOT IN (SELECT project_no FROM named)`);

/** The acquired leases, and the named projects whose lease row another session has locked. */
interface Acquired {
	readonly leases: Lease[];
	/** How many of them had expired without being released. */
	readonly over: number;
	readonly locked: string[];
}

/** Where the next {@link acquireDue} continues. */
export interface DueTurn {
	/** After the project with this number. */
	readonly after: number;
	readonly overdueFirst: boolean;
}

export const FIRST_TURN: DueTurn = { after: 0, overdueFirst: false };

export async function acquireLeases(
	node: PostgresNode,
	{ holder, limit, projectIds, heldBefore = false, onLocked = () => undefined }: Params<"acquireLeases">,
): Promise<Lease[]> {
	const acquiring = { time: node.time(), holder, termMs: node.leaseTermMs, limit };
	const taken = await node.write(async (c): Promise<Acquired> => {
		if (projectIds) {
			const values = { ...valuesOf(acquiring), projectIds: textArray(projectIds), heldBefore };
			return acquired(c, acquiring, await c.rows<Taken>(TAKE_NAMED, values));
		}
		const { next, ...due } = await acquireDue(c, acquiring, node.dueTurn);
		node.dueTurn = next;
		return due;
	}, "engine");
	if (taken.over > 0) node.observer.takenOver?.(taken.over);
	if (taken.locked.length > 0) onLocked(taken.locked);
	return taken.leases;
}

/** What a call acquires: up to `limit` leases, each for `termMs` from `time` on. */
interface Acquiring {
	readonly time: LeaseTime;
	readonly holder: string;
	readonly termMs: number;
	readonly limit: number;
}

const valuesOf = ({ time, ...acquiring }: Acquiring) => ({ now: time.database, ...acquiring });

/** Acquires leases of due projects. Also returns where to continue next time. */
async function acquireDue(
	c: Session,
	acquiring: Acquiring,
	{ after, overdueFirst }: DueTurn,
): Promise<Acquired & { readonly next: DueTurn }> {
	const { limit } = acquiring;
	const values = { ...valuesOf(acquiring), after, overdueFirst };
	const rows = await c.rows<Taken & { news_no: number | null }>(TAKE_DUE, values);
	const taken = acquired(c, acquiring, rows);
	if (rows.length === limit) {
		const news = rows.map(({ news_no }) => news_no).filter((no) => no !== null);
		// Overdue projects used slots of projects with news: there are no more of those, so the turn starts over.
		const isOver = news.length < (overdueFirst ? Math.floor(limit / 2) : Math.ceil(limit / 2));
		return { ...taken, next: { after: isOver ? 0 : Math.max(after, ...news), overdueFirst: !overdueFirst } };
	}
	if (after === 0) return { ...taken, next: FIRST_TURN };
	// The last project was reached: the others are taken from the beginning.
	const left = { ...acquiring, limit: limit - rows.length };
	const rest = await acquireDue(c, left, { after: 0, overdueFirst });
	return { ...rest, leases: [...taken.leases, ...rest.leases], over: taken.over + rest.over };
}

function acquired(c: Session, { time, termMs }: Acquiring, rows: readonly Taken[]): Acquired {
	const taken = rows.filter((row): row is Taken & { generation: number } => row.generation !== null);
	return {
		leases: taken.map(({ id, generation }) => {
			return { projectId: id, generation: c.toGeneration(generation), expiresAt: time.node + termMs };
		}),
		over: taken.filter(({ over }) => over).length,
		locked: rows.filter(({ generation }) => generation === null).map(({ id }) => id),
	};
}

/** `over`: it had expired without being released. */
type Taken = { id: string; generation: number | null; over: boolean };

/** Whether a lease still holds. None does in quarantine: a node that took some as it began stops at their end. */
const HOLDS = `l.generation = mine.generation AND l.holder = $holder AND l.until IS NOT NULL AND ${RELEASED}`;

/**
 * Renews those of these leases that still hold and whose rows aren't locked. Returns those, and the others that
 * apparently still hold.
 */
const RENEW = lockingSql(
	(mode) => `
	WITH mine AS MATERIALIZED (
		SELECT l.project_no
		FROM unnest($projects::bigint[], $generations::bigint[]) AS mine (project_no, generation)
			JOIN posthorn.leases l ON l.project_no = mine.project_no
		WHERE ${HOLDS}
	), held AS MATERIALIZED (
		SELECT l.project_no
		FROM unnest($projects::bigint[], $generations::bigint[]) AS mine (project_no, generation)
			JOIN posthorn.leases l ON l.project_no = mine.project_no
		WHERE ${HOLDS}
		ORDER BY l.project_no FOR NO KEY UPDATE OF l ${mode}
	), renewed AS (
		UPDATE posthorn.leases l SET until = ${NOW} + $termMs FROM held WHERE l.project_no = held.project_no
		RETURNING l.project_no
	)
	SELECT project_no, true AS renewed FROM renewed
	UNION ALL
	SELECT project_no, false FROM mine WHERE project_no NOT IN (SELECT project_no FROM held)`,
);

export async function renewLeases(
	node: PostgresNode,
	{ holder, leases, waits = false }: Params<"renewLeases">,
): Promise<Renewal> {
	const time = node.time();
	const run = () =>
		node.database.run((connections) =>
			connections.holding("engine", waits, (c) => renewOn(c, time, node.leaseTermMs, holder, leases, waits)),
		);
	try {
		return await (waits ? run() : node.rightOfWay.renew(run));
	} catch (error) {
		if (waits && isLocked(error)) return { renewed: [], locked: leases };
		throw error;
	}
}

async function renewOn(
	c: Session,
	time: LeaseTime,
	termMs: number,
	holder: string,
	leases: readonly Lease[],
	waits: boolean,
): Promise<Renewal> {
	const projects: number[] = [];
	// Cached since they were acquired, or looked up again one by one.
	for (const { projectId } of leases) projects.push((await findProject(c, projectId)) ?? 0);
	const generations = leases.map(({ generation }) => c.storedGeneration(generation));
	const rows = await c.rows<{ project_no: number; renewed: boolean }>(RENEW(waits), {
		now: time.database,
		holder,
		termMs,
		projects: numberArray(projects),
		generations: numberArray(generations),
	});
	const isRenewed = new Map(rows.map(({ project_no, renewed }) => [project_no, renewed]));
	const of = (renewed: boolean) => leases.filter((_, i) => isRenewed.get(projects[i]!) === renewed);
	return { renewed: of(true).map((lease) => ({ ...lease, expiresAt: time.node + termMs })), locked: of(false) };
}

/**
 * Events appended before this transaction locked the log are seen; later ones find the lease released. Returns whether
 * the project is due soon.
 */
const RELEASE = sql(`
	UPDATE posthorn.leases l
	SET holder = NULL, until = NULL,
		wake_at = CASE WHEN g.last_seq > $lastSeq OR g.revision <> $revision THEN 0
			WHEN $delay::bigint IS NOT NULL THEN greatest(0, ${NOW} + $delay::bigint) END
	FROM (SELECT last_seq, revision ${newestLog("$project")}) g
	WHERE l.project_no = $project AND l.generation = $generation AND l.until IS NOT NULL
	RETURNING coalesce(l.wake_at <= ${NOW} + ${HINTED_MS}, false) AS is_due_soon`);

/**
 * Does nothing if another node holds the lease by now. Other nodes get a hint if the project is due soon, so that it
 * doesn't wait for their next report.
 */
export function releaseLease(connections: Connections, p: Params<"releaseLease">, node: PostgresNode): Promise<void> {
	const time = node.time();
	return holdingOne(connections, "engine", (c, waits) => releaseOn(c, time, p, waits), node.releases);
}

async function releaseOn(
	c: Session,
	time: LeaseTime,
	{ lease, wakeAt, seen, inFlight = [] }: Params<"releaseLease">,
	waits: boolean,
): Promise<void> {
	const project = await findProject(c, lease.projectId);
	if (project === null) return;
	const attempts = await findInFlight(c, project, inFlight);
	await lockProject(c, project, waits);
	const delay = wakeAt === null ? null : Math.ceil(wakeAt - time.node);
	const generation = c.storedGeneration(lease.generation);
	const [given] = await Promise.all([
		c.row<{ is_due_soon: boolean }>(RELEASE, { now: time.database, project, generation, ...seen, delay }),
		...(attempts.length > 0 ? [handOver(c, time, project, generation, attempts)] : []),
		c.commit(),
	]);
	if (!given?.is_due_soon) return;
	c.changed.add(project);
	c.unowned.add(project);
}

const NEXT_ALARM = sql(`
	SELECT least(
		(SELECT wake_at FROM posthorn.leases WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1),
		(SELECT until FROM posthorn.leases WHERE until <= ${NOW} ORDER BY until LIMIT 1)
	) - ${NOW} AS delay, ${NOW} AS now`);

export async function nextAlarm(c: Session, _: unknown, node: PostgresNode): Promise<number | null> {
	const time = node.time();
	const row = await c.row<{ delay: number | null; now: number }>(NEXT_ALARM, { now: time.database });
	compareClocks(c, node, time, row!.now);
	return row!.delay === null ? null : time.node + row!.delay;
}

/** For calls made regularly. @param now the database's clock, read after `asked` */
export function compareClocks(c: Session, { clock }: PostgresNode, asked: LeaseTime, now: number): void {
	if (asked.database === null) c.offset.measured(now, asked.node, clock.now());
}

// Attempts in flight that outlive their lease. A row in `handed_over` is the former holder's right to settle one.
// Settling it deletes the row, and so does the new holder once it has expired. Both lock the project's row in `leases`,
// so only one of them happens.

/** For the transaction that has just released the lease. Does nothing if another node holds it. */
const HAND_OVER = sql(`
	INSERT INTO posthorn.handed_over (project_no, webhook_no, seq, replay, queue, generation, until)
	SELECT l.project_no, g.webhook_no, g.seq, g.replay, g.queue, l.generation, ${NOW} + g.delay
	FROM posthorn.leases l CROSS JOIN unnest(
		$webhooks::bigint[], $seqs::bigint[], $replays::integer[], $queues::smallint[], $delays::bigint[]
	) AS g (webhook_no, seq, replay, queue, delay)
	WHERE l.project_no = $project AND l.generation = $generation AND l.until IS NULL
	ON CONFLICT DO NOTHING`);

interface InFlight extends HandedOver {
	readonly webhookNo: number;
}

async function findInFlight(
	c: Session,
	project: number,
	attempts: readonly HandedOver[],
): Promise<readonly InFlight[]> {
	const found: InFlight[] = [];
	for (const attempt of attempts) {
		const webhookNo = await findWebhook(c, project, attempt.webhookId);
		if (webhookNo !== null) found.push({ ...attempt, webhookNo });
	}
	return found;
}

async function handOver(
	c: Session,
	time: LeaseTime,
	project: number,
	generation: number,
	attempts: readonly InFlight[],
): Promise<void> {
	await c.run(HAND_OVER, {
		now: time.database,
		project,
		generation,
		webhooks: numberArray(attempts.map(({ webhookNo }) => webhookNo)),
		seqs: numberArray(attempts.map(({ seq }) => seq)),
		replays: numberArray(attempts.map(({ replay }) => replay)),
		queues: numberArray(attempts.map(({ queue }) => (queue === null ? null : QUEUE_CODE[queue]))),
		delays: numberArray(attempts.map(({ until }) => Math.ceil(until - time.node))),
	});
}

const READ = sql(`
	SELECT w.id, h.seq, h.replay, h.queue, h.until - ${NOW} AS delay
	FROM posthorn.handed_over h JOIN posthorn.webhooks w ON w.project_no = h.project_no AND w.no = h.webhook_no
	WHERE h.project_no = $project ORDER BY h.webhook_no, h.seq`);

export async function readHandedOver(c: Session, time: LeaseTime, project: number): Promise<HandedOver[]> {
	const rows = await c.rows(READ, { now: time.database, project });
	return rows.map((row) => handedOverOf(row, time.node + (row.delay as number)));
}

const FORGET = sql(`DELETE FROM posthorn.handed_over WHERE project_no = $project AND until <= ${NOW}`);

export async function forgetHandedOver(
	c: Session,
	{ projectId }: Params<"forgetHandedOver">,
	node: PostgresNode,
): Promise<void> {
	const project = await findProject(c, projectId);
	if (project === null) return;
	// Another session that holds the project may be settling this row: the next call deletes it.
	const held = await lockDeliveries(c, [project]);
	if (held.has(project)) await c.run(FORGET, { now: node.time().database, project });
}
