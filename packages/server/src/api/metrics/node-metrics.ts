import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { NodeState, ProjectLoss } from "../../engine/index.ts";
import { SHORTAGES, type Shortages } from "../../engine/send/shortages.ts";
import type { ConnectionUse, DatabaseObserver, PoolState } from "../../storage/port/observer.ts";

const COMMIT_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What the node says of itself; scraped node by node. Its id is a new one at each start. */
export function watchNode(registry: Registry, read: () => NodeState): void {
	const registers = [registry];
	new Gauge({
		name: "posthorn_node_info",
		help: "1; the id of this node, as it stands in the database and in logs.",
		labelNames: ["node"],
		registers,
	}).set({ node: read().id }, 1);
	new Gauge({
		name: "posthorn_node_projects",
		help: "Projects that this node works.",
		registers,
		collect() {
			this.set(read().projects);
		},
	});
	new Gauge({
		name: "posthorn_projects_refused",
		help: "Projects that this node lets rest because their outcomes cannot be committed: storage refuses them, or a fault of ours.",
		registers,
		collect() {
			this.set(read().refused);
		},
	});
	if (read().sharing === null) return;
	new Gauge({
		name: "posthorn_node_share_projects",
		help: "Projects that this node takes up by itself at most: its part of all, and a quarter more.",
		registers,
		collect() {
			this.set(read().sharing?.share ?? 0);
		},
	});
	new Gauge({
		name: "posthorn_nodes",
		help: "Nodes that lived when this one last looked, itself included.",
		registers,
		collect() {
			this.set(read().sharing?.nodes ?? 0);
		},
	});
}

/** Shows what the node runs out of, and how many sends it put off because of that. */
export function watchShortages(registry: Registry, shortages: Pick<Shortages, "lasts" | "total">): void {
	const labelNames = ["kind"] as const;
	const registers = [registry];
	new Counter({
		name: "posthorn_shortages_total",
		help: "Sends put off because this node ran out of something: descriptors, memory, ports or name_servers.",
		labelNames,
		registers,
		collect() {
			this.reset();
			for (const kind of SHORTAGES) this.inc({ kind }, shortages.total(kind));
		},
	});
	new Gauge({
		name: "posthorn_shortage",
		help: "1 while this node is out of it, else 0.",
		labelNames,
		registers,
		collect() {
			for (const kind of SHORTAGES) this.set({ kind }, shortages.lasts(kind) ? 1 : 0);
		},
	});
}

/** Counts projects that a node let go of without giving them back, by the reason. */
export function countLosses(registry: Registry): (why: ProjectLoss) => void {
	const losses = new Counter({
		name: "posthorn_projects_lost_total",
		help: "Projects that this node let go of without giving them back: stale, expired, rewound, epoch, refused or fault.",
		labelNames: ["why"],
		registers: [registry],
	});
	for (const why of ["stale", "expired", "rewound", "epoch", "refused", "fault"] satisfies ProjectLoss[])
		losses.inc({ why }, 0);
	return (why) => losses.inc({ why });
}

/** Counts what a node does with the connections to a database that it shares. */
export function countDatabase(registry: Registry): Required<DatabaseObserver> {
	const registers = [registry];
	const labelNames = ["pool"] as const;
	const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
	const commits = new Histogram({
		name: "posthorn_database_commit_duration_seconds",
		help: "How long transactions took from their beginning to the answer of their commit, by what for.",
		labelNames,
		buckets: COMMIT_BUCKETS_S,
		registers,
	});
	const repeats = counter("posthorn_database_conflicts_total", "Transactions that were done again.");
	const opened = counter("posthorn_database_connections_opened_total", "Connections that were opened.");
	const lost = counter("posthorn_database_connections_lost_total", "Connections that broke.");
	const takenOver = new Counter({
		name: "posthorn_projects_taken_over_total",
		help: "Projects that this node took from one that had not given them back.",
		registers,
	});
	const lostEvents = new Counter({
		name: "posthorn_log_lost_events_total",
		help: "Acknowledged events that this node found missing after the database had gone on from an earlier state.",
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

/** Shows how the connections are used. */
export function watchPools(registry: Registry, read: () => Readonly<Record<ConnectionUse, PoolState>>): void {
	new Gauge({
		name: "posthorn_database_connections",
		help: "Connections to the database that are open, by what for, and whether somebody works with them.",
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
		help: "Calls that wait for a connection.",
		labelNames: ["pool"],
		registers: [registry],
		collect() {
			for (const [pool, { waiting }] of Object.entries(read())) this.set({ pool }, waiting);
		},
	});
}
