import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Budget } from "../base/budget.ts";
import type { RateName } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { EngineObserver, NodeState, ProjectLoss } from "../engine/index.ts";
import { SHORTAGES, type Shortages } from "../net/shortages.ts";
import type { Handshakes } from "../net/tls/handshakes.ts";
import type { HealthCount } from "../registry/health-count.ts";
import type { AttemptStatus, ConnectionUse, DatabaseObserver, Gauges, PoolState, Storage } from "../storage/port.ts";
import { VERSION } from "../version.ts";

/** For requests and for commits. */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** Storage is queried for its gauges at most this often, however many scrapers there are. */
const GAUGES_EVERY_MS = 1_000;

/** Status classes, so that labels stay few. */
type StatusClass = "1xx" | "2xx" | "3xx" | "4xx" | "5xx";

/** The Prometheus metrics. No label names a project, a webhook or anything else that grows. */
export interface Metrics {
	readonly registry: Registry;
	/** For the engine: counts what it publishes and attempts. */
	readonly engine: Omit<Required<EngineObserver>, "passed">;
	/** One request of the API; `route` is its pattern, never the path itself. */
	request(route: string, method: string, status: number, seconds: number): void;
	/** Adds gauges of the backlog in storage. */
	watch(source: GaugeSource): void;
	/** Adds a gauge of webhooks by their health. */
	watchHealth(count: Pick<HealthCount, "read">): void;
	/** For the storage: counts work on a database that nodes share. */
	database(): DatabaseObserver;
	/** Adds gauges of the connections to it. */
	watchPools(read: () => Readonly<Record<ConnectionUse, PoolState>>): void;
	/** Adds gauges of this node's shortages. */
	watchShortages(shortages: Pick<Shortages, "lasts" | "total">): void;
	/** Adds a gauge of whether nothing ages because the clock isn't trusted. */
	watchClock(isOnHold: () => boolean): void;
	watchQuarantine(isQuarantined: () => boolean): void;
	/** Adds a counter of costly handshakes with receivers. */
	watchHandshakes(handshakes: Pick<Handshakes, "costly">): void;
	/** Adds gauges of this node's projects. */
	watchNode(read: () => NodeState): void;
	/** Adds these budgets, by their names. Throws if one of that name is already shown. */
	watchBudgets(budgets: readonly WatchedBudget[]): void;
	/** From now on also shows how often each rate refused a request. */
	watchRates(read: () => Iterable<readonly [RateName, number]>): void;
}

export interface GaugeSource {
	readonly storage: Pick<Storage, "gauges">;
	readonly clock: Pick<Clock, "now">;
	readonly logger: Logger;
}

