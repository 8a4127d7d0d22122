import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Budget } from "../base/budget.ts";
import { POOLS, type RateName } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { type EngineObserver, type NodeState, type ProjectLoss, REASONS } from "../engine/index.ts";
import { SHORTAGES, type Shortages } from "../net/shortages.ts";
import type { Handshakes } from "../net/tls/handshakes.ts";
import type { HealthCount } from "../registry/health-count.ts";
import {
	type AttemptStatus,
	type ConnectionUse,
	type DatabaseObserver,
	type Gauges,
	isClosing,
	type PoolState,
	type Storage,
} from "../storage/port.ts";
import { VERSION } from "../version.ts";
import { GaugeReader } from "./gauge-reader.ts";
import type { StorageCheck } from "./storage-check.ts";

/** For requests and for commits. */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Only those below the timeout are used. */
const ATTEMPT_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120];
/** From an event that is sent right away to one whose webhook was paused for a day. */
const LAG_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 86_400];
/** Classes of status codes of attempts that failed. */
const STATUS_CLASSES = ["3xx", "4xx", "5xx"];

interface GaugeSource {
	readonly storageCheck: Pick<StorageCheck, "read">;
	readonly storage: Pick<Storage, "gauges">;
	readonly clock: Pick<Clock, "now" | "elapsed" | "setTimeout">;
	readonly logger: Logger;
}

type WatchedBudget = Pick<Budget, "name" | "limit" | "used" | "refusals">;

/** Values by their labels; none for a metric without labels. */
type Values = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The Prometheus metrics. No label names a project, a webhook or anything else that grows.
 *
 * @param attemptTimeoutMs the sender's timeout
 */
