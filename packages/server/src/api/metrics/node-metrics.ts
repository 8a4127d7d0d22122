import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { NodeState, ProjectLoss } from "../../engine/index.ts";
import type { Handshakes } from "../../net/handshakes.ts";
import { SHORTAGES, type Shortages } from "../../net/shortages.ts";
import type { ConnectionUse, DatabaseObserver, PoolState } from "../../storage/port/observer.ts";

const COMMIT_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metrics of each node. Its id is new at each start. */
export function watchNode(registry: Registry, read: () => NodeState): void {
	const registers = [registry];
	new Gauge({
		name: "posthorn_node_info",
		help: "Always 1; the label is this node's id, as in the database and in logs.",
		labelNames: ["node"],
		registers,
	}).set({ node: read().id }, 1);
	new Gauge({
		name: "posthorn_node_projects",
		help: "Projects that this node runs.",
		registers,
		collect() {
			this.set(read().projects);
		},
	});
	new Gauge({
		name: "posthorn_projects_refused",
		help: "Projects paused on this node because their outcomes can't be committed: storage refuses them, or there is a bug.",
		registers,
		collect() {
			this.set(read().refused);
		},
	});
	if (read().sharing === null) return;
	new Gauge({
		name: "posthorn_node_share_projects",
		help: "The most projects that this node acquires on its own: its share of all, plus a quarter.",
		registers,
		collect() {
			this.set(read().sharing?.share ?? 0);
		},
	});
	new Gauge({
		name: "posthorn_nodes",
		help: "Live nodes when this node last checked, including itself.",
		registers,
		collect() {
			this.set(read().sharing?.nodes ?? 0);
		},
	});
}

/** Shows this node's shortages, and how many sends they deferred. */
export function watchShortages(registry: Registry, shortages: Pick<Shortages, "lasts" | "total">): void {
	const labelNames = ["kind"] as const;
	const registers = [registry];
	new Counter({
		name: "posthorn_shortages_total",
		help: "Sends deferred because this node ran out of something: descriptors, memory, ports or name_servers.",
		labelNames,
		registers,
		collect() {
			this.reset();
			for (const kind of SHORTAGES) this.inc({ kind }, shortages.total(kind));
		},
	});
	new Gauge({
		name: "posthorn_shortage",
		help: "1 during the shortage, else 0.",
		labelNames,
		registers,
		collect() {
			for (const kind of SHORTAGES) this.set({ kind }, shortages.lasts(kind) ? 1 : 0);
		},
	});
}

/** Shows how many handshakes with receivers took too much. */
export function watchHandshakes(registry: Registry, handshakes: Pick<Handshakes, "costly">): void {
	new Counter({
		name: "posthorn_costly_handshakes_total",
		help: "TLS handshakes with receivers that took too much CPU time or too many bytes.",
		registers: [registry],
		collect() {
			this.reset();
			this.inc(handshakes.costly);
		},
	});
}

/** Counts projects that a node dropped without releasing their leases, by reason. */
export function countLosses(registry: Registry): (why: ProjectLoss) => void {
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
export function countDatabase(registry: Registry): Required<DatabaseObserver> {
	const registers = [registry];
	const labelNames = ["pool"] as const;
	const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
	const commits = new Histogram({
		name: "posthorn_database_commit_duration_seconds",
		help: "Duration of transactions from their start until the response to their commit, by purpose.",
		labelNames,
		buckets: COMMIT_BUCKETS_S,
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
export function watchPools(registry: Registry, read: () => Readonly<Record<ConnectionUse, PoolState>>): void {
	new Gauge({
		name: "posthorn_database_connections",
		help: "Open database connections, by purpose and by whether they are in use.",
		labelNames: ["pool", "state"],
		registers: [registry],
		collect() {
			for (const [pool, { busy, idle }] of Object.entries(read())) {
				this.set({ pool, state: "busy" }, busy);
				this.set({ pool, state: "idle" }, idle);
			}
		},
	});
	new Gauge({
		name: "posthorn_database_waiting",
		help: "Calls waiting for a connection.",
		labelNames: ["pool"],
		registers: [registry],
		collect() {
			for (const [pool, { waiting }] of Object.entries(read())) this.set({ pool }, waiting);
		},
	});
}
