/** The demonstration: the real service with a made-up store and two real receivers. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import picocolors from "picocolors";
import { ApiError, connectApi } from "./api.ts";
import { openDashboard } from "./dashboard.ts";
import { type Feed, openFeed } from "./feed.ts";
import { access, header } from "./header.ts";
import { HELP, OptionError, type Options, readOptions } from "./options.ts";
import { startReceivers } from "./receivers.ts";
import { sell } from "./sale.ts";
import { choosePort, PREFERRED_PORT, type Service, startService, waitUntilReady } from "./service.ts";
import { openTally } from "./totals.ts";

/** Seconds. There is one attempt more than there are delays. */
const RETRY_DELAYS = [2, 4, 8, 15, 30, 60, 120];
const ATTEMPT_TIMEOUT = 3;
/** Seconds until a basket counts as abandoned. */
const BASKET_IDLE = 5;

/** How long after a failed call to wait for the service to exit. */
const DEATH_NEWS_MS = 1_000;

const stopping = new AbortController();

async function demonstrate(options: Options, feed: Feed, colours: boolean): Promise<void> {
	const closers: (() => Promise<void>)[] = [];
	try {
		const folder = await mkdtemp(join(tmpdir(), "posthorn-demo-"));
		closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

		const receivers = await startReceivers(folder, options.seed, ATTEMPT_TIMEOUT);
		closers.push(() => receivers.close());

		const port = options.port ?? (await choosePort());
		if (options.port === null && port !== PREFERRED_PORT)
			feed.say(`Port ${PREFERRED_PORT} is in use; using ${port} instead.\n`);
		const operatorKey = `demo-operator-${randomBytes(16).toString("hex")}`;
		const { caFile } = receivers;
		const service = startService({
			port,
			folder,
			operatorKey,
			caFile,
			retryDelays: RETRY_DELAYS,
			attemptTimeout: ATTEMPT_TIMEOUT,
			basketIdle: BASKET_IDLE,
		});
		const killIfLeft = (): void => service.kill();
		process.once("exit", killIfLeft);
		closers.push(async () => {
			await service.stop();
			process.off("exit", killIfLeft);
		});

		const baseUrl = `http://127.0.0.1:${port}`;
		await whileAlive(service, async (over) => {
			const api = connectApi(baseUrl, operatorKey);
			await waitUntilReady(service, api.isReady, AbortSignal.any([over, stopping.signal]));
			const project = await api.createProject("Demo store");
			const webhooks = await receivers.register(api, project.id);
			const dashboard = await openDashboard(service, api, project.id);
			const { bold, dim } = picocolors.createColors(colours);
			const context = { baseUrl, key: operatorKey, project, webhooks, seed: options.seed };
			const example = webhooks.at(-1)?.webhook;
			if (example === undefined) throw new Error("No webhook was registered.");
			const shortened = { retryDelays: RETRY_DELAYS, attemptTimeout: ATTEMPT_TIMEOUT, basketIdle: BASKET_IDLE };
			feed.say(header({ ...context, ...shortened, example }, bold, dim));
			feed.keepInView(access(dashboard, bold, dim));

			const tally = openTally(webhooks.map(({ webhook }) => webhook));
			receivers.onReceipt((receipt) => tally.received(receipt));
			await sell({
				options,
				feed,
				tally,
				receivers,
				api,
				project,
				attemptTimeout: ATTEMPT_TIMEOUT,
				maxAttempts: RETRY_DELAYS.length + 1,
				stopping: stopping.signal,
				over,
			});
			over.throwIfAborted();
			feed.summary(tally.totals());
		});
	} finally {
		for (const close of closers.toReversed()) await close();
	}
}

/** Runs `work` with a signal that aborts when the service dies; then rejects with the service's last output. */
async function whileAlive(service: Service, work: (over: AbortSignal) => Promise<void>): Promise<void> {
	const over = new AbortController();
	const died = service.ended.then(() => {
		over.abort();
		throw new Error(`The service ended unexpectedly. ${service.lastWords()}`);
	});
	try {
		await Promise.race([died, work(over.signal)]);
	} catch (error) {
		// If the service dies, its calls fail before its exit is reported.
		if (error instanceof ApiError) await Promise.race([died, delay(DEATH_NEWS_MS)]);
		throw error;
	}
}

async function main(): Promise<number> {
	const options = readOptions(process.argv.slice(2));
	if (options.help) {
		process.stdout.write(`${HELP}\n`);
		return 0;
	}
	const colours = process.stdout.isTTY === true && !process.env.NO_COLOR;
	const feed = openFeed(process.stdout, colours);
	const stop = (): void => {
		if (!stopping.signal.aborted)
			feed.say("\nStopping: the store closes, and the service finishes attempts in flight.");
		stopping.abort();
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
	// The reader has closed the pipe.
	process.stdout.on("error", () => stopping.abort());
	try {
		await demonstrate(options, feed, colours);
		return 0;
	} catch (error) {
		feed.close();
		if (stopping.signal.aborted && error === stopping.signal.reason) return 0;
		throw error;
	}
}

try {
	process.exitCode = await main();
} catch (error) {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = error instanceof OptionError ? 2 : 1;
}
