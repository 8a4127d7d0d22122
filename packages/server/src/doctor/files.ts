import { DESCRIPTORS, SENDS } from "../base/budgets.ts";
import { descriptorLimit, divideDescriptors } from "../base/descriptors.ts";
import type { Finding } from "./finding.ts";

/** The least limit on open files with which receivers get all that {@link SENDS} allows. */
const ENOUGH = DESCRIPTORS.reserved + 2 * (SENDS.inFlight + SENDS.idleConnections);

/** Whether the limit on open files, each connection takes one, leaves receivers and clients enough. */
export function examineFiles(limit = descriptorLimit(), platform: string = process.platform): Finding {
	const name = "Open files";
	if (limit >= ENOUGH) return { state: "ok", name, text: "As many as a node can use." };
	const { sends, api } = divideDescriptors(limit);
	const n = (count: number): string => count.toLocaleString("en-US");
	const shares = `${n(sends)} requests to receivers and ${n(api)} clients of the API at a time`;
	// Elsewhere the limit is assumed, and raising it would change nothing.
	if (platform !== "linux") return { state: "ok", name, text: `Taken to be ${n(limit)}: ${shares}.` };
	return {
		state: "warning",
		name,
		text: `${n(limit)} at most, which allows ${shares}: set LimitNOFILE= or ulimit -n to ${n(ENOUGH)} or more.`,
	};
}