export function createMetrics(attemptTimeoutMs: number) {
	const attemptTimeoutS = attemptTimeoutMs / 1_000;
	const registry = new Registry();
	collectDefaultMetrics({ register: registry });
	const { counter, histogram, gauge, gauges, counters } = metricsOf(registry);

	gauges(
		"posthorn_build_info",
		"Always 1; the label is the version of Posthorn that this node runs.",
		["version"],
		() => [[{ version: VERSION }, 1]],
	);
	const requests = histogram(
		"posthorn_http_request_duration_seconds",
		"Duration of API requests, without streams and calls that wait, by route, method and status class.",
		BUCKETS_S,
		["route", "method", "status"],
	);
	const published = counter("posthorn_events_published_total", "Events that this node committed.");
	const attempts = counter(
		"posthorn_attempts_total",
		"Attempts committed, by outcome: delivered, retrying, or failed (dead-lettered, or closed without a request).",
		["outcome"],
	);
	const failures = counter(
		"posthorn_attempt_failures_total",
		"Attempts that failed, by outcome (retrying or failed) and cause: the status code's class, or an error code.",
		["outcome", "cause"],
	);
	const deleted = counter(
		"posthorn_retention_deleted_total",
		"Rows that retention deleted: events, or attempts of the delivery log.",
		["rows"],
	);
	const durations = histogram(
		"posthorn_attempt_duration_seconds",
		"Duration of requests until a response or a timeout; attempts that reached no receiver are left out.",
		[...ATTEMPT_BUCKETS_S.filter((bound) => bound < attemptTimeoutS), attemptTimeoutS],
	);
	const lags = histogram(
		"posthorn_delivery_lag_seconds",
		"Time from an event's publishing to the start of its first attempt.",
		LAG_BUCKETS_S,
	);
	const losses = counter(
		"posthorn_projects_lost_total",
		"Projects that this node dropped without releasing their leases: stale, expired, rewound, epoch, refused or fault.",
		["why"],
	);
	for (const why of ["stale", "expired", "rewound", "epoch", "refused", "fault"] satisfies ProjectLoss[])
		losses.inc({ why }, 0);
	// A series that begins with its first event shows no increase for it, so alerts would miss that one.
	for (const outcome of ["delivered", "retrying", "failed"] satisfies AttemptStatus[]) attempts.inc({ outcome }, 0);
	for (const cause of [...STATUS_CLASSES, ...REASONS]) {
		// A delivery that is closed without a request isn't retried.
		if (!isClosing(cause)) failures.inc({ outcome: "retrying", cause }, 0);
		failures.inc({ outcome: "failed", cause }, 0);
	}
	for (const rows of ["events", "attempts"] as const) deleted.inc({ rows }, 0);

	// Bound once: looking up labels costs more than counting.
	const outcomes: Record<AttemptStatus, Counter.Internal> = {
		delivered: attempts.labels("delivered"),
		retrying: attempts.labels("retrying"),
		failed: attempts.labels("failed"),
	};
	const engine: Omit<Required<EngineObserver>, "passed"> = {
		published: (_projectId, events) => published.inc(events.length),
		attempted(_projectId, _eventId, { status, statusCode, errorCode, responseMs, sent }, lagMs) {
			outcomes[status].inc();
			if (status !== "delivered") {
				const cause = statusCode === null ? errorCode! : classOf(statusCode);
				failures.inc({ outcome: status, cause });
			}
			// A timeout ends slightly late, which would be beyond the last bucket.
			if (sent) durations.observe(Math.min(responseMs / 1_000, attemptTimeoutS));
			if (lagMs !== null) lags.observe(lagMs / 1_000);
		},
		lost: (why) => losses.inc({ why }),
		swept: (rows, count) => deleted.inc({ rows }, count),
	};

	const budgets: WatchedBudget[] = [];
	const ofBudgets = (field: "limit" | "used" | "refusals") => (): Values =>
		budgets.map((budget) => [{ budget: budget.name }, budget[field]]);
	const limit = "The budget's limit for all owners together.";
	const refusals = "Refusals because an owner's share or the whole budget was used up.";
	gauges("posthorn_budget_limit", limit, ["budget"], ofBudgets("limit"));
	gauges("posthorn_budget_used", "The amount in use.", ["budget"], ofBudgets("used"));
	counters("posthorn_budget_refusals_total", refusals, ["budget"], ofBudgets("refusals"));

	return {
		registry,
		engine,
		/** One request of the API; `route` is its pattern, never the path itself. */
		request(route: string, method: string, status: number, seconds: number): void {
			requests.observe({ route, method, status: classOf(status) }, seconds);
		},
		/**
		 * Storage gauges, left out while storage fails, or hasn't responded for a minute. `posthorn_storage_up` is 0 while
		 * storage fails, doesn't respond in time, or is full.
		 */
		watchStorage({ storage, storageCheck, clock, logger }: GaugeSource): void {
			const reader = new GaugeReader(storage, clock, logger);
			const stored = (name: string, help: string, value: (gauges: Gauges) => number) =>
				gauge(name, help, async () => {
					const gauges = await reader.read();
					return typeof gauges === "string" ? null : value(gauges);
				});
			gauge("posthorn_storage_up", "1 while storage reads and commits, else 0.", async () => {
				const [gauges, state] = await Promise.all([reader.read(), storageCheck.read()]);
				return Number(gauges !== "failed" && state === "ok");
			});
			stored("posthorn_projects", "Projects.", ({ projects }) => projects);
			stored("posthorn_webhooks", "Webhooks.", ({ webhooks }) => webhooks);
			stored("posthorn_backlog_events", "Deliveries waiting for their first attempt.", ({ backlog }) => backlog);
			const paused = "Deliveries to paused webhooks that wait for their first attempt.";
			stored("posthorn_backlog_paused_events", paused, ({ pausedBacklog }) => pausedBacklog);
			const age =
				"How long the oldest delivery to an active webhook has waited for its first attempt; 0 if none waits.";
			stored("posthorn_backlog_oldest_age_seconds", age, ({ oldestAt }) =>
				oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt) / 1_000,
			);
			const retries = "Deliveries waiting for a retry or a replay.";
			stored("posthorn_retries_waiting", retries, ({ retriesWaiting }) => retriesWaiting);
			const dead = "Dead-lettered deliveries that were neither replayed nor dismissed.";
			stored("posthorn_dead_letters", dead, ({ deadLetters }) => deadLetters);
		},
		watchHealth(count: Pick<HealthCount, "read">): void {
			const help = "Webhooks by their health: failing, unstable, healthy, idle or paused. Counted about once a minute.";
			// None until they have been counted.
			gauges("posthorn_webhook_health", help, ["health"], () =>
				Object.entries(count.read() ?? {}).map(([health, webhooks]) => [{ health }, webhooks]),
			);
		},
		/** Counts alerts. */
		alerts(): (outcome: "delivered" | "failed") => void {
			const alerts = counter("posthorn_alerts_total", "Alerts to the operator's receiver, by outcome.", ["outcome"]);
			for (const outcome of ["delivered", "failed"]) alerts.inc({ outcome }, 0);
			return (outcome) => alerts.inc({ outcome });
		},
		/** Counts work on a database that nodes share. */
		database(): Required<DatabaseObserver> {
			const commits = histogram(
				"posthorn_database_commit_duration_seconds",
				"Duration of transactions from their start until the response to their commit, by purpose.",
				BUCKETS_S,
				["pool"],
			);
			const repeats = counter("posthorn_database_conflicts_total", "Transactions that were retried.", ["pool"]);
			const opened = counter("posthorn_database_connections_opened_total", "Connections opened.", ["pool"]);
			const lost = counter("posthorn_database_connections_lost_total", "Connections broken.", ["pool"]);
			for (const pool of Object.keys(POOLS) as ConnectionUse[]) {
				commits.zero({ pool });
				for (const each of [repeats, opened, lost]) each.inc({ pool }, 0);
			}
			const takenOver = counter(
				"posthorn_projects_taken_over_total",
				"Projects acquired from a node that hadn't released them.",
			);
			const lostEvents = counter(
				"posthorn_log_lost_events_total",
				"Acknowledged events found missing after the database continued from an earlier state.",
			);
			return {
				committed: (pool, seconds) => commits.observe({ pool }, seconds),
				repeated: (pool) => repeats.inc({ pool }),
				connected: (pool) => opened.inc({ pool }),
				disconnected: (pool) => lost.inc({ pool }),
				takenOver: (projects) => takenOver.inc(projects),
				lostTail: ({ count }) => lostEvents.inc(count),
			};
		},
		watchPools(read: () => Readonly<Record<ConnectionUse, PoolState>>): void {
			const open = "Open database connections, by purpose and by whether they are in use.";
			gauges("posthorn_database_connections", open, ["pool", "state"], () =>
				Object.entries(read()).flatMap(([pool, { busy, idle }]) => [
					[{ pool, state: "busy" }, busy] as const,
					[{ pool, state: "idle" }, idle] as const,
				]),
			);
			gauges("posthorn_database_waiting", "Calls waiting for a connection.", ["pool"], () =>
				Object.entries(read()).map(([pool, { waiting }]) => [{ pool }, waiting]),
			);
		},
		watchShortages(shortages: Pick<Shortages, "lasts" | "total">): void {
			const total =
				"Sends deferred or ended because this node ran out of something: descriptors, memory, ports or name_servers.";
			counters("posthorn_shortages_total", total, ["kind"], () =>
				SHORTAGES.map((kind) => [{ kind }, shortages.total(kind)]),
			);
			gauges("posthorn_shortage", "1 during the shortage, else 0.", ["kind"], () =>
				SHORTAGES.map((kind) => [{ kind }, Number(shortages.lasts(kind))]),
			);
		},
		watchClock(isOnHold: () => boolean, databaseAheadMs: () => number): void {
			const help =
				"1 while the clock is too far ahead to be trusted, so that nothing is deleted or dead-lettered for its age; else 0.";
			gauge("posthorn_clock_hold", help, () => Number(isOnHold()));
			const ahead = "How far the database's clock is ahead of this node's; 0 within half a second, and on SQLite.";
			gauge("posthorn_database_clock_ahead_seconds", ahead, () => databaseAheadMs() / 1_000);
		},
		watchQuarantine(isQuarantined: () => boolean): void {
			const help = "1 while the database was restored and not released yet, so that nothing is sent; else 0.";
			gauge("posthorn_quarantine", help, () => Number(isQuarantined()));
		},
		watchHandshakes(handshakes: Pick<Handshakes, "costly">): void {
			const help = "TLS handshakes with receivers that took too much CPU time or too many bytes.";
			counters("posthorn_costly_handshakes_total", help, [], () => [[{}, handshakes.costly]]);
		},
		watchNode(read: () => NodeState): void {
			const node = "Always 1; the label is this node's id, as in the database and in logs.";
			gauges("posthorn_node_info", node, ["node"], () => [[{ node: read().id }, 1]]);
			gauge("posthorn_node_projects", "Projects that this node runs.", () => read().projects);
			const refused =
				"Projects paused on this node because their outcomes can't be committed: storage refuses them, or there is a bug.";
			gauge("posthorn_projects_refused", refused, () => read().refused);
			if (read().sharing === null) return;
			const share = "The most projects that this node acquires on its own: its share of all, plus a quarter.";
			gauge("posthorn_node_share_projects", share, () => read().sharing?.share ?? 0);
			const nodes = "Live nodes when this node last checked, including itself.";
			gauge("posthorn_nodes", nodes, () => read().sharing?.nodes ?? 0);
		},
		watchBudgets(added: readonly WatchedBudget[]): void {
			for (const budget of added) {
				if (budgets.some(({ name }) => name === budget.name))
					throw new Error(`Two budgets are named ${budget.name}; their metrics would collide.`);
				budgets.push(budget);
			}
		},
		watchRates(read: () => Iterable<readonly [RateName, number]>): void {
			const help = "Requests that were refused because there were too many of their kind, by rate.";
			counters("posthorn_rate_refusals_total", help, ["rate"], () =>
				Array.from(read(), ([rate, refusals]) => [{ rate }, refusals]),
			);
		},
	};
}

