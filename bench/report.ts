import pc from "picocolors";
import { MANY_LEAST_SHARE } from "./measures/many-webhooks.ts";
import { RETENTION_LEAST_SHARE } from "./measures/retention.ts";
import { SEARCH_LEAST_SHARE } from "./measures/search.ts";
import { SOAK_MOST } from "./measures/soak.ts";
import { UNWANTED_MOST_TIMES } from "./measures/unwanted.ts";
import { UPGRADE_MOST_MS } from "./measures/upgrade.ts";
import type {
	Against,
	ClientCost,
	DashboardTime,
	Facts,
	IdleNodes,
	LogPages,
	NeighbourRun,
	Nodes,
	OldSnapshot,
	Pending,
	Results,
	RetentionRun,
	SearchRun,
	SingleRun,
	Soak,
	ThroughputRun,
	UpgradeRun,
} from "./results.ts";
import { SINGLE_MOST_TIMES } from "./single/measure.ts";

/** The results as readable text. */
export function formatReport(results: Results): string {
	const {
		limit_per_s,
		runs,
		latency_ms,
		memory_mb,
		log_pages,
		old_snapshot,
		pending,
		nodes,
		idle_nodes,
		facts,
		neighbours,
		client,
		dashboard,
		soak,
		against,
		single,
		unwanted,
		many_webhooks,
		retention,
		search,
		upgrade,
		machine,
	} = results;
	const parts = [
		`${machine.cpus} × ${machine.cpu}, ${machine.memory_gb} GB, ${machine.platform}, Node ${machine.node}`,
	];
	if (limit_per_s !== undefined)
		parts.push(
			`Limit: ${count(limit_per_s)} signed 1 KB requests/s by undici's dispatch, nothing stored; measured with each round`,
		);
	if (runs !== undefined) parts.push(table(COLUMNS, runs));
	if (latency_ms !== undefined) {
		const { p50, p99, bare, least } = latency_ms;
		parts.push(
			`Publish to receipt at 100 events/s: p50 ${ms(p50)}, p99 ${ms(p99)}\n` +
				`(a bare request: ${ms(bare.p50)}, ${ms(bare.p99)}; the least that is durable: ${ms(least.p50)}, ${ms(least.p99)})`,
		);
	}
	if (memory_mb !== undefined) {
		const { idle, million_waiting, million_waiting_quiet, draining } = memory_mb;
		parts.push(
			`Resident memory: ${idle} MB idle, ${million_waiting} MB with a million events waiting ` +
				`(${million_waiting_quiet} MB when quiet), ${draining} MB draining`,
		);
	}
	if (log_pages !== undefined) {
		parts.push(`Pages of a log with ${count(log_pages.attempts)} attempts, and of an empty one:`);
		parts.push(table(PAGE_COLUMNS, log_pages.pages));
	}
	if (pending !== undefined) {
		const { retries, backlog, ratio } = pending;
		const load = `${count(retries)} pending retries and a backlog of ${count(backlog)}`;
		parts.push(`Deliveries on PostgreSQL with ${load}: ${ratio.toFixed(2)} of those on an empty database`);
		parts.push(table(PENDING_COLUMNS, pending.rounds));
	}
	if (old_snapshot !== undefined) {
		const { before, ratio } = old_snapshot;
		parts.push(
			`Deliveries on PostgreSQL ${count(before)} events after a transaction took a snapshot that it keeps: ` +
				`${ratio.toFixed(2)} of those without it`,
		);
		parts.push(table(SNAPSHOT_COLUMNS, old_snapshot.rounds));
	}
	if (nodes !== undefined) {
		const { share, ratio } = nodes;
		parts.push(`Two nodes with ${share} of a core each: ${ratio.toFixed(2)} times the deliveries of one`);
		parts.push(table(NODE_COLUMNS, nodes.rounds));
	}
	if (idle_nodes !== undefined) {
		parts.push("The database while one project gets 15 events a second, and all nodes but one have nothing to do:");
		parts.push(table(IDLE_NODE_COLUMNS, idle_nodes));
	}
	if (dashboard !== undefined) {
		parts.push("The dashboard in Chromium, medians; goals for two quiet cores:");
		parts.push(table(DASHBOARD_COLUMNS, dashboard));
	}
	for (const { engine, rounds, ratio } of soak ?? []) {
		parts.push(
			`Memory on ${engine} after projects were used and left: ${ratio} times that after the warm-up (goal: ${SOAK_MOST})`,
		);
		parts.push(table(SOAK_COLUMNS, rounds));
	}
	if (facts !== undefined) {
		parts.push(`Store facts with ${count(facts.many)} baskets and customers, and with ${count(facts.few)}:`);
		parts.push(table(FACT_COLUMNS, facts.costs));
	}
	if (neighbours !== undefined) {
		parts.push("Publish to receipt of a quiet project at 50 events/s, alone and next to a neighbor with half a core:");
		parts.push(table(NEIGHBOUR_COLUMNS, neighbours));
		for (const { neighbour, refusals } of neighbours)
			for (const refusal of refusals) parts.push(`${neighbour}: ${refusal.split("\r\n", 1)[0]}`);
	}
	if (single !== undefined) {
		parts.push(
			"One event in a request, 50 connections over 100 projects: CPU from the request to the settled delivery,\n" +
				`compared with a bare Fastify JSON POST and a bare signed send (goal: at most ${SINGLE_MOST_TIMES} times both)`,
		);
		parts.push(table(SINGLE_COLUMNS, single));
		for (const { engine, threads } of single)
			parts.push(`${engine}: ${threads.map(({ thread, us }) => `${thread} ${us} µs`).join(" · ")}`);
	}
	if (retention !== undefined) {
		const [{ old_events, attempts_each } = { old_events: 0, attempts_each: 0 }] = retention;
		parts.push(
			`Deliveries while retention deletes ${count(old_events)} events with ${attempts_each} attempts each ` +
				`(goal: ${RETENTION_LEAST_SHARE} of the rate without, and as much deleted as created):`,
		);
		parts.push(table(RETENTION_COLUMNS, retention));
	}
	if (search !== undefined) {
		const [{ events } = { events: 0 }] = search;
		parts.push(
			`Deliveries of ${count(events)} events with an order id and a customer, compared with values in fields that aren't ` +
				`indexed (goal: at least ${SEARCH_LEAST_SHARE}):`,
		);
		parts.push(table(SEARCH_COLUMNS, search));
	}
	if (upgrade !== undefined) {
		const [{ events } = { events: 0 }] = upgrade;
		parts.push(
			`Opening ${count(events)} events of the previous release (goal: blocks for at most ${UPGRADE_MOST_MS} ms):`,
		);
		parts.push(table(UPGRADE_COLUMNS, upgrade));
	}
	if (unwanted !== undefined) {
		const { webhooks, with_us, without_us, ratio, ratios } = unwanted;
		parts.push(
			`An event in a project with ${count(webhooks)} webhooks that don't want it: ${with_us} µs instead of ${without_us} µs, ` +
				`${ratio.toFixed(2)} times (${ratios.map((each) => each.toFixed(2)).join(" ")}; goal: at most ${UNWANTED_MOST_TIMES}) ` +
				(ratio <= UNWANTED_MOST_TIMES ? pc.green("✓") : pc.red("✗")),
		);
	}
	if (many_webhooks !== undefined) {
		const { many, few, many_per_s, few_per_s, many_cpu_us, few_cpu_us, ratio, ratios } = many_webhooks;
		parts.push(
			`${count(many_webhooks.deliveries)} deliveries to ${count(many)} webhooks and to ${count(few)}, in requests of ` +
				`${many_webhooks.events_per_request} events: ${count(many_per_s)}/s and ${count(few_per_s)}/s, ` +
				`${many_cpu_us} µs and ${few_cpu_us} µs each; ${ratio.toFixed(2)} of the rate ` +
				`(${ratios.map((each) => each.toFixed(2)).join(" ")}; goal: at least ${MANY_LEAST_SHARE}) ` +
				(ratio >= MANY_LEAST_SHARE ? pc.green("✓") : pc.red("✗")),
		);
	}
	if (client !== undefined) {
		parts.push("Main-thread CPU time of the HTTP client:");
		parts.push(table(CLIENT_COLUMNS, client));
	}
	if (against !== undefined) {
		parts.push(`This checkout compared with the other one, ${against.rounds} pairs of services that take turns:`);
		parts.push(table(AGAINST_COLUMNS, against.engines));
	}
	return `${parts.join("\n\n")}\n`;
}

