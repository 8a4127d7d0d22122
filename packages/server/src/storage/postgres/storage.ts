import type { ClientConfig } from "pg";
import { PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { DatabaseObserver, PoolState } from "../port/observer.ts";
import type * as port from "../port.ts";
import type { PoolName } from "./connection/connections.ts";
import type { Database } from "./connection/database.ts";
import { isLocked } from "./connection/errors.ts";
import type { Session } from "./connection/session.ts";
import { ping } from "./connection/settings.ts";
import { FactCalls } from "./fact-calls.ts";
import { StatsRollUp } from "./history/stats-roll-up.ts";
import { readBacklogs } from "./lanes/backlog.ts";
import { readGauges } from "./lanes/gauges.ts";
import { endDeletion, loadLanes, readRetries } from "./lanes/lanes.ts";
import { holdingOne, type WaitingRoom } from "./lanes/lock.ts";
import { RightOfWay } from "./lanes/right-of-way.ts";
import { settle } from "./lanes/settle.ts";
import { measureOffset } from "./leases/clock-offset.ts";
import { forgetHandedOver, settleHandedOver } from "./leases/handover.ts";
import {
	type Acquired,
	acquireNamed,
	acquireRung,
	FIRST_TURN,
	type LeaseTime,
	nextAlarm,
	releaseLease,
	renewLeases,
} from "./leases/leases.ts";
import { acknowledge, isInForce, readMarks } from "./leases/neighbours.ts";
import { leave, share } from "./leases/share.ts";
import { Wakes } from "./leases/wake.ts";
import { appendEvents } from "./log/append.ts";
import { epochName, findEvent, readEvents, readLog, readLogEnd } from "./log/log.ts";
import { createProject, setDeveloperApp } from "./registry/projects.ts";
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook } from "./registry/webhooks.ts";
import { appendTestEvent, replayDelivery, replayFailed } from "./replay/replay.ts";
import { AttemptSweep } from "./retention/attempts.ts";
import { sweepEvents } from "./retention/events.ts";

export interface PostgresStorageOptions {
	/** How to connect now. */
	readonly connection: () => ClientConfig;
	readonly clock: Pick<Clock, "now">;
	/** How long a lease holds unless it is renewed, in milliseconds. */
	readonly leaseTermMs: number;
	/** Whether leases go by `clock` instead of the database's own: for tests that move time. */
	readonly leasesByClock: boolean;
	readonly observer: DatabaseObserver;
}

/** The verbs that are PostgreSQL's own, in front of the database. */
export class NativeStorage extends FactCalls implements port.NativeStorage {
	readonly capabilities: port.Capabilities = { manyNodes: true };
	readonly neighbours: port.NeighbourStorage;
	readonly #options: PostgresStorageOptions;
	readonly #attemptSweep = new AttemptSweep();
	readonly #rollUp: StatsRollUp;
	readonly #rightOfWay = new RightOfWay();
	readonly #wakes: Wakes;
	#rungTurn = FIRST_TURN;
	readonly #releases: WaitingRoom = { left: PROJECTS.releasesWaiting };

