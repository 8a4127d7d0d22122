/**
 * Checks everything the service depends on, from where it would run, and says what to do about each fault. Changes nothing,
 * and can run alongside the service.
 */
import type { Config } from "../config/index.ts";
import { examineDashboard } from "./dashboard.ts";
import { examineEgress } from "./egress.ts";
import { examineFiles } from "./files.ts";
import type { Finding } from "./finding.ts";
import { examineNeeds } from "./needs.ts";
import { examineReceiver } from "./receiver.ts";

export type { Finding } from "./finding.ts";
export { examineNeeds } from "./needs.ts";

/** @param receivers URLs of receivers to connect to as well */
export async function examine(config: Config, receivers: readonly URL[] = []): Promise<Finding[]> {
	const reached = receivers.map((url) => examineReceiver(url, config));
	return (
		await Promise.all([
			examineNeeds(config),
			examineFiles(),
			examineEgress(config),
			examineDashboard(config),
			...reached,
		])
	).flat();
}