interface Column<Row> {
	readonly title: string;
	readonly cell: (row: Row) => string;
}

const CLIENT_COLUMNS: readonly Column<ClientCost>[] = [
	{ title: "what", cell: ({ what }) => what },
	{ title: "CPU", cell: ({ us }) => `${us} µs` },
];

const COLUMNS: readonly Column<ThroughputRun>[] = [
	{ title: "engine", cell: (run) => run.engine },
	{ title: "webhooks", cell: (run) => count(run.webhooks) },
	{ title: "one event to", cell: (run) => count(run.fanout) },
	{ title: "deliveries/s", cell: (run) => count(run.per_s) },
	{ title: "of limit", cell: (run) => run.ratio.toFixed(2) },
	{ title: "CPU µs each", cell: (run) => run.cpu_us?.toFixed(0) ?? "?" },
	{ title: "out of order", cell: (run) => count(run.out_of_order) },
	{ title: "missing", cell: (run) => count(run.missing) },
];

const DASHBOARD_COLUMNS: readonly Column<DashboardTime>[] = [
	{ title: "what", cell: ({ what }) => what },
	{ title: "measured", cell: ({ value, unit }) => `${count(value)} ${unit}` },
	{ title: "goal", cell: ({ goal, unit }) => `${count(goal)} ${unit}` },
	{ title: "met", cell: ({ met }) => (met ? "yes" : "no") },
];

