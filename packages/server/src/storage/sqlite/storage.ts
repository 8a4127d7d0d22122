import type { Clock } from "../../base/clock.ts";
import type * as port from "../port.ts";
import { FactCalls } from "./calls-facts.ts";
import type { Channel } from "./connection/channel.ts";
import { addGauges, type GaugeSlice } from "./lanes/gauges.ts";
import { packSettlements } from "./lanes/settle-wire.ts";
import { packAppends, unpackEvents, unpackResults } from "./log/wire.ts";

/**
 * The port in front of two workers; a third one moves the log into the database. All reads go to the reader: it sees
 * everything that was answered, never waits for a commit, and no read takes long (pages are bounded, gauges come in
 * slices), so the engine's reads need no worker of their own.
 */
export class NativeStorage extends FactCalls implements port.NativeStorage {
	readonly capabilities: port.Capabilities = { manyNodes: false };
	readonly neighbours = null;
	/** The only one. */
	readonly epoch = "1.00000000";
	readonly #leaseTermMs: number;
	readonly #checkpointer: Channel;

	constructor(
		{ writer, reader, checkpointer }: { writer: Channel; reader: Channel; checkpointer: Channel },
		clock: Pick<Clock, "now">,
		leaseTermMs: number,
	) {
		super(writer, reader, clock);
		this.#checkpointer = checkpointer;
		this.#leaseTermMs = leaseTermMs;
	}

	#term() {
		const now = this.clock.now();
		return { now, until: now + this.#leaseTermMs };
	}

	async ping(): Promise<void> {
		await Promise.all([this.write("pingWriter"), this.read("pingReader")]);
	}

	async gauges(): Promise<port.Gauges> {
		let slice: GaugeSlice = await this.read("readGauges", 0);
		let sum = slice.gauges;
		while (slice.next !== null) {
			slice = await this.read("readGauges", slice.next);
			sum = addGauges(sum, slice.gauges);
		}
		return sum;
	}

	async close(): Promise<void> {
		await this.#checkpointer.close();
		await this.reader.close();
		// The writer last: the last connection moves the rest of the log into the database.
		await this.writer.close();
	}

	async appendEvents(requests: readonly port.AppendRequest[]): Promise<port.AppendResult[]> {
		return unpackResults(await this.write("appendEvents", packAppends(requests)));
	}

	async readLog(
		projectId: string,
		after: number,
		window: port.LogWindow,
		types?: readonly string[],
	): Promise<port.LogEvent[]> {
		return unpackEvents(await this.read("readLog", projectId, after, window, types));
	}

	readLogEnd(projectId: string): Promise<port.LogEnd | null> {
		return this.read("readLogEnd", projectId);
	}

	async readEvents(projectId: string, seqs: readonly number[]): Promise<port.LogEvent[]> {
		return unpackEvents(await this.read("readEvents", projectId, seqs));
	}

	async findEvent(projectId: string, eventId: string): Promise<port.LogEvent | null> {
		return unpackEvents(await this.read("findEvent", projectId, eventId))[0] ?? null;
	}

	createProject(project: port.Project): Promise<void> {
		return this.write("createProject", project);
	}

	getProject(projectId: string): Promise<port.Project | null> {
		return this.read("getProject", projectId);
	}

	listProjects(page: port.Page): Promise<port.Project[]> {
		return this.read("listProjects", page);
	}

	renameProject(projectId: string, name: string): Promise<port.Project | null> {
		return this.write("renameProject", projectId, name);
	}

	setDeveloperApp(projectId: string, installed: boolean): Promise<port.Project | null> {
		return this.write("setDeveloperApp", projectId, installed);
	}

	createWebhook(webhook: port.NewWebhook, maxPerProject: number): Promise<"created" | "limit" | "no_project"> {
		return this.write(
			"createWebhook",
			{ ...webhook, sealedDigest: Uint8Array.from(webhook.sealedDigest) },
			maxPerProject,
		);
	}

	getWebhook(projectId: string, webhookId: string): Promise<port.Webhook | null> {
		return this.read("getWebhook", projectId, webhookId);
	}

	listWebhooks(projectId: string, page: port.Page): Promise<port.Webhook[]> {
		return this.read("listWebhooks", projectId, page);
	}

