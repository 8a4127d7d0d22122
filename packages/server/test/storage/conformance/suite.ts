import { describe } from "vitest";
import { describeAccounts } from "./accounts.ts";
import { describeAudit } from "./audit.ts";
import { describeDurability } from "./durability.ts";
import { describeFacts } from "./facts.ts";
import { describeGauges } from "./gauges.ts";
import { describeHandover } from "./handover.ts";
import type { StorageHarness } from "./harness.ts";
import { describeHealth } from "./health.ts";
import { describeHistory } from "./history.ts";
import { describeIncidents } from "./incidents.ts";
import { describeLeases } from "./leases.ts";
import { describeLog } from "./log.ts";
import { describeMembers } from "./members.ts";
import { describeRegistry } from "./registry.ts";
import { describeReplay } from "./replay.ts";
import { describeReplayMatching } from "./replay-matching.ts";
import { describeRetention } from "./retention.ts";
import { describeRetryNow } from "./retry-now.ts";
import { describeSearch } from "./search.ts";
import { describeSettle } from "./settle.ts";
import { describeStats } from "./stats.ts";
import { describeWaiting } from "./waiting.ts";

export type { StorageHarness } from "./harness.ts";

/** What every storage engine has to pass. An engine's test calls it with a way to open databases. */
export function describeStorage(harness: StorageHarness): void {
	describe(`${harness.name} storage`, () => {
		describeLog(harness);
		describeLeases(harness);
		describeSettle(harness);
		describeHandover(harness);
		describeHistory(harness);
		describeReplayMatching(harness);
		describeRetention(harness);
		describeGauges(harness);
		describeStats(harness);
		describeHealth(harness);
		describeIncidents(harness);
		describeWaiting(harness);
		describeSearch(harness);
		describeColdVerbs(harness);
		describeFacts(harness);
		describeDurability(harness);
	});
}

/** The parts with verbs that are written once, other than facts. */
export function describeColdVerbs(harness: StorageHarness): void {
	describeRegistry(harness);
	describeReplay(harness);
	describeRetryNow(harness);
	describeAccounts(harness);
	describeMembers(harness);
	describeAudit(harness);
}