const SOAK_COLUMNS: readonly Column<Soak["rounds"][number]>[] = [
	{ title: "projects", cell: ({ projects }) => count(projects) },
	{ title: "heap", cell: ({ heap_mb }) => `${heap_mb} MB` },
	{ title: "descriptors", cell: ({ descriptors }) => count(descriptors) },
];

const PAGE_COLUMNS: readonly Column<LogPages["pages"][number]>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "list", cell: ({ list }) => list },
	{ title: "filter", cell: ({ filter }) => filter },
	{ title: "end", cell: ({ end }) => end },
	{ title: "a page", cell: (page) => ms(page.ms) },
	{ title: "empty log", cell: (page) => ms(page.empty_ms) },
	{ title: "ratio", cell: ({ ratio }) => ratio.toFixed(2) },
	{ title: "same page there", cell: (page) => ms(page.same_ms) },
	{ title: "ratio", cell: ({ same_ratio }) => same_ratio.toFixed(2) },
];

const PENDING_COLUMNS: readonly Column<Pending["rounds"][number]>[] = [
	{ title: "deliveries/s", cell: ({ per_s }) => count(per_s) },
	{ title: "empty", cell: ({ empty_per_s }) => count(empty_per_s) },
];

const SNAPSHOT_COLUMNS: readonly Column<OldSnapshot["rounds"][number]>[] = [
	{ title: "deliveries/s", cell: ({ per_s }) => count(per_s) },
	{ title: "without", cell: ({ usual_per_s }) => count(usual_per_s) },
];

const NODE_COLUMNS: readonly Column<Nodes["rounds"][number]>[] = [
	{ title: "one node/s", cell: ({ one_per_s }) => count(one_per_s) },
	{ title: "two nodes/s", cell: ({ two_per_s }) => count(two_per_s) },
];

const IDLE_NODE_COLUMNS: readonly Column<IdleNodes>[] = [
	{ title: "nodes", cell: ({ nodes }) => count(nodes) },
	{ title: "transactions/s", cell: ({ transactions_per_s }) => transactions_per_s.toFixed(1) },
	{ title: "when quiet", cell: ({ quiet_transactions_per_s }) => quiet_transactions_per_s.toFixed(1) },
	{ title: "connections", cell: ({ connections }) => count(connections) },
];

const FACT_COLUMNS: readonly Column<Facts["costs"][number]>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "what", cell: ({ what }) => what },
	{ title: "with many", cell: (cost) => ms(cost.ms) },
	{ title: "with few", cell: (cost) => ms(cost.few_ms) },
	{ title: "ratio", cell: ({ ratio }) => ratio.toFixed(2) },
];

const NEIGHBOUR_COLUMNS: readonly Column<NeighbourRun>[] = [
	{ title: "a neighbor that", cell: ({ neighbour }) => neighbour },
	{ title: "p50 alone", cell: ({ alone }) => ms(alone.p50) },
	{ title: "p99", cell: ({ alone }) => ms(alone.p99) },
	{ title: "p50 next to it", cell: ({ beside }) => ms(beside.p50) },
	{ title: "p99", cell: ({ beside }) => ms(beside.p99) },
	{ title: "refused", cell: ({ beside }) => count(beside.refused) },
	{ title: "missing", cell: ({ beside, neighbour_missing }) => count(beside.missing + (neighbour_missing ?? 0)) },
	{ title: "memory", cell: ({ resident_mb }) => (resident_mb === null ? "?" : `${resident_mb} MB`) },
	{ title: "", cell: ({ within }) => (within ? pc.green("✓") : pc.red("✗")) },
];

