import type { Gauges } from "../port.ts";

/** What one lane adds to the gauges. */
export interface LaneGauges extends Pick<Gauges, "backlog" | "retriesWaiting" | "deadLetters"> {
	readonly paused: boolean;
	/** When the oldest event of its backlog was published; null if there is none. */
	readonly oldestAt: number | null;
}

export const NO_GAUGES: Gauges = {
	projects: 0,
	webhooks: 0,
	backlog: 0,
	pausedBacklog: 0,
	oldestAt: null,
	retriesWaiting: 0,
	deadLetters: 0,
};

/** The sum of these lanes. The age of a paused one's backlog doesn't count. */
export const gaugesOf = (lanes: readonly LaneGauges[]): Gauges =>
	lanes
		.map(({ paused, backlog, oldestAt, ...counts }): Gauges => {
			const waiting = paused ? { pausedBacklog: backlog } : { oldestAt };
			return { ...NO_GAUGES, webhooks: 1, backlog, ...waiting, ...counts };
		})
		.reduce(addGauges, NO_GAUGES);

export function addGauges(a: Gauges, b: Gauges): Gauges {
	return {
		projects: a.projects + b.projects,
		webhooks: a.webhooks + b.webhooks,
		backlog: a.backlog + b.backlog,
		pausedBacklog: a.pausedBacklog + b.pausedBacklog,
		oldestAt: earlier(a.oldestAt, b.oldestAt),
		retriesWaiting: a.retriesWaiting + b.retriesWaiting,
		deadLetters: a.deadLetters + b.deadLetters,
	};
}

export function earlier(a: number | null, b: number | null): number | null {
	return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
