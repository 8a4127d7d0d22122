import type { Gauges } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { readBacklog } from "./backlog.ts";

/** Gauges of some webhooks, so that other reads can run between calls. */
export interface GaugeSlice {
	readonly gauges: Gauges;
	/** The webhook number to continue after, or null at the end. */
	readonly next: number | null;
}

const WEBHOOKS_A_SLICE = 200;

export function readGauges(c: Connection, after: number): GaugeSlice {
	const lanes = c
		.sql(`
			SELECT l.webhook_no, w.project_no, l.retries_waiting, l.dead_letters
			FROM lanes l JOIN webhooks w ON w.no = l.webhook_no
			WHERE l.webhook_no > ? ORDER BY l.webhook_no LIMIT ${WEBHOOKS_A_SLICE}`)
		.all(after);
	let backlog = 0;
	let oldestAt: number | null = null;
	let retriesWaiting = 0;
	let deadLetters = 0;
	for (const lane of lanes) {
		retriesWaiting += lane.retries_waiting as number;
		deadLetters += lane.dead_letters as number;
		const waiting = readBacklog(c, lane.project_no as number, lane.webhook_no as number);
		backlog += waiting?.events ?? 0;
		oldestAt = earlier(oldestAt, waiting?.oldestAt ?? null);
	}
	// The first slice counts the projects.
	const projects = after === 0 ? (c.sql("SELECT count(*) AS count FROM projects").get()!.count as number) : 0;
	return {
		gauges: { projects, webhooks: lanes.length, backlog, oldestAt, retriesWaiting, deadLetters },
		next: lanes.length < WEBHOOKS_A_SLICE ? null : (lanes.at(-1)!.webhook_no as number),
	};
}

export function addGauges(a: Gauges, b: Gauges): Gauges {
	return {
		projects: a.projects + b.projects,
		webhooks: a.webhooks + b.webhooks,
		backlog: a.backlog + b.backlog,
		oldestAt: earlier(a.oldestAt, b.oldestAt),
		retriesWaiting: a.retriesWaiting + b.retriesWaiting,
		deadLetters: a.deadLetters + b.deadLetters,
	};
}

function earlier(a: number | null, b: number | null): number | null {
	return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
