/**
 * `npm run bench`: how many deliveries per second the service makes with every step durable, as a share of this
 * machine's limit; its latency and its memory. For the options see options.ts, for the output results.ts.
 */
import { onInterrupt } from "@posthorn/testkit/interrupt";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { measureAgainst } from "./against.ts";
import { Limit } from "./limit.ts";
import { Receiver } from "./load/receiver.ts";
import { describeMachine } from "./machine.ts";
import { measureClient } from "./measures/client.ts";
import { measureDashboard } from "./measures/dashboard.ts";
import { measureFacts } from "./measures/facts.ts";
import { measureIdleNodes } from "./measures/idle-nodes.ts";
import { measureLatency } from "./measures/latency.ts";
import { measureLogPages } from "./measures/log-pages.ts";
import { measureManyWebhooks } from "./measures/many-webhooks.ts";
import { measureMemory } from "./measures/memory.ts";
import { measureNodes } from "./measures/nodes.ts";
import { measureOldSnapshot } from "./measures/old-snapshot.ts";
import { measurePending } from "./measures/pending.ts";
import { measureRetention } from "./measures/retention.ts";
import { measureSearch } from "./measures/search.ts";
import { measureSoak } from "./measures/soak.ts";
import { measureThroughput } from "./measures/throughput.ts";
import { measureUnwanted } from "./measures/unwanted.ts";
import { measureUpgrade } from "./measures/upgrade.ts";
import { measureNeighbours } from "./neighbours/measure.ts";
import { HELP, OptionError, type Options, readOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { formatReport } from "./report.ts";
import type { Results, ThroughputRun } from "./results.ts";
import { measureSingle } from "./single/measure.ts";
import { Workspace } from "./workspace.ts";

/**
 * The limit is read several times, so each reading may be shorter than a round, but long enough to be meaningful, unless
 * no measurement is.
 */
const LIMIT_SHARE = 1 / 8;
const LIMIT_MIN_MS = 500;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
	const options = readArguments(args);
	if (typeof options === "number") return options;
	const workspace = new Workspace();
	// The receiver exits once this process has.
	process.once("exit", () => workspace.dispose());
	onInterrupt((exitCode) => process.exit(exitCode));
	try {
		const results = await measure(workspace, options);
		process.stdout.write(options.json ? `${JSON.stringify(results)}\n` : formatReport(results));
		const complete =
			(results.runs ?? []).every((run) => run.out_of_order === 0 && run.missing === 0) &&
			(results.neighbours ?? []).every(
				({ beside, neighbour_missing }) => beside.missing + (neighbour_missing ?? 0) === 0,
			);
		return complete ? 0 : 1;
	} catch (error) {
		process.stderr.write(`\n${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
		return 1;
	} finally {
		workspace.dispose();
	}
}

/** The exit code if there is nothing to measure. */
function readArguments(args: readonly string[]): Options | number {
	try {
		const options = readOptions(args);
		if (!options.help) return options;
		process.stdout.write(HELP);
		return 0;
	} catch (error) {
		if (!(error instanceof OptionError)) throw error;
		process.stderr.write(`${error.message}\nSee npm run bench -- --help.\n`);
		return 2;
	}
}

async function measure(workspace: Workspace, options: Options): Promise<Results> {
	const { parts, engines, seconds } = options;
	const progress = new Progress();
	const receiver = await Receiver.start(workspace);
	const service = { caFile: receiver.caFile, profileFolder: options.profileFolder, postgres: null };
	try {
		return {
			...(parts.has("deliveries") ? await measureDeliveries(workspace, receiver, options, progress) : {}),
			...(parts.has("log") ? { log_pages: await measureLogPages(engines, progress) } : {}),
			...(parts.has("pending")
				? { pending: await measurePending(workspace, receiver, service, seconds, progress) }
				: {}),
			...(parts.has("old-snapshot")
				? { old_snapshot: await measureOldSnapshot(workspace, receiver, service, seconds, progress) }
				: {}),
			...(parts.has("nodes") ? { nodes: await measureNodes(workspace, receiver, service, seconds, progress) } : {}),
			...(parts.has("idle-nodes")
				? { idle_nodes: await measureIdleNodes(workspace, receiver, service, seconds, progress) }
				: {}),
			...(parts.has("facts") ? { facts: await measureFacts(workspace, service, engines, progress) } : {}),
			...(parts.has("neighbours")
				? { neighbours: await measureNeighbours(workspace, receiver, service, seconds, options.neighbour, progress) }
				: {}),
			...(parts.has("single")
				? {
						single: await measureSingle(workspace, receiver, service, options, progress),
						latency_ms: await measureLatency(workspace, receiver, service, seconds, progress),
					}
				: {}),
			...(parts.has("dashboard") ? { dashboard: await measureDashboard(progress) } : {}),
			...(parts.has("soak") ? { soak: await measureSoak(engines, progress) } : {}),
			...(parts.has("unwanted")
				? { unwanted: await measureUnwanted(workspace, receiver, service, seconds, progress) }
				: {}),
			...(parts.has("many-webhooks")
				? { many_webhooks: await measureManyWebhooks(workspace, receiver, service, seconds, progress) }
				: {}),
			...(parts.has("search") ? { search: await measureSearch(workspace, receiver, service, options, progress) } : {}),
			...(parts.has("retention")
				? { retention: await measureRetention(workspace, receiver, service, options, progress) }
				: {}),
			...(parts.has("upgrade")
				? { upgrade: await measureUpgrade(workspace, receiver, service, options, progress) }
				: {}),
			...(parts.has("client") ? { client: await measureClient(receiver, progress) } : {}),
			...(options.against !== null
				? {
						against: await measureAgainst(
							workspace,
							receiver,
							service,
							{ ...options, other: options.against },
							progress,
						),
					}
				: {}),
			machine: describeMachine(),
		};
	} finally {
		await receiver.close();
	}
}

async function measureDeliveries(
	workspace: Workspace,
	receiver: Receiver,
	options: Options,
	progress: Progress,
): Promise<Omit<Results, "machine">> {
	const { seconds } = options;
	const service = { caFile: receiver.caFile, profileFolder: options.profileFolder, postgres: null };
	const sliceMs = Math.max(Math.min(LIMIT_MIN_MS, seconds * 1_000), seconds * LIMIT_SHARE * 1_000);
	const limit = await Limit.start(workspace, receiver, sliceMs, progress);
	const runs: ThroughputRun[] = [];
	const postgres = options.engines.includes("postgres") ? await PostgresServer.start({ fsync: true }) : null;
	try {
		for (const shape of options.shapes)
			for (const engine of options.engines) {
				const on = { ...service, postgres: engine === "postgres" ? postgres : null };
				runs.push(await measureThroughput(workspace, receiver, on, shape, seconds, limit, progress));
			}
	} finally {
		await postgres?.stop();
		await limit.close();
	}
	const latency = await measureLatency(workspace, receiver, service, seconds, progress);
	const memory = options.parts.has("memory")
		? await measureMemory(workspace, receiver, service, seconds, progress)
		: null;
	return {
		limit_per_s: Math.round(limit.perSecond),
		runs,
		latency_ms: latency,
		...(memory === null ? {} : { memory_mb: memory }),
	};
}