export function createMetrics(): Metrics {
	const registry = new Registry();
	collectDefaultMetrics({ register: registry });
	const registers = [registry];

	new Gauge({
		name: "posthorn_build_info",
		help: "Always 1; the label is the version of Posthorn that this node runs.",
		labelNames: ["version"],
		registers,
	}).set({ version: VERSION }, 1);
	const requests = new Histogram({
		name: "posthorn_http_request_duration_seconds",
		help: "Duration of API requests by route, method and status class.",
		labelNames: ["route", "method", "status"],
		buckets: BUCKETS_S,
		registers,
	});
	const published = new Counter({
		name: "posthorn_events_published_total",
		help: "Events committed to a log.",
		registers,
	});
	const attempts = new Counter({
		name: "posthorn_attempts_total",
		help: "Attempts committed, by outcome: delivered, retrying or failed (dead-lettered).",
		labelNames: ["outcome"],
		registers,
	});
	const deleted = new Counter({
		name: "posthorn_retention_deleted_total",
		help: "Rows that retention deleted: events, or attempts of the delivery log.",
		labelNames: ["rows"],
		registers,
	});
	const durations = new Histogram({
		name: "posthorn_attempt_duration_seconds",
		help: "Duration of requests until a response or a timeout; attempts that reached no receiver are left out.",
		buckets: ATTEMPT_BUCKETS_S,
		registers,
	});

	// Bound once: looking up labels costs more than counting.
	const outcomes: Record<AttemptStatus, Counter.Internal> = {
		delivered: attempts.labels("delivered"),
		retrying: attempts.labels("retrying"),
		failed: attempts.labels("failed"),
	};
	return {
		registry,
		engine: {
			published: (_projectId, count) => published.inc(count),
			attempted(_projectId, _eventId, { status, responseMs, sent }) {
				outcomes[status].inc();
				if (sent) durations.observe(responseMs / 1_000);
			},
			lost: countLosses(registry),
			swept: (rows, count) => deleted.inc({ rows }, count),
		},
		request(route, method, status, seconds) {
			const statusClass = `${Math.floor(status / 100)}xx` as StatusClass;
			requests.observe({ route, method, status: statusClass }, seconds);
		},
		watch: (source) => watchStorage(registry, source),
		watchHealth: (count) => watchHealth(registry, count),
		database: () => countDatabase(registry),
		watchPools: (read) => watchPools(registry, read),
		watchShortages: (shortages) => watchShortages(registry, shortages),
		watchClock: (isOnHold) => watchClock(registry, isOnHold),
		watchQuarantine: (isQuarantined) => watchQuarantine(registry, isQuarantined),
		watchHandshakes: (handshakes) => watchHandshakes(registry, handshakes),
		watchNode: (read) => watchNode(registry, read),
		watchBudgets: showBudgets(registry),
		watchRates: (read) => watchRates(registry, read),
	};
}

/** Storage gauges, read on scrape. If storage doesn't respond they are left out, and `up` says so. */
function watchStorage(registry: Registry, { storage, clock, logger }: GaugeSource): void {
	const now = () => clock.now();
	let readAt = Number.NEGATIVE_INFINITY;
	let reading: Promise<Gauges | null> = Promise.resolve(null);
	const read = () => {
		if (now() - readAt >= GAUGES_EVERY_MS) {
			readAt = now();
			reading = storage.gauges().catch((error: unknown) => {
				logger.warn({ err: error }, "failed to read gauges from storage");
				return null;
			});
		}
		return reading;
	};
	const gauge = (name: string, help: string, value: (gauges: Gauges) => number) =>
		new Gauge({
			name,
			help,
			registers: [registry],
			async collect() {
				const gauges = await read();
				if (gauges) this.set(value(gauges));
				else this.remove();
			},
		});
	new Gauge({
		name: "posthorn_storage_up",
		help: "1 while storage responds, else 0.",
		registers: [registry],
		async collect() {
			this.set((await read()) ? 1 : 0);
		},
	});
	gauge("posthorn_projects", "Projects.", ({ projects }) => projects);
	gauge("posthorn_webhooks", "Webhooks.", ({ webhooks }) => webhooks);
	gauge("posthorn_backlog_events", "Deliveries waiting for their first attempt.", ({ backlog }) => backlog);
	gauge(
		"posthorn_backlog_oldest_age_seconds",
		"How long the oldest of them has waited; 0 if there is none.",
		({ oldestAt }) => (oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1_000),
	);
	gauge(
		"posthorn_retries_waiting",
		"Deliveries waiting for their next attempt.",
		({ retriesWaiting }) => retriesWaiting,
	);
	gauge(
		"posthorn_dead_letters",
		"Dead-lettered deliveries that are still in the log.",
		({ deadLetters }) => deadLetters,
	);
}

/** Shows webhooks by their health, once they have been counted. */
function watchHealth(registry: Registry, count: Pick<HealthCount, "read">): void {
	const help = "Webhooks by their health: failing, unstable, healthy, idle or paused. Counted about once a minute.";
	new Gauge({
		name: "posthorn_webhook_health",
		help,
		labelNames: ["health"],
		registers: [registry],
		collect() {
			const counts = count.read();
			if (counts === null) this.reset();
			else for (const [health, webhooks] of Object.entries(counts)) this.set({ health }, webhooks);
		},
	});
}

