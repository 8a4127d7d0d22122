/**
 * How a hostile neighbor affects a quiet project: the time from publishing an event until its receiver has it, alone
 * and next to each of {@link NEIGHBOURS}, with a new service each time.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EVENT_TYPES } from "@posthorn/protocol";
import { writePast } from "../../e2e/past.ts";
import { EVENT_TYPE } from "../load/payload.ts";
import type { Receiver } from "../load/receiver.ts";
import { Throttle } from "../load/throttle.ts";
import { runInProcess } from "../load/worker-process.ts";
import { quantile } from "../measures/latency.ts";
import type { Progress } from "../progress.ts";
import type { NeighbourRun } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import type { Workspace } from "../workspace.ts";
import type { AttackOrder, Behaviour, HostileCommand, HostileReply } from "./hostile.ts";
import { NEIGHBOURS, type Neighbour } from "./neighbours.ts";
import type { QuietResult, QuietTask } from "./quiet-process.ts";

const EVENTS_PER_S = 50;
const WARM_UP_PER_S = 600;
/** The longest warm-up, seconds; a share of the measurement's length. */
const WARM_UP_MOST_S = 5;
/** The neighbor's share of a core. */
const SHARE = 0.5;
/** Time after the neighbor's start before anything is measured, milliseconds. */
const SETTLE_MS = 1_000;
const SAMPLE_MS = 100;
/** If nothing arrives for this long, the remaining events count as missing, milliseconds. */
const STALLED_MS = 20_000;
const MANY_PROJECTS = 100;
/** The limit for a quiet project's p99: this many times its p99 alone, or this long, whichever is more. */
const MOST_TIMES = 3;
const MOST_MS = 50;
/** The memory that docs/operations recommend for a node, MB. */
const ALLOWED_MB = 768;

export async function measureNeighbours(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	only: string | null,
	progress: Progress,
): Promise<NeighbourRun[]> {
	const runs: NeighbourRun[] = [];
	for (const neighbour of NEIGHBOURS) {
		if (only !== null && !neighbour.name.includes(only)) continue;
		progress.start(neighbour.name);
		const run = await new Side(workspace, receiver, options, neighbour, seconds).measure((part) =>
			progress.update(part, 4),
		);
		runs.push(run);
		progress.finish(`p99 ${run.alone.p99} ms alone, ${run.beside.p99} ms next to it${run.within ? "" : ": too long"}`);
	}
	return runs;
}

/** One quiet project and one neighbor. */
class Side {
	readonly #workspace: Workspace;
	readonly #receiver: Receiver;
	readonly #options: ServiceOptions;
	readonly #neighbour: Neighbour;
	readonly #seconds: number;
	#published = 0;