	constructor(database: Database, options: PostgresStorageOptions) {
		super(database, options.clock);
		this.#options = options;
		this.#rollUp = new StatsRollUp(database);
		this.#wakes = new Wakes(database, options.connection);
		this.neighbours = {
			readMarks: (projectIds) => this.read((c) => readMarks(c, projectIds), "engine"),
			acknowledge: (acknowledgements) => this.write((c) => acknowledge(c, acknowledgements), "engine"),
			isInForce: (projectId, revision) => this.read((c) => isInForce(c, this.#time(), projectId, revision), "engine"),
			share: (holder) => this.write((c) => share(c, this.#time(), holder, options.leaseTermMs), "engine"),
			leave: (holder) => this.write((c) => leave(c, holder), "engine"),
			onEpoch: (listener, keeper) => database.onEpoch(listener, keeper),
			subscribe: (listener) => this.#wakes.subscribe(listener),
		};
	}

	/** How its connections are used just now. */
	get pools(): Readonly<Record<PoolName, PoolState>> {
		return this.database.state;
	}

	get epoch(): string {
		return epochName(this.database.epoch);
	}

	readLogEnd(projectId: string, since?: string): Promise<port.LogEnd | null> {
		return this.read((c) => readLogEnd(c, projectId, since));
	}

	#time(): LeaseTime {
		const node = this.clock.now();
		return { node, database: this.#options.leasesByClock ? node : null };
	}

	async ping(): Promise<void> {
		this.database.mustHaveRoom();
		await this.write(ping);
	}

	gauges(): Promise<port.Gauges> {
		return this.read(readGauges);
	}

	async close(): Promise<void> {
		await this.#wakes.close();
		await this.database.close();
	}

	appendEvents(requests: readonly port.AppendRequest[], options?: port.LockOptions): Promise<port.AppendResult[]> {
		return this.database.run((connections) => appendEvents(connections, requests, options));
	}

	readLog(
		projectId: string,
		after: number,
		window: port.LogWindow,
		types?: readonly string[],
	): Promise<port.LogEvent[]> {
		return this.read((c) => readLog(c, projectId, after, window, types), "engine");
	}

	readEvents(projectId: string, seqs: readonly number[]): Promise<port.LogEvent[]> {
		return this.read((c) => readEvents(c, projectId, seqs), "engine");
	}

	findEvent(projectId: string, eventId: string): Promise<port.LogEvent | null> {
		return this.read((c) => findEvent(c, projectId, eventId));
	}

	createProject(project: port.Project): Promise<void> {
		return this.write((c) => createProject(c, project));
	}

	setDeveloperApp(projectId: string, installed: boolean): Promise<port.Project | null> {
		return this.writeTo(projectId, (c) => setDeveloperApp(c, projectId, installed));
	}

	createWebhook(webhook: port.NewWebhook, maxPerProject: number): Promise<"created" | "limit" | "no_project"> {
		return this.writeWithTypes(webhook.projectId, webhook.events, (c) => createWebhook(c, webhook, maxPerProject));
	}

	updateWebhook(projectId: string, webhookId: string, patch: port.WebhookPatch): Promise<port.Webhook | null> {
		return this.writeWithTypes(projectId, patch.events ?? [], (c) => updateWebhook(c, projectId, webhookId, patch));
	}

	rotateSecret(projectId: string, webhookId: string, sealedDigest: Uint8Array): Promise<boolean> {
		return this.writeTo(projectId, (c) => rotateSecret(c, projectId, webhookId, sealedDigest));
	}

	deleteWebhook(projectId: string, webhookId: string): Promise<boolean> {
		return this.writeTo(projectId, (c) => deleteWebhook(c, projectId, webhookId, this.clock.now()));
	}

	readBacklogs(projectId: string, webhookIds: readonly string[]): Promise<Map<string, port.Backlog>> {
		return this.read((c) => readBacklogs(c, projectId, webhookIds));
	}

	async acquireLeases(
		holder: string,
		limit: number,
		projectIds?: readonly string[],
		heldBefore = false,
		onLocked: (projectIds: readonly string[]) => void = () => undefined,
	): Promise<port.Lease[]> {
		const time = this.#time();
		const { leaseTermMs, observer } = this.#options;
		const acquire = async (c: Session): Promise<Acquired> => {
			if (projectIds) return acquireNamed(c, time, leaseTermMs, holder, limit, projectIds, heldBefore);
			const rung = await acquireRung(c, time, leaseTermMs, holder, limit, this.#rungTurn);
			this.#rungTurn = rung.next;
			return rung;
		};
		const taken = await this.write(acquire, "engine");
		if (taken.over > 0) observer.takenOver?.(taken.over);
		if (taken.locked.length > 0) onLocked(taken.locked);
		return taken.leases;
	}

	async renewLeases(
		holder: string,
		leases: readonly port.Lease[],
		{ waits = false }: port.LockOptions = {},
	): Promise<port.Renewal> {
		const time = this.#time();
		const { leaseTermMs } = this.#options;
		try {
			const renew = () =>
				this.database.run((connections) =>
					connections.holding("engine", waits, (c) => renewLeases(c, time, leaseTermMs, holder, leases, waits)),
				);
			return await (waits ? renew() : this.#rightOfWay.renew(renew));
		} catch (error) {
			if (waits && isLocked(error)) return { renewed: [], locked: leases };
			throw error;
		}
	}

	async releaseLease(
		lease: port.Lease,
		wakeAt: number | null,
		seen: port.AlarmMark,
		inFlight: readonly port.HandedOver[] = [],
	): Promise<void> {
		const time = this.#time();
		const release = (c: Session, waits: boolean) => releaseLease(c, time, lease, wakeAt, seen, inFlight, waits);
		await this.database.run((connections) => holdingOne(connections, "engine", release, this.#releases));
	}

	nextAlarm(): Promise<number | null> {
		return this.read(async (c) => {
			// This is asked again and again: the clocks are compared on the way.
			const compared = this.#options.leasesByClock ? null : measureOffset(c, this.clock);
			const [at] = await Promise.all([nextAlarm(c, this.#time()), compared]);
			return at;
		}, "engine");
	}

	loadLanes(projectId: string, webhookId?: string): Promise<port.LoadedLanes> {
		const time = this.#time();
		return this.readTogether((c) => loadLanes(c, time, projectId, webhookId), "engine");
	}

	endDeletion(projectId: string, webhookId: string): Promise<void> {
		return this.writeTo(projectId, (c) => endDeletion(c, projectId, webhookId));
	}

	readRetries(
		projectId: string,
		webhookId: string,
		queue: port.RetryQueue,
		limit: number,
		after?: port.RetryPlace,
	): Promise<port.Retry[]> {
		return this.read((c) => readRetries(c, projectId, webhookId, queue, limit, after), "engine");
	}

	async settle(settlements: readonly port.Settlement[], options: port.LockOptions = {}): Promise<port.Verdict[]> {
		const run = () => this.database.run((connections) => settle(connections, settlements, options));
		const verdicts = await (options.waits ? run() : this.#rightOfWay.settle(run));
		const settled = settlements.filter((_, i) => verdicts[i] === "settled");
		this.#rollUp.settled(settled.reduce((sum, { attempts }) => sum + attempts.length, 0));
		return verdicts;
	}

	async settleHandedOver(handedOver: port.HandedOver, settlement: port.Settlement): Promise<"settled" | "stale"> {
		const verdict = await this.database.run((connections) => settleHandedOver(connections, handedOver, settlement));
		this.#rollUp.settled(settlement.attempts.length);
		return verdict;
	}

	forgetHandedOver(projectId: string): Promise<void> {
		const time = this.#time();
		return this.write((c) => forgetHandedOver(c, time, projectId), "engine");
	}

	appendTestEvent(
		projectId: string,
		webhookId: string,
		event: { id: string; type: string; createdAt: number; body: Uint8Array },
	): Promise<port.TestEventResult> {
		return this.writeWithTypes(projectId, [event.type], (c) =>
			appendTestEvent(c, projectId, webhookId, event, this.clock.now()),
		);
	}

	replayDelivery(projectId: string, webhookId: string, eventId: string, at: number): Promise<port.ReplayResult> {
		return this.writeTo(projectId, (c) => replayDelivery(c, projectId, webhookId, eventId, at));
	}

	replayFailed(
		projectId: string,
		webhookId: string,
		filter: port.ReplayFilter,
		at: number,
		limit: number,
		after?: string,
	): Promise<{ count: number; next: string | null }> {
		return this.writeTo(projectId, (c) => replayFailed(c, projectId, webhookId, filter, at, limit, after));
	}

	sweepAttempts(cutoff: number, limit: number, from: number): Promise<port.SweepStep> {
		const now = this.clock.now();
		return this.database.run((connections) => this.#attemptSweep.step(connections, cutoff, limit, from, now));
	}

	sweepEvents(cutoff: number, limit: number, from: number): Promise<port.SweepStep> {
		return this.write((c) => sweepEvents(c, cutoff, limit, from));
	}
}
