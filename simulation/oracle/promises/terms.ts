import type { Check, Witness } from "../check.ts";

/** Only the node that was last granted a project's lease runs it. */
export function terms(witness: Witness): Check {
	/** The last holder of each project's lease, even if the database has forgotten it. */
	const holders = new Map<string, string>();
	const generations = new Map<string, number>();
	/** By project and node, when the database last granted or renewed the lease, by true time; failovers don't count. */
	const granted = new Map<string, number>();
	/** By project and node, when a lease was last granted or renewed that the node may still use, lost or not; true time. */
	const inUse = new Map<string, Map<string, number>>();
	let wasRestored = false;
	const { leaseTermMs, manyNodes } = witness.facts;

	/** A failover may have lost the lease of a node that still sends under it. */
	function checkUnused(projectId: string, node: string, at: number): void {
		for (const [other, since] of inUse.get(projectId) ?? [])
			if (manyNodes && other !== node && at < since + leaseTermMs - 1)
				witness.broken({ projectId }, `${node} was given the lease while ${other} may still use it`);
	}

	return {
		promise: "nothing is settled or sent under an old lease",
		on(happening) {
			if (happening.kind === "leased" || happening.kind === "renewed")
				granted.set(`${happening.lease.projectId}/${happening.node}`, happening.at);
			if (happening.kind === "leased") checkUnused(happening.lease.projectId, happening.node, happening.at);
			if (happening.kind === "leased" || happening.kind === "renewed") {
				const { lease, node, at } = happening;
				const nodes = inUse.get(lease.projectId) ?? new Map<string, number>();
				inUse.set(lease.projectId, nodes.set(node, at));
			}
			if (happening.kind === "released") inUse.get(happening.lease.projectId)?.delete(happening.node);
			if (happening.kind === "crashed" || happening.kind === "stopped")
				for (const nodes of inUse.values()) nodes.delete(happening.node);
			switch (happening.kind) {
				case "leased": {
					const { node, lease, at } = happening;
					const { projectId, generation } = lease;
					const term = witness.ledger.leases.get(projectId);
					// A database for one node grants its leases to the next process that opens it.
					if (manyNodes && term && term.node !== node && at < term.at + leaseTermMs - 1)
						witness.broken({ projectId }, `${node} was given the lease while ${term.node} held it`);
					// After a failover each node counts its own way.
					if (!wasRestored && generation <= (generations.get(projectId) ?? -1) && holders.get(projectId) !== node)
						witness.broken({ projectId }, `${node} was given generation ${generation} of the lease, which isn't new`);
					generations.set(projectId, Math.max(generation, generations.get(projectId) ?? 0));
					holders.set(projectId, node);
					break;
				}
				case "restored":
					wasRestored = true;
					break;
				case "kept":
					holders.set(happening.lease.projectId, happening.node);
					generations.set(happening.lease.projectId, happening.lease.generation);
					break;
				case "settled": {
					const { settlement, node, handedOver } = happening;
					const { projectId, generation } = settlement;
					if (handedOver) {
						const { webhookId, seq, replay } = handedOver;
						const left = witness.ledger.handedOver.get(projectId) ?? [];
						if (!left.some((one) => one.webhookId === webhookId && one.seq === seq && one.replay === replay))
							witness.broken({ projectId, webhookId }, `${node} settled number ${seq}, which was not handed over`);
						break;
					}
					const term = witness.ledger.leases.get(projectId);
					if (term?.node !== node || term.generation !== generation)
						witness.broken(
							{ projectId },
							`${node} settled under generation ${generation}, and ${term ? `${term.node} held ${term.generation}` : "nobody held the lease"}`,
						);
					break;
				}
				case "sent": {
					const { request, at } = happening;
					const { webhook, eventId } = witness.wire.read(request, at);
					if (!webhook) break;
					const { projectId, id: webhookId } = webhook;
					const holder = holders.get(projectId);
					const about = { projectId, webhookId, eventId };
					if (holder !== request.node) witness.broken(about, `${request.node} sent it while ${holder} held the lease`);
					const sinceMs = at - (granted.get(`${projectId}/${request.node}`) ?? Number.NEGATIVE_INFINITY);
					if (sinceMs > leaseTermMs)
						witness.broken(about, `${request.node} sent it ${sinceMs} ms after its lease was last renewed`);
					break;
				}
			}
		},
	};
}
