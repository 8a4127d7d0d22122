/**
 * The composition root: the only file that knows which storage engine, clock and network are in use. It builds the
 * service from the inside out and shuts it down in reverse.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import {
	ApiKeys,
	createOperatorKey,
	OperatorKey,
	type People,
	setupLink,
	startAccounts,
	writePrivately,
} from "./accounts/index.ts";
import { SessionCookie } from "./api/auth/authorize.ts";
import { Changes, LongPolls, RemoteChanges } from "./api/changes.ts";
import { createMetrics, type Metrics } from "./api/metrics.ts";
import { createApi } from "./api/server.ts";
import { CONNECTIONS, PROJECTS, STOP } from "./base/budgets.ts";
import { systemClock } from "./base/clock.ts";
import { descriptorLimit, divideDescriptors } from "./base/descriptors.ts";
import { IdSource } from "./base/ids.ts";
import type { Logger } from "./base/logger.ts";
import { openSealCheck, SEAL_CHECK, Seal, sealCheck } from "./base/seal.ts";
import { type Config, localUrl, readDatabaseUrl } from "./config/index.ts";
import { logAttempts, logTakeovers, startEngine } from "./engine/index.ts";
import { startQuarantine } from "./engine/quarantine.ts";
import { startRetentionClock } from "./engine/retention-clock.ts";
import { createHttpSender } from "./engine/send/http-sender.ts";
import { createGuard } from "./net/egress.ts";
import { createResolver } from "./net/resolver.ts";
import { SHORTAGE_TEXT, Shortages } from "./net/shortages.ts";
import { Handshakes, threadCpuMs } from "./net/tls/handshakes.ts";
import { type AlertReceiver, openAlertReceiver } from "./registry/alert-receiver.ts";
import { Alerts } from "./registry/alerts.ts";
import { HealthCount, type HealthCountOptions } from "./registry/health-count.ts";
import { Projects } from "./registry/projects.ts";
import { startResealing } from "./registry/resealing.ts";
import { UrlCheck } from "./registry/url-check.ts";
import { Webhooks } from "./registry/webhooks.ts";
import { References } from "./search/references.ts";
import type { DatabaseObserver, QuarantineMark } from "./storage/port.ts";
import { openSqliteStorage } from "./storage/sqlite/index.ts";
import { startStore } from "./store/index.ts";

export interface ServiceOptions {
	readonly config: Config;
	/** At least one, of 32 bytes each: the first seals, and all open. */
	readonly sealKeys: readonly Uint8Array[];
	readonly logger: Logger;
	/**
	 * Whether the caller shows a new operator key and the setup link to a person instead of writing them to a log.
	 * Otherwise they are written to files, or with PostgreSQL not created.
	 */
	readonly showsSecrets: boolean;
	/** The service can't continue: end the process, so that a supervisor restarts it. Called at most once. */
	readonly onFatal: (error: Error) => void;
}

export interface Service {
	/** The address it listens on, such as `http://127.0.0.1:8420`. */
	readonly url: string;
	/** Where its data is: a file, or `PostgreSQL at host:port/database`. */
	readonly database: string;
	/** Set if the operator's key was just created: show the key, because only its hash is stored, or the file with it. */
	readonly newOperatorKey: { readonly key: string } | { readonly file: string } | null;
	readonly hasOperatorKey: boolean;
	/** The one-time link that creates the operator's account, the file with it, or how to get one; null if it exists. */
	readonly setup: { readonly url: string } | { readonly file: string } | "on request" | null;
	/** Set if the database was restored and isn't released yet, so that nothing is sent. */
	readonly quarantine: QuarantineMark | null;
	/**
	 * Stops accepting requests, finishes and settles those in progress, and releases everything. That can take forever while
	 * the database is away, so it resolves after an attempt's timeout plus {@link STOP.graceMs}; then the process must end.
	 */
	close(): Promise<Closed>;
}

export interface Closed {
	/** Whether everything was released in time. */
	readonly complete: boolean;
	/** Outcomes that weren't committed. The next owners of their projects send those requests again. */
	readonly unsettled: number;
}

