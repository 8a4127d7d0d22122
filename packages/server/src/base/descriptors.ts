import { readFileSync } from "node:fs";
import { DESCRIPTORS, SENDS } from "./budgets.ts";

/** How a node divides the file descriptors that it may open. The shares add up to at most the limit. */
interface DescriptorShares {
	readonly reserved: number;
	readonly sends: number;
	/** Connections to receivers kept open between sends. */
	readonly idle: number;
	/** Connections that clients of the API may hold. */
	readonly api: number;
}

/**
 * The number of file descriptors that this process may open: the soft limit, which Node has already raised to the hard
 * one. Only Linux reports it in a file; elsewhere, or if the file can't be read, {@link DESCRIPTORS.assumed} applies.
 */
export function descriptorLimit(readLimits: () => string = () => readFileSync("/proc/self/limits", "utf8")): number {
	let limits: string;
	try {
		limits = readLimits();
	} catch {
		return DESCRIPTORS.assumed;
	}
	const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(limits)?.[1];
	if (soft === undefined) return DESCRIPTORS.assumed;
	return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/**
 * Divides a limit: after the reserve, receivers and clients of the API get half each, so that neither can exhaust what
 * the other needs. Receivers get no more than {@link SENDS} allows; clients get the remainder.
 */
export function divideDescriptors(limit: number): DescriptorShares {
	const reserved = Math.min(DESCRIPTORS.reserved, Math.floor(limit / 4));
	const receivers = Math.min(Math.floor((limit - reserved) / 2), SENDS.inFlight + SENDS.idleConnections);
	const idle = Math.floor((receivers * SENDS.idleConnections) / (SENDS.inFlight + SENDS.idleConnections));
	return { reserved, sends: Math.max(1, receivers - idle), idle, api: Math.max(1, limit - reserved - receivers) };
}