	constructor(
		workspace: Workspace,
		receiver: Receiver,
		options: ServiceOptions,
		neighbour: Neighbour,
		seconds: number,
	) {
		this.#workspace = workspace;
		this.#receiver = receiver;
		this.#neighbour = neighbour;
		this.#seconds = seconds;
		const folder = workspace.makeFolder("neighbours");
		this.#options = {
			...options,
			settings: {
				POSTHORN_DATABASE_URL: `sqlite:${join(folder, "posthorn.db")}`,
				POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
				POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
				POSTHORN_MAX_WEBHOOKS: "10000",
			},
		};
	}

	async measure(onPart: (part: number) => void): Promise<NeighbourRun> {
		const hostile = await this.#fork();
		let service = await Service.start(this.#workspace, this.#options);
		try {
			const quiet = await this.#openQuiet(service);
			const { order, webhookId } = await this.#setUp(service, hostile.port);
			onPart(1);
			await this.#publish(service, quiet, this.#warmUp);
			const alone = await this.#publish(service, quiet, this.#paced);
			onPart(2);
			if (this.#neighbour.past) {
				await service.stop();
				await this.#writePast(order.projects[0]!.id, webhookId);
				service = await Service.start(this.#workspace, this.#options);
			}
			await this.#publish(service, quiet, this.#warmUp);
			onPart(3);
			await hostile.begin({ ...order, origin: service.api.origin });
			await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
			const most = highest(service);
			const beside = await this.#publish(service, quiet, this.#paced);
			const mb = most();
			const { refusals, ...latency } = beside;
			const neighbourMissing = this.#neighbour.complete ? await this.#missing(service, hostile) : null;
			const within =
				beside.p99 <= Math.max(MOST_TIMES * alone.p99, MOST_MS) &&
				beside.missing + (neighbourMissing ?? 0) === 0 &&
				(mb ?? 0) <= ALLOWED_MB;
			return {
				neighbour: this.#neighbour.name,
				alone: { p50: alone.p50, p99: alone.p99 },
				beside: latency,
				neighbour_missing: neighbourMissing,
				refusals,
				resident_mb: mb,
				within,
			};
		} finally {
			hostile.kill();
			await service.stop();
		}
	}

	get #warmUp() {
		return { count: Math.ceil(WARM_UP_PER_S * Math.min(WARM_UP_MOST_S, this.#seconds)), perSecond: WARM_UP_PER_S };
	}

	get #paced() {
		return { count: Math.ceil(EVENTS_PER_S * this.#seconds), perSecond: EVENTS_PER_S };
	}

	/** The neighbor's process, limited to its share of a core. */
	async #fork() {
		const { cert, key } = await this.#receiver.issue();
		const child = this.#workspace.fork(fileURLToPath(new URL("./hostile-process.ts", import.meta.url)), {
			HOSTILE_CERT: cert,
			HOSTILE_KEY: key,
			...(this.#neighbour.tls && { HOSTILE_TLS: this.#neighbour.tls }),
		});
		const [{ port }] = (await once(child, "message")) as [HostileReply & { port: number }];
		const throttle = new Throttle(child.pid!, SHARE);
		return {
			port,
			async begin(order: AttackOrder): Promise<void> {
				const begun = once(child, "message");
				child.send(order);
				await begun;
			},
			/** Stops publishing, and reports its progress. */
			async progress(): Promise<{ readonly accepted: number; readonly received: number }> {
				throttle.end();
				const replied = once(child, "message");
				child.send({ attack: null } satisfies HostileCommand);
				return (await replied)[0];
			},
			kill(): void {
				throttle.end();
				child.kill("SIGKILL");
			},
		};
	}

	async #openQuiet({ api }: Service): Promise<Quiet> {
		const projectId = await api.createProject("quiet");
		await api.createWebhook(projectId, `${this.#receiver.origin}/w${this.#receiver.takePaths(1)}`, [EVENT_TYPE]);
		return { path: `/v1/projects/${projectId}/events`, key: await api.createKey(projectId) };
	}

	async #setUp({ api }: Service, port: number): Promise<{ order: Omit<AttackOrder, "origin">; webhookId: string }> {
		const neighbour = this.#neighbour;
		const projects = await api.setUp(neighbour.projects, async (n) => {
			const id = await api.createProject(`neighbour ${n}`);
			// With very many projects it publishes with the operator's key.
			return { id, key: neighbour.projects > MANY_PROJECTS ? api.key : await api.createKey(id) };
		});
		const webhooks = neighbour.webhooks.flatMap((some) => Array<typeof some>(some.count).fill(some));
		const ids = await api.setUp(webhooks.length, (n) => {
			const { behaviour, maxInFlight } = webhooks[n]!;
			const url = webhookUrl(neighbour.tls ? `127.0.1.${n + 1}` : "127.0.0.1", port, behaviour, n);
			return api.createWebhook(projects[n % projects.length]!.id, url, [EVENT_TYPE], maxInFlight);
		});
		const webhookId = ids[0] ?? "";
		const { attack } = neighbour;
		return { order: { projects, attack: typeof attack === "function" ? attack(webhookId) : attack }, webhookId };
	}

	async #writePast(projectId: string, webhookId: string): Promise<void> {
		const { events, agoMs, statusCode } = this.#neighbour.past!;
		const since = Date.now() - agoMs;
		const webhook = { id: webhookId, url: "https://localhost/past", events: EVENT_TYPES.map(({ type }) => type) };
		await writePast({
			path: this.#options.settings!.POSTHORN_DATABASE_URL!.slice("sqlite:".length),
			projectId,
			webhooks: webhookId === "" ? [] : [{ ...webhook, attemptsOf: () => [{ statusCode, responseMs: 20 }] }],
			times: Array.from({ length: events }, (_, n) => since + n),
		});
	}

	/** Publishes for the quiet project, and waits until its receiver has all accepted events. */
	async #publish(service: Service, quiet: Quiet, pace: { count: number; perSecond: number }): Promise<Measured> {
		await this.#receiver.reset();
		const task = { ...quiet, ...pace, origin: service.api.origin, first: this.#published };
		this.#published += pace.count;
		const publishing = runInProcess<QuietTask, QuietResult>(
			this.#workspace,
			new URL("./quiet-process.ts", import.meta.url),
			task,
		);
		const { accepted, refusals } = await publishing;
		const distinct = await this.#arrived(service, accepted);
		const { latencies } = await this.#receiver.stats();
		return {
			p50: quantile(latencies, 0.5),
			p99: quantile(latencies, 0.99),
			refused: pace.count - accepted,
			missing: accepted - distinct,
			refusals,
		};
	}

	/** How many of the neighbor's own events don't arrive: each of its projects has one webhook. */
	async #missing(
		service: Service,
		hostile: { progress(): Promise<{ accepted: number; received: number }> },
	): Promise<number> {
		let before = -1;
		for (let since = performance.now(); performance.now() - since < STALLED_MS; ) {
			if (!service.isRunning) throw service.failure("The service exited next to its neighbor.");
			const { accepted, received } = await hostile.progress();
			if (received >= accepted) return 0;
			if (received > before) since = performance.now();
			before = received;
			await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
		}
		const { accepted, received } = await hostile.progress();
		return accepted - received;
	}

	/** How many of the accepted events arrived. */
	async #arrived(service: Service, accepted: number): Promise<number> {
		let distinct = 0;
		for (let since = performance.now(); performance.now() - since < STALLED_MS; ) {
			if (!service.isRunning) throw service.failure("The service exited next to its neighbor.");
			const stats = await this.#receiver.stats();
			if (stats.distinct > distinct) since = performance.now();
			distinct = stats.distinct;
			if (distinct >= accepted) return accepted;
			await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
		}
		return distinct;
	}
}

interface Quiet {
	readonly path: string;
	readonly key: string;
}

type Measured = NeighbourRun["beside"] & { readonly refusals: readonly string[] };

function webhookUrl(host: string, port: number, behaviour: Behaviour, n: number): string {
	return `https://${host}:${port}/${behaviour}/${n}`;
}

/** Samples the service's memory. @returns a function that stops sampling and returns the maximum, MB */
function highest(service: Service): () => number | null {
	let most = service.residentMb();
	const timer = setInterval(() => {
		if (service.isRunning && most !== null) most = Math.max(most, service.residentMb() ?? 0);
	}, SAMPLE_MS);
	return () => {
		clearInterval(timer);
		return most === null ? null : Math.round(most);
	};
}
