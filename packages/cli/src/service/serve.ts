import { flushCompileCache } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import { startService } from "@posthorn/server";
import { type Config, readOrMakeSealKeys } from "@posthorn/server/config";
import { examineDashboard, examineNeeds } from "@posthorn/server/doctor";
import { VERSION } from "@posthorn/server/version";
import type { Logger } from "pino";
import { StartRefused } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { createLogger } from "../logger.ts";
import { listenForStop } from "../stop-signals.ts";
import { banner } from "./banner.ts";
import { findingErrorLine } from "./finding-line.ts";
import { giveMemoryBackWhenQuiet } from "./memory.ts";
import { reportWarnings } from "./warnings.ts";

const UNEXPECTED = "an unexpected error, so the service exits. Uncommitted attempts are repeated after the next start";

/** How long a start may take to end after a signal to stop, milliseconds. */
const START_GRACE_MS = 10_000;

/** Settings by their flags' names. */
export interface ServeOptions extends Readonly<Record<string, unknown>> {
	/** Print JSON even at a terminal. */
	readonly json?: boolean;
}

/**
 * `posthorn serve`: runs until SIGTERM or SIGINT, then finishes attempts in flight and exits with code 0. Exits with 1 if
 * that takes longer than an attempt's timeout and a grace period, if outcomes can't be committed, or if it was still
 * starting at the end of that period.
 */
export async function serve({ json = false, ...options }: ServeOptions): Promise<void> {
	const config = configOf(options);
	const logger = await createLogger(config.logLevel, json);
	reportWarnings(({ name, code, detail, message }) => logger.warn({ name, code, detail }, message));
	const fail = (error: unknown, message: string): never => {
		logger.fatal({ err: error }, message);
		console.error(message);
		process.exit(1);
	};
	// After an unexpected error no state can be trusted.
	process.on("uncaughtException", (error) => {
		fail(error, `${error instanceof Error ? error.message : String(error)}: ${UNEXPECTED}.`);
	});
	const stop = listenForStop();
	void stop.second.then(() => {
		logger.warn({}, "stopped immediately: uncommitted attempts are repeated after the next start");
		process.exit(1);
	});

	const starting = start(config, logger, (error) => fail(error, error.message));
	// It may wait for the database, such as for another node's migration.
	const started = await Promise.race([starting, stop.first.then(() => wait(START_GRACE_MS, null, { ref: false }))]);
	if (started === null) {
		const message = "Stopped before the service had started.";
		return fail(new Error(message), message);
	}
	const { service, seal } = started;
	logger.info(
		{
			version: VERSION,
			node: process.version,
			url: service.url,
			database: service.database,
			quarantine: service.quarantine !== null,
		},
		"started",
	);
	// Otherwise only a process that ends in order saves it, and one that is killed starts slowly every time.
	flushCompileCache();
	banner({ config, service, sealKeyMade: seal.made, json });
	const finding = examineDashboard(config);
	if (finding.state === "warning") console.error(json ? JSON.stringify(finding) : `${findingErrorLine(finding)}\n`);
	giveMemoryBackWhenQuiet();

	const signal = await stop.first;
	logger.info({ signal }, "stopping: finishing attempts in flight; signal again to stop immediately");
	const { complete, unsettled } = await service.close();
	const left = leftUndone(complete, unsettled);
	if (left !== null) fail(new Error(left), left);
	logger.info({}, "stopped");
	process.exit(0);
}

/** Rejects if something that the service needs is missing or wrong. */
async function start(config: Config, logger: Logger, onFatal: (error: Error) => void) {
	// Before the seal key is created, so that a refused start leaves nothing behind.
	const faults = (await examineNeeds(config)).filter(({ state }) => state === "fault");
	const isConfiguration = faults.some(({ isSetting }) => isSetting);
	if (faults.length > 0) throw new StartRefused(faults.map(findingErrorLine), isConfiguration);
	const seal = sealKeysOf(config);
	const showsSecrets = process.stderr.isTTY === true;
	return { seal, service: await startService({ config, sealKeys: seal.keys, logger, showsSecrets, onFatal }) };
}

/** What the operator should know about an incomplete stop; null if everything is done. */
function leftUndone(complete: boolean, unsettled: number): string | null {
	if (unsettled > 0) {
		const outcomes = unsettled === 1 ? "1 outcome was" : `${unsettled} outcomes were`;
		return `Stopped, but ${outcomes} not committed: the next node sends their requests again (at least once).`;
	}
	return complete
		? null
		: "Stopped before everything was released. All outcomes are committed; the leases will expire.";
}

function sealKeysOf(config: Config): { readonly keys: readonly Uint8Array[]; readonly made: boolean } {
	if (config.sealKeys) return { keys: config.sealKeys, made: false };
	if (config.database.engine !== "sqlite") throw new Error("With PostgreSQL, the seal key is required.");
	return readOrMakeSealKeys(config.sealKeyFile!, config.database.path);
}