const SINGLE_COLUMNS: readonly Column<SingleRun>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "events/s", cell: ({ per_s }) => count(per_s) },
	{ title: "CPU of an event", cell: ({ cpu_us }) => `${cpu_us} µs` },
	{ title: "bare POST", cell: ({ bare_request_us }) => `${bare_request_us} µs` },
	{ title: "bare send", cell: ({ bare_send_us }) => `${bare_send_us} µs` },
	{ title: "the least", cell: ({ least_us, least_ratio }) => `${least_us} µs, ${least_ratio.toFixed(2)}` },
	{ title: "ratio", cell: ({ ratio }) => ratio.toFixed(2) },
	{ title: "each round", cell: ({ ratios }) => ratios.map((ratio) => ratio.toFixed(2)).join(" ") },
	{ title: "", cell: ({ ratio }) => (ratio <= SINGLE_MOST_TIMES ? pc.green("✓") : pc.red("✗")) },
];

const RETENTION_COLUMNS: readonly Column<RetentionRun>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "without", cell: ({ without_per_s }) => `${count(without_per_s)}/s` },
	{ title: "with", cell: ({ with_per_s }) => `${count(with_per_s)}/s` },
	{ title: "ratio", cell: ({ ratio }) => ratio.toFixed(2) },
	{ title: "each round", cell: ({ ratios }) => ratios.map((ratio) => ratio.toFixed(2)).join(" ") },
	{ title: "events created", cell: ({ created_events_per_s }) => `${count(created_events_per_s)}/s` },
	{ title: "deleted", cell: ({ deleted_events_per_s }) => `${count(deleted_events_per_s)}/s` },
	{ title: "vacuum", cell: ({ vacuum_s }) => (vacuum_s === null ? "–" : `${vacuum_s.toFixed(1)} s`) },
	{ title: "", cell: ({ keeps_up }) => (keeps_up ? pc.green("✓") : pc.red("✗")) },
];

const SEARCH_COLUMNS: readonly Column<SearchRun>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "not indexed", cell: ({ without_per_s }) => `${count(without_per_s)}/s` },
	{ title: "indexed", cell: ({ with_per_s }) => `${count(with_per_s)}/s` },
	{ title: "ratio", cell: ({ ratio }) => ratio.toFixed(2) },
	{ title: "each round", cell: ({ ratios }) => ratios.map((ratio) => ratio.toFixed(2)).join(" ") },
	{ title: "CPU", cell: ({ cpu_ratio }) => cpu_ratio.toFixed(2) },
	{ title: "", cell: ({ met }) => (met ? pc.green("✓") : pc.red("✗")) },
];

const UPGRADE_COLUMNS: readonly Column<UpgradeRun>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "blocked", cell: ({ blocked_ms }) => `${count(blocked_ms)} ms` },
	{ title: "usual", cell: ({ usual_ms }) => `${count(usual_ms)} ms` },
	{ title: "to open", cell: ({ open_ms }) => `${count(open_ms)} ms` },
	{ title: "", cell: ({ blocked_ms }) => (blocked_ms <= UPGRADE_MOST_MS ? pc.green("✓") : pc.red("✗")) },
];

const AGAINST_COLUMNS: readonly Column<Against["engines"][number]>[] = [
	{ title: "engine", cell: ({ engine }) => engine },
	{ title: "deliveries/s", cell: (one) => one.per_s_median.toFixed(2) },
	{ title: "each round", cell: (one) => one.per_s.map((ratio) => ratio.toFixed(2)).join(" ") },
	{ title: "CPU per delivery", cell: (one) => one.cpu_us_median.toFixed(2) },
	{ title: "each round", cell: (one) => one.cpu_us.map((ratio) => ratio.toFixed(2)).join(" ") },
];

function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
	const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
	const widths = columns.map(({ title }, column) =>
		Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
	);
	const line = (row: readonly string[]) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  ");
	return [pc.bold(line(columns.map(({ title }) => title))), ...cells.map(line)].join("\n");
}

function count(value: number): string {
	return value.toLocaleString("en");
}

function ms(value: number): string {
	return `${value.toFixed(2)} ms`;
}
