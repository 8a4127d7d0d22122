import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import type { FastifyInstance, InjectOptions } from "fastify";
import { ApiKeys, OperatorKey, Passwords, startAccounts } from "../../src/accounts/index.ts";
import { keyHash } from "../../src/accounts/tokens.ts";
import { SessionCookie } from "../../src/api/auth/authorize.ts";
import { Changes, LongPolls } from "../../src/api/changes.ts";
import { createMetrics } from "../../src/api/metrics.ts";
import type { ApiParts } from "../../src/api/route.ts";
import { createApi } from "../../src/api/server.ts";
import { REQUESTS } from "../../src/base/budgets.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { IdSource } from "../../src/base/ids.ts";
import type { Logger } from "../../src/base/logger.ts";
import { Seal } from "../../src/base/seal.ts";
import { type RunningEngine, startEngine } from "../../src/engine/index.ts";
import { createHttpSender } from "../../src/engine/send/http-sender.ts";
import { answered, Receiver } from "../../src/engine/send/receiver.fixture.ts";
import { createGuard, type GuardOptions } from "../../src/net/egress.ts";
import { createResolver } from "../../src/net/resolver.ts";
import { createAuthority } from "../../src/net/tls/credentials.fixture.ts";
import { HealthCount } from "../../src/registry/health-count.ts";
import { Projects } from "../../src/registry/projects.ts";
import { UrlCheck } from "../../src/registry/url-check.ts";
import { Webhooks } from "../../src/registry/webhooks.ts";
import { References } from "../../src/search/references.ts";
import type { Storage } from "../../src/storage/port.ts";
import { openSqliteStorage } from "../../src/storage/sqlite/index.ts";
import { startStore } from "../../src/store/index.ts";
import type { ApiResponse, Json } from "./response.ts";
import { ResponseCheck } from "./response-check.ts";

export const OPERATOR_KEY = "operator-key-of-32-characters-or-more";
/** The address of the tests' dashboard. */
export const PUBLIC_URL = "http://dashboard.test";
const LEASE_TERM_MS = 15_000;
const DAY_MS = 86_400_000;
/** The weakest settings that argon2id accepts: these tests are about who gets in, not about how long guessing takes. */
const CHEAP = { memory: 8, passes: 1, lanes: 1 };
/** What the service writes on its own as time passes: tables and columns. */
const BY_ITSELF = /^(attempt_stats|stats_progress|wake_at|lease_.*|last_used_at)$/;

export interface CallOptions {
	/** None if null; by default, the operator's. */
	readonly key?: string | null;
	/** Sent as JSON … */
	readonly body?: unknown;
	/** … or unchanged. */
	readonly raw?: string | Uint8Array;
	readonly headers?: Record<string, string>;
	/** The caller's address; by default, 127.0.0.1. */
	readonly from?: string;
}

export interface TestApiOptions {
	readonly retryDelaysMs?: readonly number[];
	/** The clock for sessions, links, invitations and throttles; by default, the system's. */
	readonly peopleClock?: Clock;
	/** The dashboard's public address; by default, {@link PUBLIC_URL}. */
	readonly publicUrl?: string;
	readonly changes?: Changes;
	readonly longPolls?: LongPolls;
	readonly maxEventBytes?: number;
	/** By default, a day. */
	readonly basketIdleMs?: number;
	readonly maxWebhooksPerProject?: number;
	/** By default, deliveries may also go to loopback. */
	readonly egress?: Partial<GuardOptions>;
	readonly parts?: (parts: ApiParts) => Partial<ApiParts>;
}

const authority = createAuthority();

/** Seals the signing secrets of every test's API. */
export const seal = new Seal([Buffer.alloc(32, 7)]);

/** The timeout for attempts, milliseconds. */
const TIMEOUT_MS = 15_000;

/** The API over the real engine and a real database, with a receiver on loopback. Checks responses against OpenAPI. */
export class TestApi {
	readonly app: FastifyInstance;
	readonly parts: ApiParts;
	readonly storage: Storage;
	readonly engine: RunningEngine;
	readonly receiver: Receiver;
	readonly logs: string[];
	readonly #check: ResponseCheck;
	readonly #folder: string;
	readonly #attempts: AttemptSignal;
	/** How many attempts callers have awaited. */
	#awaited = 0;
	readonly #closeOthers: () => Promise<void>;

	private constructor(members: Members) {
		this.app = members.app;
		this.parts = members.parts;
		this.storage = members.parts.storage;
		this.engine = members.engine;
		this.receiver = members.receiver;
		this.logs = members.logs;
		this.#check = members.check;
		this.#folder = members.folder;
		this.#attempts = members.attempts;
		this.#closeOthers = members.closeOthers;
	}

