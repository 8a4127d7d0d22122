/**
 * What one event in a request costs, from the request to its settled delivery: the service's CPU time by thread, next to
 * that of a bare Fastify JSON POST, of a bare signed send, and of the least that does both durably, which take turns with it
 * in the same run.
 */
import { PostgresServer } from "@posthorn/testkit/postgres";
import type { Receiver } from "../load/receiver.ts";
import { received, type Stage, setStage } from "../load/stage.ts";
import { WorkerProcess } from "../load/worker-process.ts";
import { REST_MS } from "../measures/throughput.ts";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { SingleRun, ThreadCost } from "../results.ts";
import type { ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import type { FastifyReply, FastifyTask } from "./fastify-process.ts";
import { Least } from "./least.ts";
import type { SingleTask } from "./publish-process.ts";
import type { SendReading, SendTask } from "./send-process.ts";

const PROJECTS = 100;
const CONNECTIONS = 50;
const ROUNDS = 5;
/** Requests of a round per second of `seconds`, and of the warm-up. */
const REQUESTS_PER_S = 1_500;
const WARM_UP = 30_000;
/** The goal: at most this many times the two bare ones together. */
export const SINGLE_MOST_TIMES = 2;

export async function measureSingle(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	{ engines, seconds }: { readonly engines: readonly Engine[]; readonly seconds: number },
	progress: Progress,
): Promise<SingleRun[]> {
	const bare = await Bare.start(workspace, receiver);
	const runs: SingleRun[] = [];
	for (const engine of engines) {
		const postgres = engine === "postgres" ? await PostgresServer.start({ fsync: true }) : null;
		progress.start(`one event in a request, ${engine}: setting up`);
		const shape = { webhooks: PROJECTS, fanout: 1 };
		const stage = await setStage(workspace, receiver, { ...options, postgres }, shape);
		try {
			const run = await new Side(workspace, stage, bare).measure(engine, seconds, progress);
			progress.finish(`${run.ratio.toFixed(2)} times a bare request and a bare send`);
			runs.push(run);
		} finally {
			await stage.service.stop();
			await postgres?.stop();
		}
	}
	await bare.close();
	return runs;
}

/** What the service's cost is compared with. */
class Bare {
	readonly #fastify: WorkerProcess<FastifyTask, FastifyReply>;
	readonly #publisher: WorkerProcess<SingleTask, null>;
	readonly #sender: WorkerProcess<SendTask, SendReading>;
	readonly #least: Least;
	readonly #receiver: Receiver;
	readonly #firstPath: number;
	#origin = "";

	private constructor(workspace: Workspace, receiver: Receiver, least: Least) {
		this.#fastify = new WorkerProcess(workspace, new URL("./fastify-process.ts", import.meta.url));
		this.#publisher = new WorkerProcess(workspace, new URL("./publish-process.ts", import.meta.url));
		this.#sender = new WorkerProcess(workspace, new URL("./send-process.ts", import.meta.url));
		this.#least = least;
		this.#receiver = receiver;
		this.#firstPath = receiver.takePaths(CONNECTIONS);
	}

	static async start(workspace: Workspace, receiver: Receiver): Promise<Bare> {
		const least = await Least.start(workspace, receiver, { projects: PROJECTS, connections: CONNECTIONS });
		const bare = new Bare(workspace, receiver, least);
		bare.#origin = `http://127.0.0.1:${await bare.#fastify.run({ kind: "listen" })}`;
		return bare;
	}

	/** CPU time of a request to Fastify, microseconds. */
	async request(requests: number): Promise<number> {
		const before = await this.#fastify.run({ kind: "cpu" });
		await this.#publish(this.#origin, Array(PROJECTS).fill("/events"), requests);
		return ((await this.#fastify.run({ kind: "cpu" })) - before) / requests;
	}

	/** CPU time of an event from the request to its committed outcome, with nothing else, microseconds. */
	async least(requests: number): Promise<number> {
		const before = await this.#least.cpu();
		const paths = Array.from({ length: PROJECTS }, (_, no) => this.#least.pathOf(no));
		await this.#publish(this.#least.origin, paths, requests);
		return ((await this.#least.cpu()) - before) / requests;
	}

	async #publish(origin: string, paths: readonly string[], requests: number): Promise<void> {
		await this.#publisher.run({ origin, key: null, paths, connections: CONNECTIONS, requests, firstNumber: 0 });
	}

	/** CPU time of a signed request to the receiver, microseconds. */
	send(requests: number): Promise<number> {
		const { origin, caFile } = this.#receiver;
		return this.#sender.run({ origin, caFile, firstPath: this.#firstPath, connections: CONNECTIONS, requests });
	}

	async close(): Promise<void> {
		const processes = [this.#fastify, this.#publisher, this.#sender, this.#least];
		await Promise.all(processes.map((each) => each.close()));
	}
}

/** The service on one engine. */
class Side {
	readonly #stage: Stage;
	readonly #bare: Bare;
	readonly #publisher: WorkerProcess<SingleTask, null>;

	constructor(workspace: Workspace, stage: Stage, bare: Bare) {
		this.#stage = stage;
		this.#bare = bare;
		this.#publisher = new WorkerProcess(workspace, new URL("./publish-process.ts", import.meta.url));
	}

	async measure(engine: Engine, seconds: number, progress: Progress): Promise<SingleRun> {
		const requests = Math.ceil((REQUESTS_PER_S * seconds) / PROJECTS) * PROJECTS;
		const warmUp = Math.min(WARM_UP, 8 * requests);
		progress.start(`one event in a request, ${engine}: warming up`);
		await Promise.all([this.#bare.request(warmUp), this.#bare.send(warmUp)]);
		await this.#bare.least(warmUp);
		await this.#work(warmUp);
		progress.start(`one event in a request, ${engine}`);
		const rounds: Reading[] = [];
		for (let round = 0; round < ROUNDS; round++) {
			const requestUs = await this.#bare.request(requests);
			const sendUs = await this.#bare.send(requests);
			const leastUs = await this.#bare.least(requests);
			rounds.push({ requestUs, sendUs, leastUs, ...(await this.#work(requests)) });
			progress.update(round + 1, ROUNDS);
		}
		await this.#publisher.close();
		const middle = (of: (reading: Reading) => number): number => Number(median(rounds.map(of)).toFixed(1));
		const ratioOf = (us: (reading: Reading) => number) =>
			rounds.map((reading) => us(reading) / (reading.requestUs + reading.sendUs));
		const ratios = ratioOf(({ cpuUs }) => cpuUs);
		return {
			engine,
			cpu_us: middle(({ cpuUs }) => cpuUs),
			bare_request_us: middle(({ requestUs }) => requestUs),
			bare_send_us: middle(({ sendUs }) => sendUs),
			least_us: middle(({ leastUs }) => leastUs),
			least_ratio: Number(median(ratioOf(({ leastUs }) => leastUs)).toFixed(2)),
			ratios: ratios.map((ratio) => Number(ratio.toFixed(2))),
			ratio: Number(median(ratios).toFixed(2)),
			per_s: Math.round(median(rounds.map(({ perSecond }) => perSecond))),
			threads: medianThreads(rounds.map(({ threads }) => threads)),
		};
	}

	/** Publishes, waits until everything is delivered and settled, and says what it cost. */
	async #work(requests: number): Promise<Omit<Reading, "requestUs" | "sendUs" | "leastUs">> {
		const { service, receiver, projectIds } = this.#stage;
		await receiver.reset();
		const firstNumber = this.#stage.published;
		this.#stage.published += requests / PROJECTS;
		const before = service.threadMicros();
		const begun = performance.now();
		const publishing = this.#publisher
			.run({
				origin: service.api.origin,
				key: service.api.key,
				paths: projectIds.map((id) => `/v1/projects/${id}/events`),
				connections: CONNECTIONS,
				requests,
				firstNumber,
			})
			.then(() => performance.now() - begun);
		const [ms] = await Promise.all([publishing, received(this.#stage, requests, () => {}, 200)]);
		await new Promise((resolve) => setTimeout(resolve, REST_MS));
		const after = service.threadMicros();
		const { distinct, out_of_order } = await receiver.stats();
		if (distinct < requests || out_of_order > 0)
			throw new Error(`${requests - distinct} deliveries are missing, ${out_of_order} came out of order.`);
		const threads = [...after].map(([thread, us]) => ({ thread, us: (us - (before.get(thread) ?? 0)) / requests }));
		const cpuUs = threads.reduce((sum, { us }) => sum + us, 0);
		return { cpuUs, threads, perSecond: (requests * 1_000) / ms };
	}
}

interface Reading {
	readonly cpuUs: number;
	readonly requestUs: number;
	readonly sendUs: number;
	readonly leastUs: number;
	readonly threads: readonly ThreadCost[];
	readonly perSecond: number;
}

function medianThreads(rounds: readonly (readonly ThreadCost[])[]): ThreadCost[] {
	const names = [...new Set(rounds.flat().map(({ thread }) => thread))];
	return names
		.map((thread) => {
			const costs = rounds.map((round) => round.find((each) => each.thread === thread)?.us ?? 0);
			return { thread, us: Number(median(costs).toFixed(1)) };
		})
		.filter(({ us }) => us >= 0.5)
		.toSorted((a, b) => b.us - a.us);
}
