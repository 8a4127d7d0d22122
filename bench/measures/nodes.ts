import { randomBytes } from "node:crypto";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { publish } from "../load/publisher.ts";
import type { Receiver } from "../load/receiver.ts";
import { received, type Stage, setStage } from "../load/stage.ts";
import { Throttle } from "../load/throttle.ts";
import type { Progress } from "../progress.ts";
import type { Nodes } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";

const WEBHOOKS = 100;
/** Each node's share of a core: two nodes, the receiver, the publisher and PostgreSQL have to fit on two cores. */
const SHARE = 0.3;
const ROUNDS = 3;
/** Deliveries per second of a round and node. */
const PER_S = 2_000;
/** Deliveries per node for compiling its code and acquiring its share of the projects, before it is throttled. */
const WARM_UP = 40_000;

/**
 * Deliveries per second of one node and of two on one PostgreSQL, alternating, each limited to the same share of a
 * core.
 */
export async function measureNodes(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<Nodes> {
	const postgres = await PostgresServer.start({ fsync: true });
	const settings = {
		POSTHORN_DATABASE_URL: await postgres.createDatabase(),
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
	};
	progress.start("setting up");
	const shape = { webhooks: WEBHOOKS, fanout: 1 };
	const stage = await setStage(workspace, receiver, { ...options, settings }, shape);
	let second: Service | null = null;
	try {
		const rounds: Nodes["rounds"] = [];
		for (let n = 1; n <= ROUNDS; n++) {
			const one_per_s = await round(stage, [stage.service], seconds, progress, `round ${n} of ${ROUNDS}, one node`);
			second = await Service.start(workspace, { ...options, settings });
			const nodes = [stage.service, second];
			const two_per_s = await round(stage, nodes, seconds, progress, `round ${n} of ${ROUNDS}, two nodes`);
			await second.stop();
			second = null;
			rounds.push({ one_per_s: Math.round(one_per_s), two_per_s: Math.round(two_per_s) });
		}
		const ratio = median(rounds.map((each) => each.two_per_s)) / median(rounds.map((each) => each.one_per_s));
		return { share: SHARE, rounds, ratio: Number(ratio.toFixed(3)) };
	} finally {
		await second?.stop();
		await stage.service.stop();
		await postgres.stop();
	}
}

async function round(
	stage: Stage,
	nodes: readonly Service[],
	seconds: number,
	progress: Progress,
	what: string,
): Promise<number> {
	progress.start(`${what}, warming up`);
	await deliver(stage, nodes, WARM_UP * nodes.length, progress);
	const throttles = nodes.map(({ pid }) => new Throttle(pid, SHARE));
	try {
		progress.start(what);
		const perSecond = await deliver(stage, nodes, PER_S * seconds * nodes.length, progress);
		progress.finish(`${Math.round(perSecond)}/s`);
		return perSecond;
	} finally {
		for (const throttle of throttles) throttle.end();
	}
}

/**
 * Publishes at every node, each for its share of the projects, and waits for the deliveries. Returns their rate per
 * second.
 */
async function deliver(
	stage: Stage,
	nodes: readonly Service[],
	deliveries: number,
	progress: Progress,
): Promise<number> {
	const eventsPerProject = Math.ceil(deliveries / WEBHOOKS);
	const expected = eventsPerProject * WEBHOOKS;
	const firstNumber = stage.published;
	stage.published += eventsPerProject;
	await stage.receiver.reset();
	await Promise.all([
		received(stage, expected, (done) => progress.update(done, expected)),
		...nodes.map(({ api }, index) => {
			const projectIds = stage.projectIds.filter((_, n) => n % nodes.length === index);
			return publish(stage.workspace, api, { projectIds, eventsPerProject, firstNumber, small: false });
		}),
	]);
	const { distinct, out_of_order, first_at, last_at } = await stage.receiver.stats();
	if (distinct < expected || out_of_order > 0)
		throw new Error(`${expected - distinct} deliveries are missing, ${out_of_order} came out of order.`);
	return ((distinct - 1) * 1_000) / (last_at - first_at);
}
