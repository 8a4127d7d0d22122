/**
 * Hints between nodes: a node that commits work for a project, or changes it, sends one notification a moment later for
 * all projects of that moment. A notification blocks others while it commits, so there are few, none in the
 * transactions that matter, and none waits for the disk.
 *
 * Each node listens on its own connection once it has a subscriber. It receives nothing while that connection is
 * broken, or goes through a pooler that doesn't preserve sessions, so nodes don't rely on hints alone.
 */
import { randomBytes } from "node:crypto";
import { Client, type ClientConfig, type Notification } from "pg";
import { chunksOf } from "../../../base/collections.ts";
import { type HintListener, StorageError } from "../../port.ts";
import type { Database } from "../connection/database.ts";
import { isOutOfConnections } from "../connection/errors.ts";
import { checkWritable } from "../connection/servers.ts";
import { sql } from "../connection/session.ts";

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
					for (const some of chunksOf(ids, IDS_AT_ONCE)) await c.run(NOTIFY, `${this.#node} ${some.join(" ")}`);
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
