import { randomBytes } from "node:crypto";
import { Client, type ClientConfig, type Notification } from "pg";
import {
	type Acknowledgement,
	type AlarmMark,
	type HintListener,
	type PeerStorage,
	type Share,
	StorageError,
} from "../../port.ts";
import type { Database } from "../connection/database.ts";
import { isOutOfConnections } from "../connection/errors.ts";
import { newestLog } from "../connection/hot-rows.ts";
import { checkWritable } from "../connection/servers.ts";
import { findProject, numberArray, type Session, sql, textArray } from "../connection/session.ts";
import type { PostgresNode } from "../node.ts";
import { compareClocks, LEASES_OPEN, type LeaseTime, NOW } from "./leases.ts";

const MARKS = sql(`
	SELECT p.no, p.id, g.last_seq, g.revision
	FROM posthorn.projects p CROSS JOIN LATERAL (SELECT last_seq, revision ${newestLog("p.no")}) g
	WHERE p.id = ANY ($1::text[])`);

async function readMarks(c: Session, projectIds: readonly string[]): Promise<Map<string, AlarmMark>> {
	const rows = await c.rows<{ no: number; id: string; last_seq: number; revision: number }>(
		MARKS,
		textArray(projectIds),
	);
	for (const { no, last_seq } of rows) c.ends.set(no, last_seq);
	return new Map(rows.map(({ id, last_seq, revision }) => [id, { lastSeq: last_seq, revision }]));
}

/** Returns those whose row another session has locked. */
const ACKNOWLEDGE = sql(`
	WITH mine AS MATERIALIZED (
		SELECT l.project_no
		FROM unnest($1::bigint[], $2::bigint[]) AS mine (project_no, generation)
			JOIN posthorn.leases l ON l.project_no = mine.project_no
		WHERE l.generation = mine.generation AND l.until IS NOT NULL
	), held AS MATERIALIZED (
		SELECT l.project_no, mine.revision
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS mine (project_no, generation, revision)
			JOIN posthorn.leases l ON l.project_no = mine.project_no
		WHERE l.generation = mine.generation AND l.until IS NOT NULL
		ORDER BY l.project_no FOR NO KEY UPDATE OF l SKIP LOCKED
	), done AS (
		UPDATE posthorn.leases l SET acknowledged = greatest(l.acknowledged, held.revision)
		FROM held WHERE l.project_no = held.project_no
	)
	SELECT project_no FROM mine WHERE project_no NOT IN (SELECT project_no FROM held)`);

async function acknowledge(c: Session, acknowledgements: readonly Acknowledgement[]): Promise<Acknowledgement[]> {
	const projects: number[] = [];
	for (const { lease } of acknowledgements) projects.push((await findProject(c, lease.projectId)) ?? 0);
	const rows = await c.rows<{ project_no: number }>(
		ACKNOWLEDGE,
		numberArray(projects),
		numberArray(acknowledgements.map(({ lease }) => c.storedGeneration(lease.generation))),
		numberArray(acknowledgements.map(({ revision }) => revision)),
	);
	const locked = new Set(rows.map(({ project_no }) => project_no));
	return acknowledgements.filter((_, i) => locked.has(projects[i]!));
}

/**
 * `acknowledged` belongs to the current lease: a new holder has acknowledged nothing yet. Soon after an epoch has
 * begun, a lost lease may still be in use.
 */
const IS_BEHIND = sql(`
	SELECT FROM posthorn.leases
	WHERE project_no = $project AND coalesce(acknowledged, -1) < $revision
		AND (until > ${NOW} OR NOT ${LEASES_OPEN})`);

async function isInForce(c: Session, time: LeaseTime, projectId: string, revision: number): Promise<boolean> {
	const project = await findProject(c, projectId);
	return project === null || (await c.row(IS_BEHIND, { now: time.database, project, revision })) === undefined;
}

/**
 * A report, which then deletes nodes that were killed, but skips one that is currently reporting, without waiting for it:
 * in the other order, two nodes could wait for each other. A single statement, because a node that freezes within a
 * transaction would keep others from reporting.
 */
const SHARE = sql(`
	WITH report AS (
		INSERT INTO posthorn.nodes (holder, seen_at) VALUES ($holder, ${NOW})
		ON CONFLICT (holder) DO UPDATE SET seen_at = excluded.seen_at RETURNING holder
	), forget AS (
		DELETE FROM posthorn.nodes WHERE holder = ANY (ARRAY(
			SELECT holder FROM posthorn.nodes
			WHERE (SELECT count(*) FROM report) = 1 AND seen_at < ${NOW} - $termMs AND holder <> $holder FOR UPDATE SKIP LOCKED
		))
	)
	SELECT
		1 + (SELECT count(*) FROM posthorn.nodes WHERE seen_at >= ${NOW} - $termMs AND holder <> $holder)::bigint AS nodes,
		(SELECT count(*) FROM posthorn.leases WHERE until IS NOT NULL)::bigint
			+ (SELECT count(*) FROM posthorn.leases WHERE wake_at <= ${NOW})::bigint AS projects,
		(SELECT wake_at FROM posthorn.leases WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1) - ${NOW} AS alarm,
		(SELECT until FROM posthorn.leases WHERE until IS NOT NULL ORDER BY until LIMIT 1) - ${NOW} AS ends,
		${NOW} AS now`);

