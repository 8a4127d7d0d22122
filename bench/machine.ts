import { availableParallelism, cpus, totalmem } from "node:os";
import type { Machine } from "./results.ts";

/** The machine that the numbers were measured on. */
export function describeMachine(): Machine {
	return {
		cpus: availableParallelism(),
		cpu: cpus()[0]?.model.trim() ?? "unknown",
		memory_gb: Math.round(totalmem() / 1e9),
		platform: `${process.platform}-${process.arch}`,
		node: process.versions.node,
	};
}
