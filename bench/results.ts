/** The results of a benchmark run, as `--json` prints them. */
export interface Results {
	/** Signed 1 KB POSTs per second of undici's `dispatch`, nothing stored: the median of all readings in a run. */
	readonly limit_per_s?: number;
	readonly runs?: readonly ThroughputRun[];
	readonly latency_ms?: Latency;
	readonly memory_mb?: Memory;
	readonly log_pages?: LogPages;
	readonly pending?: Pending;
	readonly old_snapshot?: OldSnapshot;
	readonly nodes?: Nodes;
	readonly idle_nodes?: readonly IdleNodes[];
	readonly facts?: Facts;
	readonly neighbours?: readonly NeighbourRun[];
	readonly client?: readonly ClientCost[];
	readonly dashboard?: readonly DashboardTime[];
	readonly soak?: readonly Soak[];
	readonly against?: Against;
	readonly single?: readonly SingleRun[];
	readonly unwanted?: Unwanted;
	readonly many_webhooks?: ManyWebhooks;
	readonly retention?: readonly RetentionRun[];
	readonly search?: readonly SearchRun[];
	readonly upgrade?: readonly UpgradeRun[];
	readonly machine: Machine;
}

/** The whole path, from publishing over the API to the receiver, every step durable. */
export interface ThroughputRun {
	readonly engine: "sqlite" | "postgres";
	readonly webhooks: number;
	/** How many webhooks each event goes to. */
	readonly fanout: number;
	readonly deliveries: number;
	/** Deliveries per second from a round's first receipt to its last: the median of the rounds. */
	readonly per_s: number;
	/** A round's rate divided by the limit measured right before and after it: the median of the rounds. */
	readonly ratio: number;
	/** User and system time of the service process (not of PostgreSQL) per delivery, microseconds. Null without /proc. */
	readonly cpu_us: number | null;
	/** First arrivals with a lower number than one that the webhook had seen before. */
	readonly out_of_order: number;
	/** Deliveries that didn't arrive. */
	readonly missing: number;
}

/** From just before the publishing request was sent until the receiver had the delivery, milliseconds. */
export interface Latency extends Quantiles {
	/** The same client sending directly to the receiver, for comparison. */
	readonly bare: Quantiles;
	/** The same client publishing to the least that delivers durably. */
	readonly least: Quantiles;
}

interface Quantiles {
	readonly p50: number;
	readonly p99: number;
}

/** Resident memory of the service process, MB (10⁶ bytes). */
export interface Memory {
	readonly idle: number;
	/** Just after they were published. */
	readonly million_waiting: number;
	/** After a few idle seconds. */
	readonly million_waiting_quiet: number;
	/** The maximum while the backlog was being delivered. */
	readonly draining: number;
}

/** CPU time of the service's main thread for one thing that its HTTP client does: the median of the rounds. */
export interface ClientCost {
	readonly what: string;
	/** Microseconds. */
	readonly us: number;
}

/** One event in a request, on 50 connections over 100 projects: CPU time from the request to the settled delivery. */
export interface SingleRun {
	readonly engine: "sqlite" | "postgres";
	/** The service's CPU time for an event, without PostgreSQL's own, microseconds: the median of the rounds. */
	readonly cpu_us: number;
	/** A bare Fastify JSON POST, and a bare signed send, in the same rounds. */
	readonly bare_request_us: number;
	readonly bare_send_us: number;
	/** The least that does both durably (see least-process.ts), and the median of its ratio to the two bare ones. */
	readonly least_us: number;
	readonly least_ratio: number;
	/** Each round's `cpu_us` over the sum of the two bare ones, and the median. */
	readonly ratios: readonly number[];
	readonly ratio: number;
	/** Published events per second. */
	readonly per_s: number;
	readonly threads: readonly ThreadCost[];
}

/** CPU time of an event with and without webhooks in its project that don't want it, microseconds. */
export interface Unwanted {
	readonly webhooks: number;
	readonly with_us: number;
	readonly without_us: number;
	/** With over without, in each round, and the median. */
	readonly ratios: readonly number[];
	readonly ratio: number;
}