	updateWebhook(projectId: string, webhookId: string, patch: port.WebhookPatch): Promise<port.Webhook | null> {
		return this.write("updateWebhook", projectId, webhookId, patch);
	}

	rotateSecret(projectId: string, webhookId: string, sealedDigest: Uint8Array): Promise<boolean> {
		return this.write("rotateSecret", projectId, webhookId, Uint8Array.from(sealedDigest));
	}

	deleteWebhook(projectId: string, webhookId: string): Promise<boolean> {
		return this.write("deleteWebhook", projectId, webhookId, this.clock.now());
	}

	readBacklogs(projectId: string, webhookIds: readonly string[]): Promise<Map<string, port.Backlog>> {
		return this.read("readBacklogs", projectId, webhookIds);
	}

	acquireLeases(holder: string, limit: number, projectIds?: readonly string[]): Promise<port.Lease[]> {
		return this.write("acquireLeases", holder, limit, this.#term(), projectIds);
	}

	/** Nobody else holds rows: one process has the file. */
	async renewLeases(holder: string, leases: readonly port.Lease[]): Promise<port.Renewal> {
		return { renewed: await this.write("renewLeases", holder, leases, this.#term()), locked: [] };
	}

	releaseLease(
		lease: port.Lease,
		wakeAt: number | null,
		seen: port.AlarmMark,
		inFlight: readonly port.HandedOver[] = [],
	): Promise<void> {
		return this.write("releaseLease", lease, wakeAt, seen, inFlight);
	}

	nextAlarm(): Promise<number | null> {
		return this.read("nextAlarm", this.clock.now());
	}

	loadLanes(projectId: string, webhookId?: string): Promise<port.LoadedLanes> {
		return this.read("loadLanes", projectId, webhookId);
	}

	endDeletion(projectId: string, webhookId: string): Promise<void> {
		return this.write("endDeletion", projectId, webhookId);
	}

	readRetries(
		projectId: string,
		webhookId: string,
		queue: port.RetryQueue,
		limit: number,
		after?: port.RetryPlace,
	): Promise<port.Retry[]> {
		return this.read("readRetries", projectId, webhookId, queue, limit, after);
	}

	settle(settlements: readonly port.Settlement[]): Promise<port.Verdict[]> {
		return this.write("settle", packSettlements(settlements));
	}

	settleHandedOver(handedOver: port.HandedOver, settlement: port.Settlement): Promise<"settled" | "stale"> {
		return this.write("settleHandedOver", handedOver, packSettlements([settlement]));
	}

	forgetHandedOver(projectId: string): Promise<void> {
		return this.write("forgetHandedOver", projectId, this.clock.now());
	}

	appendTestEvent(
		projectId: string,
		webhookId: string,
		event: { id: string; type: string; createdAt: number; body: Uint8Array },
	): Promise<port.TestEventResult> {
		const copy = { ...event, body: Uint8Array.from(event.body) };
		return this.write("appendTestEvent", projectId, webhookId, copy, this.clock.now());
	}

	replayDelivery(projectId: string, webhookId: string, eventId: string, at: number): Promise<port.ReplayResult> {
		return this.write("replayDelivery", projectId, webhookId, eventId, at);
	}

	replayFailed(
		projectId: string,
		webhookId: string,
		filter: port.ReplayFilter,
		at: number,
		limit: number,
		after?: string,
	): Promise<{ count: number; next: string | null }> {
		return this.write("replayFailed", projectId, webhookId, filter, at, limit, after);
	}

	listAttempts(
		projectId: string,
		filter: port.AttemptFilter,
		page: port.AttemptPage,
	): Promise<port.AttemptRows<port.Attempt>> {
		return this.read("listAttempts", projectId, filter, page);
	}

	getAttempt(projectId: string, attemptId: string): Promise<port.Attempt | null> {
		return this.read("getAttempt", projectId, attemptId);
	}

	getDelivery(projectId: string, webhookId: string, eventId: string): Promise<port.Delivery | null> {
		return this.read("getDelivery", projectId, webhookId, eventId);
	}

	sweepAttempts(cutoff: number, limit: number, from: number): Promise<port.SweepStep> {
		return this.write("sweepAttempts", cutoff, limit, from, this.clock.now());
	}

	sweepEvents(cutoff: number, limit: number, from: number): Promise<port.SweepStep> {
		return this.write("sweepEvents", cutoff, limit, from);
	}
}
