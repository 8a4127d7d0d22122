import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Budget } from "../../base/budget.ts";
import type { RateName } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { EngineObserver, NodeState } from "../../engine/index.ts";
import type { Shortages } from "../../engine/send/shortages.ts";
import type { ConnectionUse, DatabaseObserver, PoolState } from "../../storage/port/observer.ts";
import type { AttemptStatus, Gauges, Storage } from "../../storage/port.ts";
import { countDatabase, countLosses, watchNode, watchPools, watchShortages } from "./node-metrics.ts";

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ATTEMPT_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** Storage is asked for its gauges at most this often, however many scrape. */
const GAUGES_EVERY_MS = 1_000;

/** The status classes, so that labels stay few. */
type StatusClass = "1xx" | "2xx" | "3xx" | "4xx" | "5xx";

/** What is counted, for Prometheus. No label names a project, a webhook or anything else that grows. */
export interface Metrics {
	readonly registry: Registry;
	/** Hand it to the engine: counts what it published and attempted. */
	readonly engine: Required<EngineObserver>;
	/** One request of the API; `route` is its pattern, never the path itself. */
	request(route: string, method: string, status: number, seconds: number): void;
	/** From now on shows what waits in storage. */
	watch(source: GaugeSource): void;
	/** Counts from now on what is done with a database that nodes share: hand it to the storage. */
	database(): DatabaseObserver;
	/** From now on shows the connections to it. */
	watchPools(read: () => Readonly<Record<ConnectionUse, PoolState>>): void;
	/** From now on shows what this node is short of. */
	watchShortages(shortages: Pick<Shortages, "lasts" | "total">): void;
	/** From now on shows what this node works. */
	watchNode(read: () => NodeState): void;
	/** From now on also shows these budgets, by their names. Throws if one of that name is shown already. */
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

	const requests = new Histogram({
		name: "posthorn_http_request_duration_seconds",
		help: "How long requests of the API took, by route, method and class of status.",
		labelNames: ["route", "method", "status"],
		buckets: REQUEST_BUCKETS_S,
		registers,
	});
	const published = new Counter({
		name: "posthorn_events_published_total",
		help: "Events that were committed to a log.",
		registers,
	});
	const attempts = new Counter({
		name: "posthorn_attempts_total",
		help: "Attempts that were committed, by outcome: delivered, retrying or failed (dead-lettered).",
		labelNames: ["outcome"],
		registers,
	});
	const durations = new Histogram({
		name: "posthorn_attempt_duration_seconds",
		help: "How long requests took until they were answered or given up; what reached no receiver is left out.",
		buckets: ATTEMPT_BUCKETS_S,
		registers,
	});

	// Bound once: looking labels up costs more than counting.
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
		},
		request(route, method, status, seconds) {
			const statusClass = `${Math.floor(status / 100)}xx` as StatusClass;
			requests.observe({ route, method, status: statusClass }, seconds);
		},
		watch: (source) => watchStorage(registry, source),
		database: () => countDatabase(registry),
		watchPools: (read) => watchPools(registry, read),
		watchShortages: (shortages) => watchShortages(registry, shortages),
		watchNode: (read) => watchNode(registry, read),
		watchBudgets: showBudgets(registry),
		watchRates: (read) => watchRates(registry, read),
	};
}

/** Gauges of storage, read when someone looks. When storage cannot answer they are left out, and `up` says so. */
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
		help: "1 while storage answers, else 0.",
		registers: [registry],
		async collect() {
			this.set((await read()) ? 1 : 0);
		},
	});
	gauge("posthorn_projects", "Projects.", ({ projects }) => projects);
	gauge("posthorn_webhooks", "Webhooks.", ({ webhooks }) => webhooks);
	gauge("posthorn_backlog_events", "Deliveries that wait for their first attempt.", ({ backlog }) => backlog);
	gauge(
		"posthorn_backlog_oldest_age_seconds",
		"How long the oldest of them has waited; 0 when none waits.",
		({ oldestAt }) => (oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1_000),
	);
	gauge(
		"posthorn_retries_waiting",
		"Deliveries that wait for their next attempt.",
		({ retriesWaiting }) => retriesWaiting,
	);
	gauge(
		"posthorn_dead_letters",
		"Deliveries that failed for good, still in the log.",
		({ deadLetters }) => deadLetters,
	);
}

function watchRates(registry: Registry, read: () => Iterable<readonly [RateName, number]>): void {
	new Counter({
		name: "posthorn_rate_refusals_total",
		help: "Requests that were refused because there were too many of their kind, by rate.",
		labelNames: ["rate"],
		registers: [registry],
		collect() {
			this.reset();
			for (const [rate, refusals] of read()) this.inc({ rate }, refusals);
		},
	});
}

/** What metrics show of a budget. */
export type WatchedBudget = Pick<Budget, "name" | "limit" | "used" | "refusals">;

/** Shows budgets by their names: the returned function adds some to those that are shown. */
export function showBudgets(registry: Registry): (budgets: readonly WatchedBudget[]) => void {
	const watched: WatchedBudget[] = [];
	const registers = [registry];
	const labelNames = ["budget"] as const;
	const gauge = (name: string, help: string, read: (budget: WatchedBudget) => number) =>
		new Gauge({
			name,
			help,
			labelNames,
			registers,
			collect() {
				for (const budget of watched) this.set({ budget: budget.name }, read(budget));
			},
		});
	gauge("posthorn_budget_limit", "What all owners of a budget may hold together.", ({ limit }) => limit);
	gauge("posthorn_budget_used", "What they hold.", ({ used }) => used);
	new Counter({
		name: "posthorn_budget_refusals_total",
		help: "How often a budget gave nothing, because an owner's share or the whole of it was used up.",
		labelNames,
		registers,
		collect() {
			this.reset();
			for (const budget of watched) this.inc({ budget: budget.name }, budget.refusals);
		},
	});
	return (budgets) => {
		for (const budget of budgets) {
			if (watched.some(({ name }) => name === budget.name))
				throw new Error(`Two budgets are named ${budget.name}; metrics could not tell them apart.`);
			watched.push(budget);
		}
	};
}
