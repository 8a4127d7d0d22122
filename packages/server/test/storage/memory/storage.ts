import { PROJECTS } from "../../../src/base/budgets.ts";
import { type Storage, StorageError } from "../../../src/storage/port.ts";
import { appendEvents, lockedResult } from "./append.ts";
import { coldCalls } from "./cold.ts";
import { epochName } from "./epochs.ts";
import { settleHandedOver } from "./handover.ts";
import { releaseLease, renewLeases } from "./leases.ts";
import { ProjectLocks } from "./locks.ts";
import type { MemoryNode } from "./node.ts";
import { peersOf } from "./peers.ts";
import { settle } from "./settle.ts";
import { freeCalls, holdingCalls } from "./verbs.ts";

/** Implements the port on top of a node. */
export function storageOf(node: MemoryNode, manyNodes: boolean): Storage {
	const { database } = node;
	const isLocked = (projectId: string): boolean => {
		const project = database.project(projectId);
		return project !== undefined && database.locks.has(project.no);
	};
	/** For calls on one project that wait for it: what they return if that takes too long. */
	const whenFree = async <T>(projectId: string, verb: () => T, locked: () => T): Promise<T> => {
		try {
			return await node.runHolding(projectId, verb);
		} catch (error) {
			if (error instanceof StorageError && error.code === "locked") return locked();
			throw error;
		}
	};
	return {
		...coldCalls(node),
		...freeCalls(node),
		...holdingCalls(node),
		peers: manyNodes ? peersOf(node) : null,
		get epoch() {
			return epochName(node.epoch);
		},
		ping: () => node.run(() => undefined),
		close: () => node.close(),

		appendEvents(p) {
			const { requests, waits = false } = p;
			const verb = () => appendEvents(node, p);
			const projectId = requests[0]?.projectId;
			if (!waits || projectId === undefined) return node.run(verb);
			return whenFree(projectId, verb, () => requests.map(lockedResult));
		},
		renewLeases(p) {
			const { leases, waits = false } = p;
			const verb = () => renewLeases(node, p);
			const projectId = leases[0]?.projectId;
			if (!waits || projectId === undefined) return node.run(verb);
			return whenFree(projectId, verb, () => ({ renewed: [], locked: leases }));
		},
		async releaseLease(p) {
			const { projectId } = p.lease;
			const release = () => node.runHolding(projectId, () => releaseLease(node, p));
			if (!isLocked(projectId)) return release();
			if (node.releasesWaiting >= PROJECTS.releasesWaiting) throw ProjectLocks.refusal();
			node.releasesWaiting += 1;
			return release().finally(() => {
				node.releasesWaiting -= 1;
			});
		},
		settle(p) {
			const { settlements, waits = false } = p;
			const verb = () => settle(node, p);
			const projectId = settlements[0]?.projectId;
			if (!waits || projectId === undefined) return node.run(verb);
			return whenFree(projectId, verb, () => settlements.map(() => "locked" as const));
		},
		settleHandedOver: (p) => node.runHolding(p.settlement.projectId, () => settleHandedOver(node, p)),
	};
}