type ShareRow = {
	readonly nodes: number;
	readonly projects: number;
	readonly alarm: number | null;
	readonly ends: number | null;
	readonly now: number;
};

/** A node counts as alive for a lease's duration after its last report. */
async function share(c: Session, node: PostgresNode, holder: string): Promise<Share> {
	const time = node.time();
	const row = await c.row<ShareRow>(SHARE, { now: time.database, holder, termMs: node.leaseTermMs });
	compareClocks(c, node, time, row!.now);
	const { nodes, projects, alarm, ends } = row!;
	const at = (delay: number | null) => (delay === null ? null : time.node + delay);
	return { nodes, projects, nextAlarm: at(alarm), nextEnd: at(ends) };
}

const NEXT_END = sql(`
	SELECT until - ${NOW} AS delay, ${NOW} AS now FROM posthorn.leases WHERE until > ${NOW} ORDER BY until LIMIT 1`);

async function nextEnd(c: Session, node: PostgresNode): Promise<number | null> {
	const time = node.time();
	const row = await c.row<{ delay: number; now: number }>(NEXT_END, { now: time.database });
	if (row === undefined) return null;
	compareClocks(c, node, time, row.now);
	return time.node + row.delay;
}

const LEAVE = sql("DELETE FROM posthorn.nodes WHERE holder = $1");

async function leave(c: Session, holder: string): Promise<void> {
	await c.run(LEAVE, holder);
}

export function peersOf(node: PostgresNode, wakes: Wakes): PeerStorage {
	return {
		readMarks: ({ projectIds }) => node.read((c) => readMarks(c, projectIds), "engine"),
		acknowledge: ({ acknowledgements }) => node.write((c) => acknowledge(c, acknowledgements), "engine"),
		isInForce: ({ projectId, revision }) => node.read((c) => isInForce(c, node.time(), projectId, revision), "engine"),
		nextEnd: () => node.read((c) => nextEnd(c, node), "engine"),
		leave: ({ holder }) => node.write((c) => leave(c, holder), "engine"),
		// Not in a transaction that a node could leave open while it is frozen.
		share: ({ holder }) => node.read((c) => share(c, node, holder), "engine"),
		takeSweep: (p) => node.read((c) => takeSweep(c, node.time(), p), "engine"),
		endSweep: (p) => node.read((c) => endSweep(c, node.time(), p), "engine"),
		onEpoch: (listener, keeper) => node.database.onEpoch(listener, keeper),
		subscribe: (listener) => wakes.subscribe(listener),
	};
}

/**
 * Hints between nodes: a node that commits work for a project, or changes it, sends one notification a moment later for
 * all projects of that moment. A notification blocks others while it commits, so there are few, none in the
 * transactions that matter, and none waits for the disk.
 *
 * Each node listens on its own connection once it has a subscriber. It receives nothing while that connection is
 * broken, or goes through a pooler that doesn't preserve sessions, so nodes don't rely
 * on hints alone.
 */

const CHANNEL = "posthorn_wake";
/** Changes accumulate this long before a notification, milliseconds: unnoticeable to users, and few notifications. */
const GATHER_MS = 20;
/** Ids in one notification: PostgreSQL takes 8,000 bytes. */
const IDS_AT_ONCE = 200;
/** After its connection broke, a node reconnects after this long, milliseconds. */
const LISTEN_AGAIN_MS = 1_000;
/** How long the connection may take to close, milliseconds. */
const LEAVE_MS = 1_000;

const NOTIFY = sql(`SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', $1)`);

/** Follows a project that has work and no holder, even in notifications of the publishing functions. */
const UNOWNED = "!";

export class Wakes {
	readonly #database: Database;
	readonly #config: () => ClientConfig;
	/** Distinguishes this node's own notifications from others'. */
	readonly #node = randomBytes(6).toString("hex");
	/** Changed projects, and whether they have work and no holder. */
	readonly #changed = new Map<string, boolean>();
	readonly #listeners = new Set<HintListener>();
	#client: Client | null = null;
	#tellTimer: NodeJS.Timeout | null = null;
	#listenTimer: NodeJS.Timeout | null = null;
	#closed = false;

