import { describe } from "vitest";
import { describeAlarms } from "./engine-alarms.ts";
import { describeChanges } from "./engine-changes.ts";
import { describeFairness } from "./engine-fairness.ts";
import { describeFaults } from "./engine-faults.ts";
import { describeHandover } from "./engine-handover.ts";
import { describeLanes } from "./engine-lanes.ts";
import { describeLateResults } from "./engine-late-results.ts";
import { describeLoads } from "./engine-loads.ts";
import { describeOutages } from "./engine-outages.ts";
import { describeRefused } from "./engine-refused.ts";
import { describeRestarts } from "./engine-restarts.ts";
import { describeRewound } from "./engine-rewound.ts";
import { EngineRig, type RigDatabase, type StartRig } from "./engine-rig.ts";
import { describeSeries } from "./engine-series.ts";
import { describeShortages } from "./engine-shortages.ts";
import { describeTurns } from "./engine-turns.ts";
import { describeWindows } from "./engine-windows.ts";
import { describeWithholding } from "./engine-withholding.ts";

/**
 * What the engine does on any database.
 *
 * @param manyNodes whether nodes may share the database
 */
export function describeEngine(database: string, manyNodes: boolean, create: () => Promise<RigDatabase>): void {
	const start: StartRig = async (wrap, leaseTermMs, bounds) =>
		EngineRig.start(await create(), wrap, leaseTermMs, bounds);
	describe(`the engine on ${database}`, () => {
		describeSeries(start);
		describeLanes(start);
		describeChanges(start);
		describeLoads(start);
		describeFaults(start);
		describeAlarms(start);
		describeLateResults(start);
		describeOutages(start);
		describeHandover(start);
		describeWithholding(start);
		describeShortages(start);
		describeRefused(start);
		describeRewound(start);
		describeFairness(start);
		describeTurns(start);
		describeWindows(start);
		if (!manyNodes) describeRestarts(start);
	});
}
