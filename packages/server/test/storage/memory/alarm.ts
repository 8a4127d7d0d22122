import type { MemoryNode } from "./node.ts";
import type { ProjectRow } from "./rows.ts";

/**
 * Notes that webhooks, a replay or a test changed, and rings the project's alarm. While a lease is held the alarm is
 * silent: its holder sees the new revision when it gives the lease back.
 */
export function ringForChange(node: MemoryNode, project: ProjectRow): void {
	const { logs } = node.tables;
	const log = logs.get(project.no)!;
	logs.put({ ...log, revision: log.revision + 1 });
	ring(node, project);
}

/** Rings the project's alarm, if nobody holds its lease, and has other nodes told. */
export function ring(node: MemoryNode, project: ProjectRow): void {
	const { leases } = node.tables;
	const lease = leases.get(project.no)!;
	if (lease.until === null && lease.wakeAt !== 0) leases.put({ ...lease, wakeAt: 0 });
	node.changed(project.id);
}
