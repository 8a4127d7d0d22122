import type { HandedOver, Lease, Params } from "../../port.ts";
import { QUEUE_CODE } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import type { UnpackedSettlement } from "../connection/wire.ts";
import { ringForChange } from "../lanes/lanes.ts";
import { settleAttempts } from "../lanes/settle.ts";
import type { LeaseTime } from "./leases.ts";

/** Records what is in flight with a lease that is being released. */
export function handOver(c: Connection, projectNo: number, lease: Lease, attempts: readonly HandedOver[]): void {
	for (const { webhookId, seq, replay, queue, until } of attempts) {
		const webhook = c.names.webhook(projectNo, webhookId);
		if (webhook === null) continue;
		c.sql(`
			INSERT INTO handed_over (project_no, webhook_no, seq, replay, queue, generation, until)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`).run(
			projectNo,
			webhook,
			seq,
			replay,
			queue === null ? null : QUEUE_CODE[queue],
			lease.generation,
			until,
		);
	}
}

export function settleHandedOver(
	c: Connection,
	handedOver: HandedOver,
	settlement: UnpackedSettlement,
): "settled" | "stale" {
	const project = c.names.project(settlement.projectId);
	const webhook = project === null ? null : c.names.webhook(project, handedOver.webhookId);
	if (project === null || webhook === null) return "stale";
	const { last_seq } = c.sql("SELECT last_seq FROM projects WHERE no = ?").get(project)!;
	if (settlement.lanes.some(({ position }) => position > (last_seq as number))) return "stale";
	const taken = c
		.sql(
			"DELETE FROM handed_over WHERE project_no = ? AND webhook_no = ? AND seq = ? AND replay = ? AND generation = ?",
		)
		.run(project, webhook, handedOver.seq, handedOver.replay, settlement.generation);
	if (taken.changes === 0) return "stale";
	const verdict = settleAttempts(c, project, settlement);
	ringForChange(c, project);
	return verdict;
}

export function forgetHandedOver(c: Connection, { projectId }: Params<"forgetHandedOver">, { now }: LeaseTime): void {
	const project = c.names.project(projectId);
	if (project !== null) c.sql("DELETE FROM handed_over WHERE project_no = ? AND until <= ?").run(project, now);
}
