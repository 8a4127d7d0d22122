import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

/** A dead node's projects are acquired in batches, which one line sums up. Milliseconds. */
const GATHERED_MS = 1_000;

/** Logs how many projects this node took over, at most one line a second. Call it with the number of each batch. */
export function logTakeovers(logger: Logger, clock: Pick<Clock, "setTimeout">): (projects: number) => void {
	let gathered = 0;
	return (projects) => {
		if (gathered === 0)
			clock.setTimeout(() => {
				logger.warn(
					{ projects: gathered },
					"took over projects whose leases had expired: their node died, hung or lost the database",
				);
				gathered = 0;
			}, GATHERED_MS);
		gathered += projects;
	};
}