/** @throws Error (or StorageError) with a message for users if something that it needs is missing or wrong */
export async function startService(options: ServiceOptions): Promise<Service> {
	const undo: (() => Promise<unknown>)[] = [];
	// A failed step doesn't stop the later ones.
	const takeDown = async (): Promise<boolean> => {
		let complete = true;
		for (const step of undo.splice(0).reverse())
			await step().catch((error: unknown) => {
				options.logger.error({ err: error }, "part of the service failed to stop cleanly");
				complete = false;
			});
		return complete;
	};
	try {
		return await build(options, undo, takeDown);
	} catch (error) {
		await takeDown();
		throw error;
	}
}

async function build(
	{ config, sealKeys, logger, showsSecrets, onFatal }: ServiceOptions,
	undo: (() => Promise<unknown>)[],
	takeDown: () => Promise<boolean>,
): Promise<Service> {
	const seal = new Seal(sealKeys);
	const clock = systemClock;
	const ids = new IdSource(clock);
	const metrics = createMetrics(config.attemptTimeoutMs);
	const { storage, place, databaseAheadMs, lacksConnections } = await openStorage(config, metrics, logger, onFatal);
	undo.push(() => storage.close());
	// Without the seal key that sealed the secrets nothing could be signed, so the service doesn't start.
	openSealCheck(seal, await storage.initSetting({ name: SEAL_CHECK, value: sealCheck(seal) }));
	const { logRetentionMs: retentionMs } = config;
	const sweep = () => void engine.sweep();
	const retention = await startRetentionClock({
		storage,
		clock,
		logger,
		retentionMs,
		databaseAheadMs,
		onConfirmed: sweep,
	});
	undo.push(() => retention.stop());
	metrics.watchClock(() => retention.hold !== null, databaseAheadMs);
	const quarantine = await startQuarantine({ storage, clock, logger, onReleased: sweep });
	undo.push(() => quarantine.stop());
	metrics.watchQuarantine(() => quarantine.mark !== null);
	// In quarantine nothing ages.
	const retentionNow = () => (quarantine.mark === null ? retention.now() : Number.NEGATIVE_INFINITY);

	const descriptors = divideDescriptors(descriptorLimit());
	const guard = createGuard({ ...config.egress, clock });
	const shortages = new Shortages(clock, (shortage) => logger.warn({ shortage }, SHORTAGE_TEXT[shortage]));
	const handshakes = new Handshakes({
		clock,
		random: Math.random,
		readCpuMs: threadCpuMs,
		onCostly: (handshake) =>
			logger.warn(handshake, "a TLS handshake with a receiver took too much CPU time or too many bytes"),
	});
	const sender = createHttpSender({
		clock,
		random: Math.random,
		shortages,
		handshakes,
		guard,
		brand: config.brand,
		timeoutMs: config.attemptTimeoutMs,
		extraCa: config.egressCa ?? undefined,
		idleConnections: descriptors.idle,
		onFault: (error) => logger.error({ err: error }, "an attempt failed because of an error in this service"),
	});
	undo.push(() => sender.close());

	const changes = new Changes(clock);
	const longPolls = new LongPolls(clock);
	const references = new References({ storage, clock, logger });
	const logAttempt = logAttempts(logger);
	const engine = startEngine({
		storage,
		sender,
		clock,
		disk: clock,
		ids,
		seal,
		logger,
		leaseTermMs: PROJECTS.leaseTermMs,
		retryDelaysMs: config.retryDelaysMs,
		attemptTimeoutMs: config.attemptTimeoutMs,
		retentionMs,
		retentionNow,
		maxEventBytes: config.maxEventBytes,
		shortages,
		sendsInFlight: descriptors.sends,
		observer: {
			published(projectId, events) {
				metrics.engine.published(projectId, events);
				longPolls.published(projectId, events);
				references.note(projectId);
				changes.note(projectId, "webhooks");
			},
			attempted(projectId, eventId, attempt, lagMs) {
				metrics.engine.attempted(projectId, eventId, attempt, lagMs);
				logAttempt(projectId, eventId, attempt);
				changes.note(projectId, "attempts");
			},
			lost: metrics.engine.lost,
			swept: metrics.engine.swept,
			passed: () => references.visitAll(),
		},
	});
	undo.push(() => engine.stop());
	if (sealKeys.length > 1) {
		const resealing = startResealing({
			...{ storage, seal, clock, logger },
			// From then on, a service with only the first key starts.
			async onSealed() {
				const from = await storage.getSetting({ name: SEAL_CHECK });
				if (from !== null && !openSealCheck(seal, from))
					await storage.replaceSetting({ name: SEAL_CHECK, from, to: sealCheck(seal) });
			},
		});
		undo.push(() => resealing.stop());
	}
	metrics.watchNode(() => engine.node);
	metrics.watchBudgets(engine.budgets);
	metrics.watchShortages(shortages);
	metrics.watchHandshakes(handshakes);
	engine.watchMarks(new RemoteChanges({ storage, longPolls, changes }));
	references.start();
	undo.push(() => references.stop());

	const limits = { maxEventBytes: config.maxEventBytes, basketIdleMs: config.basketIdleMs };
	const isTrusted = () => quarantine.mark === null && retention.isTrusted();
	const store = startStore({ storage, engine, clock, ids, logger, isTrusted, ...limits });
	undo.push(() => store.stop());

	const operatorKey = await OperatorKey.open({ storage, configured: config.operatorKey, clock, logger });
	const apiKeys = new ApiKeys({ storage, operatorKey, clock, ids, logger });
	undo.push(() => apiKeys.close());
	const onSetUp = () => forgetSetupLink(config, logger);
	const accounts = startAccounts({ storage, clock, disk: clock, ids, logger, retentionNow, onSetUp });
	undo.push(() => accounts.close());
	let publicUrl = config.publicUrl ?? "";
	const alerts =
		config.alerts &&
		new Alerts({
			...{ storage, clock, logger },
			receiver: alertReceiver(config, config.alerts, (error) =>
				logger.error({ err: error }, "an alert failed because of an error in this service"),
			),
			publicUrl: () => publicUrl,
			isHeld: () => quarantine.mark !== null,
			onSent: metrics.alerts(),
		});
	const onJudged: HealthCountOptions["onJudged"] = alerts?.report.bind(alerts);
	const webhooks = new Webhooks({ storage, engine, guard, seal, clock, ids, limits: config });
	const health = new HealthCount({ storage, secretState: webhooks.secretState, clock, logger, onJudged });
	// Nothing waits for it: if it fails, another node counts a few minutes later.
	undo.push(async () => void health.stop().catch(() => undefined));
	let isReady = false;
	const api = await createApi({
		...accounts,
		cookie: new SessionCookie(config.publicUrl),
		publicUrl: () => publicUrl,
		ready: () => isReady,
		config,
		storage,
		engine,
		store,
		projects: new Projects({ storage, engine, clock, ids }),
		webhooks,
		urlCheck: new UrlCheck({ guard, resolver: createResolver({ guard, clock }), clock, limits: config }),
		apiKeys,
		connectionLimits: { connections: Math.min(descriptors.api, CONNECTIONS.most) },
		dashboardFolder: dashboardFolder(),
		changes,
		longPolls,
		references,
		shortages,
		retention,
		health,
		quarantine,
		lacksConnections,
		metrics,
		clock,
		ids,
		logger,
	});
	undo.push(() => api.close());
	// Waiting calls get a response, or they would delay the shutdown.
	undo.push(async () => longPolls.close());
	await listen(api, config);

	const { port } = api.server.address() as AddressInfo;
	const url = localUrl({ host: config.host, port });
	publicUrl ||= url;
	const setup = await offerSetup(accounts.people, publicUrl, showsSecrets, config);
	// Last: if a later step failed, the key would be stored without anyone having seen it.
	const keyFile = showsSecrets ? null : config.operatorKeyFile;
	const creates = !operatorKey.exists && (showsSecrets || keyFile !== null);
	const created = creates ? await createOperatorKey(storage, keyFile ?? undefined) : null;
	if (created !== null) operatorKey.set(created);
	isReady = true;
	if (alerts !== null) {
		alerts.start(health);
		undo.push(() => alerts.stop());
	}
	const close = async (): Promise<Closed> => {
		isReady = false;
		const complete = await isWithin(config.attemptTimeoutMs + STOP.graceMs, takeDown());
		return { complete, unsettled: engine.unsettled };
	};
	return {
		url,
		database: place,
		newOperatorKey: created?.key ? (keyFile === null ? { key: created.key } : { file: keyFile }) : null,
		hasOperatorKey: operatorKey.exists,
		setup,
		quarantine: quarantine.mark,
		close,
	};
}