/** The class of a status code, such as `5xx`. */
const classOf = (status: number): string => `${Math.floor(status / 100)}xx`;

/** Adds metrics: `counter` and `histogram` return one to update, and the others read their values on each scrape. */
function metricsOf(registry: Registry) {
	const registers = [registry];
	return {
		counter: (name: string, help: string, labelNames: string[] = []) =>
			new Counter({ name, help, labelNames, registers }),
		histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
			new Histogram({ name, help, buckets, labelNames, registers }),
		/** Left out while its value is null. */
		gauge: (name: string, help: string, read: () => number | null | Promise<number | null>) =>
			new Gauge({
				...{ name, help, registers },
				async collect() {
					const value = await read();
					if (value === null) this.remove();
					else this.set(value);
				},
			}),
		gauges: (name: string, help: string, labelNames: string[], read: () => Values) =>
			new Gauge({
				...{ name, help, labelNames, registers },
				collect() {
					this.reset();
					for (const [labels, value] of read()) this.set(labels, value);
				},
			}),
		counters: (name: string, help: string, labelNames: string[], read: () => Values) =>
			new Counter({
				...{ name, help, labelNames, registers },
				collect() {
					this.reset();
					for (const [labels, value] of read()) this.inc(labels, value);
				},
			}),
	};
}