	/** @param config how to connect now */
	constructor(database: Database, config: () => ClientConfig) {
		this.#database = database;
		this.#config = config;
		database.onChanged = (projectId, isUnowned) => this.#note(projectId, isUnowned);
		database.onDistrusted = () => this.#leave();
	}

	/** @returns ends it */
	subscribe(listener: HintListener): () => void {
		this.#listeners.add(listener);
		if (this.#client === null && this.#listenTimer === null && !this.#closed) void this.#listen();
		return () => {
			this.#listeners.delete(listener);
		};
	}

	/** Sends pending hints first. */
	async close(): Promise<void> {
		this.#closed = true;
		clearTimeout(this.#tellTimer ?? undefined);
		clearTimeout(this.#listenTimer ?? undefined);
		if (this.#tellTimer !== null) await this.#tell();
		const client = this.#client;
		if (client === null) return;
		const late = setTimeout(() => client.connection.stream.destroy(), LEAVE_MS);
		await client.end();
		clearTimeout(late);
	}

	#note(projectId: string, isUnowned: boolean): void {
		this.#changed.set(projectId, isUnowned || this.#changed.get(projectId) === true);
		if (this.#closed || this.#tellTimer !== null) return;
		this.#tellTimer = setTimeout(() => void this.#tell(), GATHER_MS).unref();
	}

	async #tell(): Promise<void> {
		this.#tellTimer = null;
		const ids = Array.from(this.#changed, ([id, isUnowned]) => (isUnowned ? id + UNOWNED : id));
		this.#changed.clear();
		try {
			await this.#database.run((connections) =>
				connections.read("people", async (c) => {
					for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
						await c.run(NOTIFY, `${this.#node} ${ids.slice(at, at + IDS_AT_ONCE).join(" ")}`);
				}),
			);
		} catch (error) {
			// Calls that need the database report that it is unavailable.
			if (!(error instanceof StorageError)) process.emitWarning(`Could not notify other nodes of changes: ${error}`);
		}
	}

	async #listen(): Promise<void> {
		this.#listenTimer = null;
		const client = new Client(this.#config());
		client.on("notification", (notification) => this.#heard(notification));
		// Its "end" follows.
		client.on("error", () => undefined);
		client.once("end", () => this.#listenAgain(client));
		this.#client = client;
		try {
			await client.connect();
			// A read-only server sends no notifications: another one accepts the writes, or will.
			await checkWritable(client);
			await client.query(`LISTEN ${CHANNEL}`);
		} catch (error) {
			if (isOutOfConnections(error)) this.#database.makeRoom();
			this.#database.renewLogin(error);
			// It's retried. Until then, nodes find work and changes without hints.
			this.#listenAgain(client);
			client.connection.stream.destroy();
		}
	}

	/** Its connection may lead to a server that no longer sends notifications, so it reconnects. */
	#leave(): void {
		const client = this.#client;
		if (client === null) return;
		this.#listenAgain(client);
		client.connection.stream.destroy();
	}

	#listenAgain(client: Client): void {
		if (this.#closed || this.#client !== client) return;
		this.#client = null;
		this.#listenTimer = setTimeout(() => void this.#listen(), LISTEN_AGAIN_MS).unref();
	}

	#heard({ payload = "" }: Notification): void {
		const [node, ...marked] = payload.split(" ");
		if (node === this.#node) return;
		const projectIds = marked.map((id) => (id.endsWith(UNOWNED) ? id.slice(0, -UNOWNED.length) : id));
		const unowned = projectIds.filter((_, index) => marked[index]!.endsWith(UNOWNED));
		for (const listener of this.#listeners) listener(projectIds, unowned);
	}
}

/** A later end was written while the database's clock was ahead, milliseconds. */
const LONGEST_MS = 86_400_000;

const TAKE = sql(`
	INSERT INTO posthorn.sweeper AS s (one, holder, until) VALUES (true, $holder, ${NOW} + $termMs)
	ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until
	WHERE s.holder = $holder OR s.until <= ${NOW} OR s.until > ${NOW} + ${LONGEST_MS} OR (s.holder IS NULL AND $early)`);

const END = sql(`UPDATE posthorn.sweeper SET holder = NULL, until = ${NOW} + $restMs WHERE holder = $holder`);

/**
 * One node sweeps at a time, so that the work is done once. Only that depends on it: steps of several nodes at once (those
 * of the previous release don't ask) delete nothing twice and nothing that is needed.
 */
async function takeSweep(c: Session, time: LeaseTime, p: Parameters<PeerStorage["takeSweep"]>[0]): Promise<boolean> {
	return (await c.run(TAKE, { now: time.database, ...p })) > 0;
}

async function endSweep(c: Session, time: LeaseTime, p: Parameters<PeerStorage["endSweep"]>[0]): Promise<void> {
	await c.run(END, { now: time.database, ...p });
}
