/**
 * Hints between nodes: a node that commits work for a project, or changes it, sends one notification a moment later for
 * all projects of that moment. A notification blocks others while it commits, so there are few, none in the
 * transactions that matter, and none waits for the disk.
 *
 * Each node listens on its own connection once it has a subscriber. It receives nothing while that connection is
 * broken, or goes through a pooler that doesn't preserve sessions, so subscribers also poll.
 */
import { randomBytes } from "node:crypto";
import { Client, type ClientConfig, type Notification } from "pg";
import { StorageError } from "../../port.ts";
import type { Database } from "../connection/database.ts";
import { checkWritable } from "../connection/hosts.ts";
import { sql } from "../connection/sql.ts";

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

export type WakeListener = (projectIds: readonly string[]) => void;

export class Wakes {
	readonly #database: Database;
	readonly #config: () => ClientConfig;
	/** Distinguishes this node's own notifications from others'. */
	readonly #node = randomBytes(6).toString("hex");
	readonly #changed = new Set<string>();
	readonly #listeners = new Set<WakeListener>();
	#client: Client | null = null;
	#tellTimer: NodeJS.Timeout | null = null;
	#listenTimer: NodeJS.Timeout | null = null;
	#closed = false;

	/** @param config how to connect now */
	constructor(database: Database, config: () => ClientConfig) {
		this.#database = database;
		this.#config = config;
		database.onChanged((projectId) => this.#note(projectId));
		database.onDistrusted(() => this.#leave());
	}

	/** @returns ends it */
	subscribe(listener: WakeListener): () => void {
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

	#note(projectId: string): void {
		this.#changed.add(projectId);
		if (this.#closed || this.#tellTimer !== null) return;
		this.#tellTimer = setTimeout(() => void this.#tell(), GATHER_MS).unref();
	}

	async #tell(): Promise<void> {
		this.#tellTimer = null;
		const ids = [...this.#changed];
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
		} catch {
			// It's retried, and subscribers poll meanwhile.
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
		const [node, ...projectIds] = payload.split(" ");
		if (node === this.#node) return;
		for (const listener of this.#listeners) listener(projectIds);
	}
}