	static async start(options: TestApiOptions = {}): Promise<TestApi> {
		const folder = mkdtempSync(join(tmpdir(), "posthorn-api-"));
		const clock = systemClock;
		const ids = new IdSource(clock);
		const logs: string[] = [];
		const logger = logTo(logs);
		const storage = await openSqliteStorage({ path: join(folder, "test.db"), clock, leaseTermMs: LEASE_TERM_MS });
		const receiver = await new Receiver(authority.issue({ names: ["localhost"] }), answered(200, "thanks")).listen();
		const guard = createGuard({ allow: ["127.0.0.0/8"], ...options.egress });
		const sender = createHttpSender({
			clock,
			random: Math.random,
			guard,
			brand: "Service",
			timeoutMs: TIMEOUT_MS,
			extraCa: authority.cert,
			onFault: (error) => logger.error({ err: error }, "the sender failed"),
		});
		const metrics = createMetrics(TIMEOUT_MS);
		const { changes = new Changes(clock), longPolls = new LongPolls(clock), publicUrl = PUBLIC_URL } = options;
		const attempts = new AttemptSignal();
		const { retryDelaysMs = [], basketIdleMs = DAY_MS } = options;
		const config = {
			brand: "Service",
			retryDelaysMs,
			attemptTimeoutMs: TIMEOUT_MS,
			basketIdleMs,
			logRetentionMs: 30 * 86_400_000,
			maxEventBytes: options.maxEventBytes ?? 262_144,
			maxBatchBytes: REQUESTS.batchBytes,
			maxBodyBytesInFlight: REQUESTS.bodyBytesInFlight,
			maxUrlLength: 2_048,
			maxDescriptionLength: 200,
			trustProxy: [],
		};
		const engine = startEngine({
			storage,
			sender,
			clock,
			disk: clock,
			ids,
			seal,
			logger,
			leaseTermMs: LEASE_TERM_MS,
			retryDelaysMs,
			attemptTimeoutMs: 15_000,
			retentionMs: config.logRetentionMs,
			maxEventBytes: config.maxEventBytes,
			observer: {
				published(projectId, events) {
					metrics.engine.published(projectId, events);
					changes.note(projectId, "webhooks");
					longPolls.published(projectId, events);
				},
				attempted(...attempt) {
					metrics.engine.attempted(...attempt);
					attempts.happened();
					changes.note(attempt[0], "attempts");
				},
			},
		});
		const limits = { ...config, maxWebhooksPerProject: options.maxWebhooksPerProject ?? 100 };
		const own = { storage, engine, clock, ids, logger };
		const store = startStore({ ...own, maxEventBytes: config.maxEventBytes, basketIdleMs });
		const passwords = new Passwords(CHEAP);
		const accounts = startAccounts({ ...own, clock: options.peopleClock ?? clock, disk: clock, passwords });
		const webhooks = new Webhooks({ ...own, guard, seal, limits });
		const parts: ApiParts = {
			...own,
			...accounts,
			store,
			cookie: new SessionCookie(publicUrl),
			publicUrl: () => publicUrl,
			config,
			metrics,
			projects: new Projects(own),
			webhooks,
			urlCheck: new UrlCheck({ guard, resolver: createResolver({ guard, clock }), clock, limits }),
			dashboardFolder: null,
			changes,
			longPolls,
			references: new References(own),
			shortages: { current: null },
			retention: { hold: null, notice: null, confirm: async () => {} },
			health: new HealthCount({ ...own, secretState: webhooks.secretState }),
			quarantine: { mark: null, read: async () => null, release: async () => false },
			ready: () => true,
			apiKeys: new ApiKeys({ ...own, operatorKey: new OperatorKey(keyHash(OPERATOR_KEY)) }),
		};
		const app = await createApi({ ...parts, ...options.parts?.(parts) });
		const check = ResponseCheck.for((await app.inject("/openapi.json")).payload);
		const closeOthers = async () => {
			await accounts.close();
			await store.stop();
			await sender.close();
		};
		return new TestApi({ app, parts, engine, receiver, logs, check, folder, attempts, closeOthers });
	}

	/** One API call, whose response is checked against the OpenAPI document. */
	async call(
		method: string,
		url: string,
		{ key = OPERATOR_KEY, body, raw, headers = {}, from }: CallOptions = {},
	): Promise<ApiResponse> {
		const payload = raw === undefined ? (body === undefined ? undefined : JSON.stringify(body)) : raw;
		const response = await this.app.inject({
			method: method as NonNullable<InjectOptions["method"]>,
			url,
			...(from !== undefined && { remoteAddress: from }),
			headers: {
				...(key !== null && { authorization: `Bearer ${key}` }),
				...(payload !== undefined && { "content-type": "application/json" }),
				...headers,
			},
			...(payload !== undefined && { payload: typeof payload === "string" ? payload : Buffer.from(payload) }),
		});
		const type = String(response.headers["content-type"] ?? "");
		const answer = {
			status: response.statusCode,
			headers: response.headers as Record<string, string>,
			text: response.payload,
			json: (/json\b/.test(type) ? JSON.parse(response.payload) : null) as Json,
		};
		this.#check.check(method, url, answer);
		return answer;
	}

