/**
 * `npm run failover`: kills the primary of a real cluster repeatedly under load. Options are in options.ts, the cluster in
 * cluster.ts, a single failure in round.ts, the checks in verdict.ts.
 */
import { chmodSync, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { chown } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { serverUser } from "@posthorn/testkit/postgres";
import type { SiteNode } from "../database/node.ts";
import { Site } from "../database/site.ts";
import { Traffic } from "../database/traffic.ts";
import { Cluster } from "./cluster.ts";
import { HELP, OptionError, type Options, readOptions } from "./options.ts";
import { Processes, removeData } from "./processes.ts";
import { findOrInstall, NotPossible } from "./programs.ts";
import { faultOf, Lines, roundLine, seconds, summary } from "./report.ts";
import { type Round, runRound, Watch } from "./round.ts";
import { judge } from "./verdict.ts";

const NODES = 3;
const PROJECTS = 20;
/** Events per call on average, as `Traffic` publishes them. */
const EVENTS_OF_A_CALL = 3;
/** Between a recovery and the next failure, milliseconds. */
const PEACE_MS = 3_000;
/** Time limit for the whole run, milliseconds: a base plus an amount per failure. */
const LIMIT_MS = 360_000;
const LIMIT_OF_A_ROUND_MS = 120_000;
const EXIT = { wrong: 1, option: 2, notPossible: 3, interrupted: 130 } as const;

const lines = new Lines();
process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
	let options: Options;
	try {
		options = readOptions(args);
	} catch (error) {
		if (!(error instanceof OptionError)) throw error;
		process.stderr.write(`${error.message}\nSee npm run failover -- --help.\n`);
		return EXIT.option;
	}
	if (options.help) {
		process.stdout.write(HELP);
		return 0;
	}
	if (process.platform !== "linux") {
		process.stderr.write("npm run failover needs Linux: it runs Debian's PostgreSQL, Patroni, etcd and HAProxy.\n");
		return EXIT.notPossible;
	}
	return await inFolder(options);
}

/** Runs in a temporary folder, and removes it afterwards. Keeps the logs of a run that went wrong. */
async function inFolder(options: Options): Promise<number> {
	const interrupted = new AbortController();
	for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => interrupted.abort());
	const limitMs = LIMIT_MS + options.kills * LIMIT_OF_A_ROUND_MS;
	const signal = AbortSignal.any([interrupted.signal, AbortSignal.timeout(limitMs)]);
	const folder = mkdtempSync(join(tmpdir(), "posthorn-failover-"));
	const logs = join(folder, "logs");
	let processes: Processes | null = null;
	let problems: readonly string[] = [];
	let code = 0;
	try {
		const programs = await findOrInstall((line) => lines.done(line));
		const user = await serverUser();
		// Processes of another user must reach their own folders.
		chmodSync(folder, 0o711);
		if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
		processes = new Processes(folder, logs, user, options.keep);
		const cluster = new Cluster({ folder, programs, processes, user, signal });
		problems = await Promise.race([run(options, cluster, folder, logs, signal), rejection(signal)]);
		if (problems.length > 0) code = EXIT.wrong;
	} catch (error) {
		if (interrupted.signal.aborted) code = EXIT.interrupted;
		else code = error instanceof NotPossible ? EXIT.notPossible : EXIT.wrong;
		if (code === EXIT.wrong)
			problems = [signal.aborted ? `not finished within ${seconds(limitMs)}` : (error as Error).message];
		if (code === EXIT.notPossible) process.stderr.write(`${(error as Error).message}\n`);
		if (code === EXIT.interrupted) lines.done("Stopped.");
	}
	for (const problem of problems) lines.done(`✘ ${problem}`);
	await processes?.end();
	if (options.keep) lines.done(`Kept: ${folder}`);
	else if (code === EXIT.wrong && processes !== null) {
		removeData(folder, logs);
		lines.done(`Logs: ${logs}`);
	} else rmSync(folder, { recursive: true, force: true });
	return code;
}

/** Resolves to what went wrong, in sentences. */
async function run(
	options: Options,
	cluster: Cluster,
	folder: string,
	logs: string,
	signal: AbortSignal,
): Promise<readonly string[]> {
	const begun = performance.now();
	const up = (what: string): void => lines.done(`${seconds(performance.now() - begun).padStart(7)}  ${what}`);
	lines.live("Starting etcd …");
	await cluster.startEtcd();
	up("etcd: 3 members");
	lines.live("Starting PostgreSQL …");
	await cluster.startServers();
	up("PostgreSQL: 3 servers under Patroni, synchronous");
	await cluster.startHaproxy();
	up("HAProxy: connects to the primary");
	lines.live("Starting Posthorn …");
	const node = { database: cluster.url(options.through), cwd: folder };
	await using site = await Site.open({ nodes: Array.from({ length: NODES }, () => node), projects: PROJECTS });
	for (const [i, one] of site.nodes.entries()) logTo(join(logs, `posthorn-${i + 1}.log`), one);
	const through = options.through === "haproxy" ? "through HAProxy" : "by the list of hosts";
	up(`Posthorn: ${NODES} nodes, ${through}; ${PROJECTS} projects, ${site.webhooks.length} webhooks`);

	const watch = new Watch();
	const traffic = new Traffic(site, {
		publishers: PROJECTS,
		paceMs: (PROJECTS * EVENTS_OF_A_CALL * 1_000) / options.rate,
		acknowledged: (call) => watch.note(call),
	});
	const rounds: Round[] = [];
	for (let n = 1; n <= options.kills; n++) {
		await delay(PEACE_MS, undefined, { signal });
		const fault = options.fail[(n - 1) % options.fail.length]!;
		const line = (round: Partial<Round>): string => roundLine(n, options.kills, round, traffic.total);
		const progress = (round: Partial<Round>): void => lines.live(line(round));
		const round = await runRound({ cluster, site, watch, fault, signal, progress });
		lines.done(line(round));
		rounds.push(round);
		// The cluster did not recover.
		if (round.rejoinedMs === null) break;
	}
	lines.live("Waiting for the last events …");
	await traffic.stop();
	const verdict = await judge(site, traffic, signal);
	lines.done(summary(rounds, verdict, traffic.refusals.length));
	const late = rounds.map((round, i) => faultOf(round, i + 1)).filter((problem) => problem !== null);
	return [...verdict.problems, ...late];
}

function logTo(path: string, { service }: SiteNode): void {
	const log = createWriteStream(path);
	log.write(service.output);
	service.process.stdout!.pipe(log);
	service.process.stderr!.pipe(log);
}

function rejection(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}
