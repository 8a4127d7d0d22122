import pc from "picocolors";
import type { Results, ThroughputRun } from "./results.ts";

/** The results as a text for people. */
export function formatReport(results: Results): string {
	const { limit_per_s, latency_ms, memory_mb, machine } = results;
	const parts = [
		`${machine.cpus} × ${machine.cpu}, ${machine.memory_gb} GB, ${machine.platform}, Node ${machine.node}`,
		`Limit: ${count(limit_per_s)} signed 1 KB requests/s by undici's dispatch, nothing stored`,
		table(results.runs),
	];
	if (latency_ms !== undefined) {
		const { p50, p99, bare } = latency_ms;
		parts.push(
			`Publish to receipt at 100 events/s: p50 ${ms(p50)}, p99 ${ms(p99)} (a bare request: ${ms(bare.p50)}, ${ms(bare.p99)})`,
		);
	}
	if (memory_mb !== undefined) {
		const { idle, million_waiting, draining } = memory_mb;
		parts.push(
			`Resident memory: ${idle} MB idle, ${million_waiting} MB with a million events waiting, ${draining} MB draining`,
		);
	}
	return `${parts.join("\n\n")}\n`;
}

const COLUMNS: readonly { readonly title: string; readonly cell: (run: ThroughputRun) => string }[] = [
	{ title: "engine", cell: (run) => run.engine },
	{ title: "webhooks", cell: (run) => count(run.webhooks) },
	{ title: "one event to", cell: (run) => count(run.fanout) },
	{ title: "deliveries/s", cell: (run) => count(run.per_s) },
	{ title: "of the limit", cell: (run) => run.ratio.toFixed(2) },
	{ title: "CPU µs each", cell: (run) => run.cpu_us?.toFixed(0) ?? "?" },
	{ title: "out of order", cell: (run) => count(run.out_of_order) },
	{ title: "missing", cell: (run) => count(run.missing) },
];

function table(runs: readonly ThroughputRun[]): string {
	const rows = runs.map((run) => COLUMNS.map(({ cell }) => cell(run)));
	const widths = COLUMNS.map(({ title }, column) =>
		Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
	);
	const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  ");
	return [pc.bold(line(COLUMNS.map(({ title }) => title))), ...rows.map(line)].join("\n");
}

function count(value: number): string {
	return value.toLocaleString("en");
}

function ms(value: number): string {
	return `${value.toFixed(2)} ms`;
}