/** Values by their labels; none for a metric without labels. */
type Values = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** Shows values that are read on each scrape. A counter's are totals. */
function show(
	registry: Registry,
	kind: "gauge" | "counter",
	name: string,
	help: string,
	labelNames: string[],
	read: () => Values,
): void {
	const options = { name, help, labelNames, registers: [registry] };
	if (kind === "gauge")
		new Gauge({
			...options,
			collect() {
				for (const [labels, value] of read()) this.set(labels, value);
			},
		});
	else
		new Counter({
			...options,
			collect() {
				this.reset();
				for (const [labels, value] of read()) this.inc(labels, value);
			},
		});
}

function watchRates(registry: Registry, read: () => Iterable<readonly [RateName, number]>): void {
	const help = "Requests that were refused because there were too many of their kind, by rate.";
	show(registry, "counter", "posthorn_rate_refusals_total", help, ["rate"], () =>
		Array.from(read(), ([rate, refusals]) => [{ rate }, refusals]),
	);
}

/** The metrics of a budget. */
export type WatchedBudget = Pick<Budget, "name" | "limit" | "used" | "refusals">;

/** Shows budgets by their names: the returned function adds more. */
export function showBudgets(registry: Registry): (budgets: readonly WatchedBudget[]) => void {
	const watched: WatchedBudget[] = [];
	const values = (field: "limit" | "used" | "refusals") => (): Values =>
		watched.map((budget) => [{ budget: budget.name }, budget[field]]);
	const limit = "The budget's limit for all owners together.";
	const refusals = "Refusals because an owner's share or the whole budget was used up.";
	show(registry, "gauge", "posthorn_budget_limit", limit, ["budget"], values("limit"));
	show(registry, "gauge", "posthorn_budget_used", "The amount in use.", ["budget"], values("used"));
	show(registry, "counter", "posthorn_budget_refusals_total", refusals, ["budget"], values("refusals"));
	return (budgets) => {
		for (const budget of budgets) {
			if (watched.some(({ name }) => name === budget.name))
				throw new Error(`Two budgets are named ${budget.name}; their metrics would collide.`);
			watched.push(budget);
		}
	};
}

/** Metrics of each node. Its id is new at each start. */
function watchNode(registry: Registry, read: () => NodeState): void {
	const gauge = (name: string, help: string, value: (state: NodeState) => number) =>
		show(registry, "gauge", name, help, [], () => [[{}, value(read())]]);
	show(
		registry,
		"gauge",
		"posthorn_node_info",
		"Always 1; the label is this node's id, as in the database and in logs.",
		["node"],
		() => [[{ node: read().id }, 1]],
	);
	gauge("posthorn_node_projects", "Projects that this node runs.", ({ projects }) => projects);
	gauge(
		"posthorn_projects_refused",
		"Projects paused on this node because their outcomes can't be committed: storage refuses them, or there is a bug.",
		({ refused }) => refused,
	);
	if (read().sharing === null) return;
	gauge(
		"posthorn_node_share_projects",
		"The most projects that this node acquires on its own: its share of all, plus a quarter.",
		({ sharing }) => sharing?.share ?? 0,
	);
	gauge(
		"posthorn_nodes",
		"Live nodes when this node last checked, including itself.",
		({ sharing }) => sharing?.nodes ?? 0,
	);
}

/** Shows this node's shortages, and how many sends they deferred. */
function watchShortages(registry: Registry, shortages: Pick<Shortages, "lasts" | "total">): void {
	const total = "Sends deferred because this node ran out of something: descriptors, memory, ports or name_servers.";
	show(registry, "counter", "posthorn_shortages_total", total, ["kind"], () =>
		SHORTAGES.map((kind) => [{ kind }, shortages.total(kind)]),
	);
	show(registry, "gauge", "posthorn_shortage", "1 during the shortage, else 0.", ["kind"], () =>
		SHORTAGES.map((kind) => [{ kind }, shortages.lasts(kind) ? 1 : 0]),
	);
}

