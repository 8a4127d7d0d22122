import { timingSafeEqual } from "node:crypto";
import { encodeEnvelope, eventTypeEntry, type SigningKey } from "@posthorn/protocol";
import { SENDS } from "../base/budgets.ts";
import type { Logger } from "../base/logger.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import type { Seal } from "../base/seal.ts";
import { Shortages } from "../net/shortages.ts";
import { isStorageError, type NewAttempt } from "../storage/port.ts";
import type { ActorContext } from "./actor/context.ts";
import { Directory, type NodeState } from "./cluster/directory.ts";
import type { MarkWatcher } from "./cluster/mark-poller.ts";
import type { Engine, SignatureCheck } from "./engine.ts";
import { WindowBudget } from "./lanes/log-reader.ts";
import { Publisher } from "./publish/publisher.ts";
import { createSweeper } from "./retention.ts";
import { Slots } from "./send/slots.ts";
import { Settler, Unsettled } from "./settle/settler.ts";
import { SigningKeys } from "./signing-keys.ts";

export type { EngineObserver, ProjectLoss } from "./actor/context.ts";
export type { NodeState } from "./cluster/directory.ts";
export type { Marks, MarkWatcher } from "./cluster/mark-poller.ts";
export { logTakeovers } from "./cluster/takeovers.ts";
export type * from "./engine.ts";
export { REASONS } from "./send/outcome.ts";

export interface EngineOptions
	extends Pick<ActorContext, "storage" | "sender" | "clock" | "disk" | "ids" | "logger" | "leaseTermMs">,
		Pick<ActorContext, "retryDelaysMs" | "attemptTimeoutMs" | "retentionMs">,
		Partial<Pick<ActorContext, "shortages" | "retentionNow" | "observer">> {
	readonly seal: Seal;
	readonly maxEventBytes: number;
	/** Maximum number of sends in flight; {@link SENDS.inFlight} by default. */
	readonly sendsInFlight?: number | undefined;
	/** Maximum number of projects owned at a time; {@link PROJECTS.active} by default. Any more take turns. */
	readonly activeProjects?: number | undefined;
	/** Maximum size of the lanes' windows in memory, bytes; {@link WINDOWS.bytes} by default. */
	readonly windowBytes?: number;
}

export interface RunningEngine extends Engine {
	readonly node: NodeState;
	/** Budgets of sends in flight, lanes and pending commits, for metrics. */
	readonly budgets: Slots["budgets"];
	/** Number of uncommitted outcomes. Once it stops, includes those that this node will never commit. */
	readonly unsettled: number;
	/**
	 * Hands the marks of its projects to this watcher, so that it notices what other nodes change. Does nothing where one
	 * process has the database to itself.
	 */
	watchMarks(watcher: MarkWatcher): void;
	/** Runs one pass of the retention sweep now, unless another node is sweeping. */
	sweep(): Promise<void>;
	/**
	 * Starts nothing more, finishes and settles everything in flight, and releases every lease. Storage stays open. Waits
	 * while the database is unavailable or another session holds a row: the caller sets the limit.
	 */
	stop(): Promise<void>;
}