/** @param onFault receives an error in this service */
export function alertReceiver(
	{ brand, egressCa: extraCa }: Pick<Config, "brand" | "egressCa">,
	alerts: NonNullable<Config["alerts"]>,
	onFault: (error: unknown) => void,
): AlertReceiver {
	return openAlertReceiver({ ...alerts, brand, extraCa, clock: systemClock, random: Math.random, onFault });
}

/** A link that a log contains could be used by anyone who reads it first, so it is only shown to people. */
async function offerSetup(
	people: People,
	origin: string,
	isShown: boolean,
	{ setupLinkFile: file }: Config,
): Promise<Service["setup"]> {
	if (!isShown && file === null) return (await people.needsSetup()) ? "on request" : null;
	const token = await people.createSetupToken();
	// One from before may belong to another database, and doesn't work any longer.
	if (file !== null) await rm(file, { force: true });
	if (token === null) return null;
	const url = setupLink(origin, token);
	if (isShown || file === null) return { url };
	await writePrivately(file, url).catch((cause: NodeJS.ErrnoException) => {
		throw new Error(`The setup link cannot be written to ${file} (${cause.code}).`, { cause });
	});
	return { file };
}

/** It works once. If this fails, the next start deletes it. */
async function forgetSetupLink({ setupLinkFile: file }: Config, logger: Logger): Promise<void> {
	if (file === null) return;
	await rm(file, { force: true }).catch((error: unknown) =>
		logger.warn({ err: error, file }, "failed to delete the used setup link"),
	);
}