/** The whole path with many webhooks and with few, each in its own project, in requests of the same size. Medians of the rounds. */
export interface ManyWebhooks {
	readonly many: number;
	readonly few: number;
	/** In each turn of a round. */
	readonly deliveries: number;
	readonly events_per_request: number;
	/** Deliveries per second. */
	readonly many_per_s: number;
	readonly few_per_s: number;
	/** The service's CPU time per delivery, microseconds. */
	readonly many_cpu_us: number;
	readonly few_cpu_us: number;
	/** The rate with many over that with few, in each round, and the median. */
	readonly ratios: readonly number[];
	readonly ratio: number;
}

/** The whole path while retention deletes old events, compared with the same service before and after that. Medians of the rounds. */
export interface RetentionRun {
	readonly engine: "sqlite" | "postgres";
	readonly old_events: number;
	/** Attempts that each old event had, which are deleted, too. */
	readonly attempts_each: number;
	/** Deliveries per second. */
	readonly without_per_s: number;
	readonly with_per_s: number;
	/** With over without, in each round, and the median. */
	readonly ratios: readonly number[];
	readonly ratio: number;
	/** Meanwhile; each event has as many attempts. */
	readonly created_events_per_s: number;
	readonly deleted_events_per_s: number;
	/** Whether at least as much is deleted as created, at 0.9 of the rate without. */
	readonly keeps_up: boolean;
	/** How long PostgreSQL's vacuum of the events takes after that, seconds; null on SQLite. */
	readonly vacuum_s: number | null;
}

/** The whole path with events that have an order id and a customer, compared with values in fields that aren't indexed. */
export interface SearchRun {
	readonly engine: "sqlite" | "postgres";
	/** In each turn of a round. */
	readonly events: number;
	/** Deliveries per second: medians of the rounds. */
	readonly with_per_s: number;
	readonly without_per_s: number;
	/** With over without, in each round, and the median. */
	readonly ratios: readonly number[];
	readonly ratio: number;
	/** The same of the service's CPU time per delivery, without PostgreSQL's own: the median. */
	readonly cpu_ratio: number;
	/** Whether `ratio` meets the goal. */
	readonly met: boolean;
}

/** A database of the previous release is opened by this one. */
export interface UpgradeRun {
	readonly engine: "sqlite" | "postgres";
	/** In the database. */
	readonly events: number;
	/**
	 * How long publishing is blocked. On PostgreSQL, the slowest publish on a node of the previous release while the
	 * database is migrated. On SQLite, how much longer it takes to open the file than to open an empty one.
	 */
	readonly blocked_ms: number;
	/** To migrate the database; on SQLite, to open it. */
	readonly open_ms: number;
	/** On PostgreSQL, the slowest publish before that; on SQLite, opening an empty database. */
	readonly usual_ms: number;
}

/** CPU time of the service's threads with one name, microseconds per event. */
export interface ThreadCost {
	readonly thread: string;
	readonly us: number;
}

/** What the database does while one project gets a few events a second, with this many nodes. */
export interface IdleNodes {
	readonly nodes: number;
	readonly transactions_per_s: number;
	/** While nothing is published. */
	readonly quiet_transactions_per_s: number;
	/** Total over all nodes. */
	readonly connections: number;
}

/** Pages of the delivery log, for a project with many attempts and one without any. */
export interface LogPages {
	readonly attempts: number;
	readonly pages: readonly {
		readonly engine: "sqlite" | "postgres";
		/** The route of the list, after the project. */
		readonly list: string;
		readonly filter: string;
		/** The number of attempts in the log. */
		readonly end: "newest" | "oldest";
		readonly ms: number;
		/** The first page of an empty log, without a filter. */
		readonly empty_ms: number;
		/** `ms` divided by `empty_ms`. */
		readonly ratio: number;
		/** The same page of an empty log. */
		readonly same_ms: number;
		/** `ms` divided by `same_ms`. */
		readonly same_ratio: number;
	}[];
}