/** Assembles the parts, in the order in which data flows: publish → lanes → send → settle. */
export function startEngine(options: EngineOptions): RunningEngine {
	const { storage, clock, disk, ids, logger, maxEventBytes } = options;
	const settler = new Settler(storage, clock, disk, logger);
	const unsettled = new Unsettled();
	const sends = options.sendsInFlight ?? SENDS.inFlight;
	const requestedInFlight = Math.min(SENDS.requestedInFlight, Math.floor(sends / 8));
	const totalInFlight = sends - requestedInFlight;
	const slots = new Slots({ clock, totalInFlight, requestedInFlight, largestBody: maxEventBytes });
	const windows = new WindowBudget(options.windowBytes);
	const keys = new SigningKeys(options.seal, logger);
	const context: ActorContext = {
		shortages: new Shortages(clock),
		retentionNow: () => clock.now(),
		observer: {},
		...options,
		slots,
		settler,
		unsettled,
		budget: windows,
		holder: ids.next("node"),
		keys,
		readFailure: new RepeatedFailure(
			{ logger, clock },
			{ failed: "failed to read from storage", over: "actors read from storage again", isFailure: isStorageError },
		),
		onHandedOverSettled: (projectId) => directory.handedOverSettled(projectId),
	};
	const directory = new Directory(context, options.activeProjects);
	const publisher = new Publisher({ storage, clock, disk, ids, maxEventBytes, lanes: directory });
	const sweeper = createSweeper(context, (projectIds) => directory.sweep(projectIds));
	directory.start();
	sweeper.start();

	async function wakeAfter<T>(
		projectId: string,
		call: Promise<T>,
		hasStored: (result: T) => boolean,
		webhookId: string | null = null,
	): Promise<T> {
		let mayHaveStored = true;
		try {
			const result = await call;
			mayHaveStored = hasStored(result);
			return result;
		} finally {
			if (mayHaveStored) directory.queuesChanged(projectId, webhookId);
		}
	}

	return {
		get node() {
			return directory.state;
		},
		get unsettled() {
			return unsettled.count;
		},
		budgets: [...slots.budgets, windows, publisher.budget, settler.budget],
		queue: publisher.budget,
		publish: (projectId, drafts, options) => publisher.publish(projectId, drafts, options),
		change: (projectId, change, scopeOf) => directory.change(projectId, change, scopeOf),
		wakeAfter,
		appended: (projectId, events) => directory.appended(projectId, events),
		watchMarks: (watcher) => directory.marks?.watch(watcher),
		recheck: (projectId) => directory.recheck(projectId),
		sweep: () => sweeper.sweep(),

		async sendTest(projectId, webhookId, type, by) {
			const { sample } = eventTypeEntry(type);
			const id = ids.next("event");
			const createdAt = clock.now();
			const body = encodeEnvelope({ id, type, createdAt, projectId, data: JSON.stringify(sample) });
			const event = { id, type, createdAt, body };
			const call = storage.appendTestEvent({ projectId, webhookId, event, by });
			const stored = await wakeAfter(projectId, call, (stored) => stored === "queued", webhookId);
			return stored === "queued" ? { kind: stored, eventId: id } : { kind: stored };
		},

		async signatureChecks(projectId, webhookId) {
			const { lanes } = await storage.loadLanes({ projectId, webhookId });
			const lane = lanes.find(({ status }) => status !== "deleted");
			if (lane === undefined) return null;
			const key = keys.open(lane);
			if (key === null) return "no_secret";
			const standard = keys.openStandard(lane);
			return { own: checkWith(key), standard: standard && checkWith(standard) };
		},

		async stop() {
			unsettled.stop();
			await sweeper.stop();
			await publisher.drain();
			settler.stop();
			await directory.stop();
			await settler.drain();
		},
	};
}

const checkWith =
	(key: SigningKey): SignatureCheck =>
	(head, body, signature) => {
		const right = Buffer.from(key.sign(head, body), "hex");
		const given = Buffer.from(signature, "hex");
		return given.length === right.length && timingSafeEqual(given, right);
	};

/** One wide line for each attempt: dead letters as warnings, failures that are retried as info, successes as debug. */
export function logAttempts(logger: Logger): (projectId: string, eventId: string, attempt: NewAttempt) => void {
	return (projectId, eventId, attempt) => {
		const { webhookId, eventType, id: attemptId, status, statusCode, errorCode, responseMs, nextRetryAt } = attempt;
		const level = status === "failed" ? "warn" : status === "retrying" ? "info" : "debug";
		if (!logger.isLevelEnabled(level)) return;
		const series = { attempt: attempt.attempt, replay: attempt.replay };
		const next = nextRetryAt === null ? {} : { nextRetryAt: new Date(nextRetryAt).toISOString() };
		const line = { projectId, webhookId, eventId, eventType, attemptId, ...series, statusCode, errorCode, responseMs };
		logger[level]({ ...line, ...next }, MESSAGE[status]);
	};
}

const MESSAGE = { delivered: "delivered", retrying: "attempt failed", failed: "dead-lettered" } as const;
