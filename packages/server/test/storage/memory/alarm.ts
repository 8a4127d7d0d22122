import type { MemoryNode } from "./node.ts";
import type { ProjectRow } from "./rows.ts";

/**
 * Records a change of webhooks, a replay or a test, and sets the project's alarm. While the project is leased, its
 * alarm isn't set: the holder sees the new revision when it releases the lease.
 */
export function wakeForChange(node: MemoryNode, project: ProjectRow): void {
	const { logs } = node.tables;
	const log = logs.get(project.no)!;
	logs.put({ ...log, revision: log.revision + 1 });
	ring(node, project);
}

/** Sets the project's alarm if no node holds its lease, and hints to other nodes. */
export function ring(node: MemoryNode, project: ProjectRow): void {
	const { leases } = node.tables;
	const lease = leases.get(project.no)!;
	if (lease.until === null && lease.wakeAt !== 0) leases.put({ ...lease, wakeAt: 0 });
	node.changed(project.id);
}
