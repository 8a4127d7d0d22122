import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { EVENT_TYPE } from "../load/payload.ts";
import type { Receiver } from "../load/receiver.ts";
import { runInProcess } from "../load/worker-process.ts";
import type { Progress } from "../progress.ts";
import type { IdleNodes } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import type { Workspace } from "../workspace.ts";
import type { PacedTask } from "./latency.ts";

const NODES = [1, 2, 4, 8];
/** As in the finding that this measures. */
const EVENTS_PER_S = 15;
/** Until nodes have found each other and divided the projects, milliseconds. */
const SETTLE_MS = 12_000;
/** Until the last events are indexed, milliseconds. How many steps that takes depends on the machine's speed. */
const INDEX_MS = 7_000;

/**
 * Transactions and connections of the database while one project is busy, and right after, with growing numbers of
 * nodes, all but one of which have nothing to do.
 */
export async function measureIdleNodes(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<IdleNodes[]> {
	const postgres = await PostgresServer.start({ fsync: true });
	const url = await postgres.createDatabase();
	const settings = {
		POSTHORN_DATABASE_URL: url,
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
	};
	const nodes: Service[] = [];
	const runs: IdleNodes[] = [];
	try {
		let path = "";
		for (const count of NODES) {
			progress.start(`idle nodes: ${count} in all`);
			while (nodes.length < count) nodes.push(await Service.start(workspace, { ...options, settings }));
			const [{ api }] = nodes as [Service];
			if (path === "") {
				const projectId = await api.createProject("busy");
				await api.createWebhook(projectId, `${receiver.origin}/w${receiver.takePaths(1)}`, [EVENT_TYPE]);
				path = `/v1/projects/${projectId}/events`;
			}
			const publish = (length: number): Promise<null> =>
				runInProcess<PacedTask, null>(workspace, new URL("../load/paced-process.ts", import.meta.url), {
					origin: api.origin,
					caFile: null,
					path,
					headers: { authorization: `Bearer ${api.key}` },
					enveloped: false,
					stretches: [{ count: Math.ceil(EVENTS_PER_S * length), perSecond: EVENTS_PER_S }],
				});
			await publish(SETTLE_MS / 1_000);
			const name = new URL(url).pathname.slice(1);
			const read = async (): Promise<{ readonly transactions: number; readonly connections: number }> => {
				const [row] = await postgres.execute(
					`SELECT xact_commit + xact_rollback AS transactions, numbackends AS connections
					 FROM pg_stat_database WHERE datname = '${name}'`,
				);
				return { transactions: Number(row!.transactions), connections: Number(row!.connections) };
			};
			const rateDuring = async (work: () => Promise<unknown>): Promise<number> => {
				const before = await read();
				const begun = performance.now();
				await work();
				const { transactions } = await read();
				return ((transactions - before.transactions) * 1_000) / (performance.now() - begun);
			};
			const perSecond = await rateDuring(() => publish(seconds));
			const { connections } = await read();
			await sleep(INDEX_MS);
			const quiet = await rateDuring(() => sleep(seconds * 1_000));
			progress.finish(`${perSecond.toFixed(1)} transactions/s, ${quiet.toFixed(1)} when quiet`);
			runs.push({
				nodes: count,
				transactions_per_s: Number(perSecond.toFixed(1)),
				quiet_transactions_per_s: Number(quiet.toFixed(1)),
				connections,
			});
		}
		return runs;
	} finally {
		for (const node of nodes) await node.stop();
		await postgres.stop();
	}
}