/** What a user of the dashboard waits for. */
export interface DashboardTime {
	readonly what: string;
	readonly value: number;
	readonly goal: number;
	readonly unit: "ms" | "fps";
	readonly met: boolean;
}

/** What stays in memory after projects were used and left. */
export interface Soak {
	readonly engine: "sqlite" | "postgres";
	/** The main thread's heap after a collection, and the process's open files and connections. */
	readonly rounds: readonly { readonly projects: number; readonly heap_mb: number; readonly descriptors: number }[];
	/** The heap after the last round divided by that after the warm-up. */
	readonly ratio: number;
}

/** Deliveries per second on PostgreSQL with pending retries and a backlog, and on an empty database, alternating. */
export interface Pending {
	readonly retries: number;
	readonly backlog: number;
	readonly rounds: { readonly per_s: number; readonly empty_per_s: number }[];
	/** The median of `per_s` divided by that of `empty_per_s`. */
	readonly ratio: number;
}

/** Deliveries per second on PostgreSQL while a transaction keeps an old snapshot, and without one, alternating. */
export interface OldSnapshot {
	/** Events that were published and delivered before the rounds, since the snapshot was taken. */
	readonly before: number;
	readonly rounds: { readonly per_s: number; readonly usual_per_s: number }[];
	/** The median of `per_s` divided by that of `usual_per_s`. */
	readonly ratio: number;
}

/** Deliveries per second of one node on PostgreSQL and of two, alternating, each with the same share of the machine. */
export interface Nodes {
	/** Each node's share of a core. */
	readonly share: number;
	readonly rounds: { readonly one_per_s: number; readonly two_per_s: number }[];
	/** The median of `two_per_s` divided by that of `one_per_s`. */
	readonly ratio: number;
}

/** Store facts with many baskets and customers and with a thousand of each, alternating. */
export interface Facts {
	readonly many: number;
	readonly few: number;
	readonly costs: {
		readonly engine: "sqlite" | "postgres";
		readonly what: "touch a basket" | "a customer's first order" | "abandon a basket";
		/** Medians. */
		readonly ms: number;
		readonly few_ms: number;
		/** `ms` divided by `few_ms`. */
		readonly ratio: number;
	}[];
}

/** The time from a quiet project's publish until its receiver has the event, milliseconds: alone and next to a hostile neighbor. */
export interface NeighbourRun {
	readonly neighbour: string;
	readonly alone: { readonly p50: number; readonly p99: number };
	readonly beside: {
		readonly p50: number;
		readonly p99: number;
		/** Events of the quiet project that the service didn't accept. */
		readonly refused: number;
		/** Accepted events that didn't arrive. */
		readonly missing: number;
	};
	/** Accepted events of the neighbor that didn't reach its own receivers; null if they aren't meant to. */
	readonly neighbour_missing: number | null;
	/** Why events were refused, each reason once. */
	readonly refusals: readonly string[];
	/** The service's maximum resident memory next to it, MB (10⁶ bytes). Null without /proc. */
	readonly resident_mb: number | null;
	/** Whether p99 is at most 50 ms or three times its value alone, nothing is missing, and memory is within the documented limit. */
	readonly within: boolean;
}

/**
 * This checkout compared with another one, alternating: the ratios of deliveries per second and of CPU per delivery.
 */
export interface Against {
	readonly rounds: number;
	readonly engines: readonly AgainstRun[];
}

export interface AgainstRun {
	readonly engine: "sqlite" | "postgres";
	/** One value per round. */
	readonly per_s: readonly number[];
	readonly cpu_us: readonly number[];
	readonly per_s_median: number;
	readonly cpu_us_median: number;
}

export interface Machine {
	readonly cpus: number;
	readonly cpu: string;
	readonly memory_gb: number;
	readonly platform: string;
	readonly node: string;
}