	/** A new project's path, `/v1/projects/proj_…`. */
	async project(name = "Store"): Promise<string> {
		const { json } = await this.call("POST", "/v1/projects", { body: { name } });
		return `/v1/projects/${json.id}`;
	}

	/** A new key of a project. */
	async keyOf(project: string): Promise<string> {
		const { json } = await this.call("POST", `${project}/api-keys`, { body: { name: "test" } });
		return String(json.key);
	}

	/** A new webhook's path; by default, for this receiver. */
	async webhook(project: string, fields: Record<string, unknown> = {}): Promise<string> {
		const body = { url: this.receiver.url(), events: ["delivery.success"], ...fields };
		const { json } = await this.call("POST", `${project}/webhooks`, { body });
		return `${project}/webhooks/${json.id}`;
	}

	/** Publishes an event that {@link webhook} is subscribed to; returns its id. */
	async publish(project: string, data: unknown = { n: 1 }): Promise<string> {
		const { json } = await this.call("POST", `${project}/events`, { body: { type: "delivery.success", data } });
		return String(json.id);
	}

	/** Publishes an event for each status, one after the other, to a receiver that responds with it. */
	async deliver(project: string, ...statuses: number[]): Promise<string[]> {
		const events: string[] = [];
		for (const status of statuses) {
			this.receiver.answer = answered(status);
			events.push(await this.publish(project));
			await this.attempted();
		}
		return events;
	}

	/** Resolves once this many more attempts were committed, none of them in the current millisecond. */
	async attempted(count = 1): Promise<void> {
		this.#awaited += count;
		await this.#attempts.reached(this.#awaited);
		// A replay by filter skips events as new as itself.
		for (const reached = Date.now(); Date.now() === reached; ) await setImmediate();
	}

	/** The bytes of every file of the database. */
	databaseBytes(): Buffer {
		return Buffer.concat(readdirSync(this.#folder).map((name) => readFileSync(join(this.#folder, name))));
	}

	/** Every row of the database by table, except what changes without a call. */
	storedRows(): Record<string, unknown[]> {
		const db = new DatabaseSync(join(this.#folder, "test.db"), { readOnly: true });
		try {
			const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
			const names = tables.map(({ name }) => name).filter((name) => !BY_ITSELF.test(name));
			const lasting = (row: object) =>
				Object.fromEntries(Object.entries(row).filter(([name]) => !BY_ITSELF.test(name)));
			return Object.fromEntries(names.map((name) => [name, db.prepare(`SELECT * FROM ${name}`).all().map(lasting)]));
		} finally {
			db.close();
		}
	}

	async close(): Promise<void> {
		this.parts.longPolls.close();
		await this.app.close();
		await this.parts.apiKeys.close();
		await this.engine.stop();
		await this.#closeOthers();
		await this.receiver.close();
		await this.storage.close();
		rmSync(this.#folder, { recursive: true });
	}
}

interface Members {
	readonly app: FastifyInstance;
	readonly parts: ApiParts;
	readonly engine: RunningEngine;
	readonly receiver: Receiver;
	readonly logs: string[];
	readonly check: ResponseCheck;
	readonly folder: string;
	readonly attempts: AttemptSignal;
	readonly closeOthers: () => Promise<void>;
}

class AttemptSignal {
	#count = 0;
	#waiting: { readonly count: number; readonly resolve: () => void }[] = [];

	happened(): void {
		this.#count++;
		for (const { count, resolve } of this.#waiting) if (count <= this.#count) resolve();
		this.#waiting = this.#waiting.filter(({ count }) => count > this.#count);
	}

	reached(count: number): Promise<void> {
		if (this.#count >= count) return Promise.resolve();
		return new Promise((resolve) => this.#waiting.push({ count, resolve }));
	}
}

function logTo(lines: string[]): Logger {
	const write = (level: string) => (fields: object, message: string) => {
		const told = Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.stack : value]);
		lines.push(JSON.stringify({ level, message, ...Object.fromEntries(told) }));
	};
	return {
		debug: write("debug"),
		info: write("info"),
		warn: write("warn"),
		error: write("error"),
		isLevelEnabled: () => true,
	};
}