/** Whether it resolves to true in this time. The timer keeps the process alive: it may be all that is left. */
async function isWithin(ms: number, work: Promise<boolean>): Promise<boolean> {
	const late = Promise.withResolvers<false>();
	const timer = setTimeout(() => late.resolve(false), ms);
	try {
		return await Promise.race([work, late.promise]);
	} finally {
		clearTimeout(timer);
	}
}

/** The folder of the built dashboard; null if there is none. */
function dashboardFolder(): string | null {
	const page = fileURLToPath(import.meta.resolve("@posthorn/dashboard/dist"));
	return existsSync(page) ? dirname(page) : null;
}

async function openStorage(
	{ database, databaseUrlFile: file, maxEventBytes }: Config,
	metrics: Metrics,
	logger: Logger,
	onFatal: (error: Error) => void,
) {
	if (database.engine === "sqlite") {
		const { path } = database;
		const options = { path, clock: systemClock, onDeath: onFatal };
		const storage = await openSqliteStorage(options);
		return { storage, place: path, databaseAheadMs: () => 0, lacksConnections: () => false };
	}
	// Imported on demand, to save its memory on SQLite.
	const { openPostgresStorage } = await import("./storage/postgres/index.ts");
	const counted = metrics.database();
	const logTakenOver = logTakeovers(logger, systemClock);
	const observer: DatabaseObserver = {
		...counted,
		takenOver(projects) {
			counted.takenOver?.(projects);
			logTakenOver(projects);
		},
		lostTail(tail) {
			counted.lostTail?.(tail);
			const { projectId, kept, lost } = tail;
			logger.error(
				{ projectId, kept, lost },
				"acknowledged events are missing: the database continued from an earlier state, as after a failover",
			);
		},
	};
	const reread = file === null ? undefined : () => readDatabaseUrl(file);
	const options = { url: database.url, reread, clock: systemClock, maxEventBytes, observer };
	const storage = await openPostgresStorage(options);
	metrics.watchPools(() => storage.pools);
	const place = `PostgreSQL at ${storage.place}`;
	const lacksConnections = () => storage.lacksConnections;
	return { storage, place, databaseAheadMs: () => storage.clockAheadMs, lacksConnections };
}

async function listen(api: Awaited<ReturnType<typeof createApi>>, { host, port }: Config): Promise<void> {
	try {
		await api.listen({ host, port });
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		const why =
			code === "EADDRINUSE"
				? "another process is using that port; stop it, or choose another port with POSTHORN_PORT"
				: code === "EACCES"
					? "this user may not use that port; choose one above 1023 with POSTHORN_PORT"
					: `the address cannot be used (${code}); check POSTHORN_HOST`;
		throw new Error(`Cannot listen on ${host} port ${port}: ${why}.`, { cause });
	}
}