/** Shows whether retention waits for an operator to confirm the clock. */
function watchClock(registry: Registry, isOnHold: () => boolean): void {
	new Gauge({
		name: "posthorn_clock_hold",
		help: "1 while the clock is too far ahead to be trusted, so that nothing is deleted or dead-lettered for its age; else 0.",
		registers: [registry],
		collect() {
			this.set(isOnHold() ? 1 : 0);
		},
	});
}

/** Shows whether a restored database waits for an operator to release it. */
function watchQuarantine(registry: Registry, isQuarantined: () => boolean): void {
	new Gauge({
		name: "posthorn_quarantine",
		help: "1 while the database was restored and not released yet, so that nothing is sent; else 0.",
		registers: [registry],
		collect() {
			this.set(isQuarantined() ? 1 : 0);
		},
	});
}

/** Shows how many handshakes with receivers took too much. */
function watchHandshakes(registry: Registry, handshakes: Pick<Handshakes, "costly">): void {
	const help = "TLS handshakes with receivers that took too much CPU time or too many bytes.";
	show(registry, "counter", "posthorn_costly_handshakes_total", help, [], () => [[{}, handshakes.costly]]);
}

/** Counts projects that a node dropped without releasing their leases, by reason. */
function countLosses(registry: Registry): (why: ProjectLoss) => void {
	const losses = new Counter({
		name: "posthorn_projects_lost_total",
		help: "Projects that this node dropped without releasing their leases: stale, expired, rewound, epoch, refused or fault.",
		labelNames: ["why"],
		registers: [registry],
	});
	for (const why of ["stale", "expired", "rewound", "epoch", "refused", "fault"] satisfies ProjectLoss[])
		losses.inc({ why }, 0);
	return (why) => losses.inc({ why });
}

/** Counts a node's work on connections to a shared database. */
function countDatabase(registry: Registry): Required<DatabaseObserver> {
	const registers = [registry];
	const labelNames = ["pool"] as const;
	const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
	const commits = new Histogram({
		name: "posthorn_database_commit_duration_seconds",
		help: "Duration of transactions from their start until the response to their commit, by purpose.",
		labelNames,
		buckets: BUCKETS_S,
		registers,
	});
	const repeats = counter("posthorn_database_conflicts_total", "Transactions that were retried.");
	const opened = counter("posthorn_database_connections_opened_total", "Connections opened.");
	const lost = counter("posthorn_database_connections_lost_total", "Connections broken.");
	const takenOver = new Counter({
		name: "posthorn_projects_taken_over_total",
		help: "Projects acquired from a node that hadn't released them.",
		registers,
	});
	const lostEvents = new Counter({
		name: "posthorn_log_lost_events_total",
		help: "Acknowledged events found missing after the database continued from an earlier state.",
		registers,
	});
	return {
		committed: (pool, seconds) => commits.observe({ pool }, seconds),
		repeated: (pool) => repeats.inc({ pool }),
		connected: (pool) => opened.inc({ pool }),
		disconnected: (pool) => lost.inc({ pool }),
		takenOver: (projects) => takenOver.inc(projects),
		lostTail: ({ count }) => lostEvents.inc(count),
	};
}

/** Shows the use of the connections. */
function watchPools(registry: Registry, read: () => Readonly<Record<ConnectionUse, PoolState>>): void {
	const open = "Open database connections, by purpose and by whether they are in use.";
	show(registry, "gauge", "posthorn_database_connections", open, ["pool", "state"], () =>
		Object.entries(read()).flatMap(([pool, { busy, idle }]) => [
			[{ pool, state: "busy" }, busy] as const,
			[{ pool, state: "idle" }, idle] as const,
		]),
	);
	show(registry, "gauge", "posthorn_database_waiting", "Calls waiting for a connection.", ["pool"], () =>
		Object.entries(read()).map(([pool, { waiting }]) => [{ pool }, waiting]),
	);
}
