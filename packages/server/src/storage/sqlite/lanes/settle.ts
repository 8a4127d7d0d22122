import type { LaneProgress } from "../../port.ts";
import { STATUS_CODE } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { isUniqueViolation } from "../connection/errors.ts";
import { type AttemptRow, STORED_COLUMNS, type UnpackedSettlement } from "../connection/wire.ts";
import { countGathered } from "../history/stats.ts";
import { addToCounters, decodeOpen, dropRetry, encodeOpen, findLane, putRetry } from "./lanes.ts";

type Verdict = "settled" | "stale";

/** Settles each project separately: a stale settlement doesn't affect the others. */
export function settle(c: Connection, settlements: readonly UnpackedSettlement[]): Verdict[] {
	const verdicts = settlements.map((settlement) => settleProject(c, settlement));
	countGathered(c);
	return verdicts;
}

function settleProject(c: Connection, settlement: UnpackedSettlement): Verdict {
	const { projectId, generation, lanes } = settlement;
	const project = c.row<{ no: number; last_seq: number }>(HELD_PROJECT, projectId, generation);
	if (project === undefined || lanes.some(({ position }) => position > project.last_seq)) return "stale";
	return settleAttempts(c, project.no, settlement);
}

const HELD_PROJECT =
	"SELECT no, last_seq FROM projects WHERE id = ? AND lease_generation = ? AND lease_until IS NOT NULL";

/** The caller has checked that it may settle. Does nothing if one of the attempts is already logged. */
export function settleAttempts(c: Connection, projectNo: number, given: UnpackedSettlement): Verdict {
	const settlement = withoutSwept(c, projectNo, given);
	if (!insertAttempts(c, projectNo, settlement.attempts)) {
		process.emitWarning(`An attempt of project ${settlement.projectId} was settled twice; its settlement was refused.`);
		return "stale";
	}
	moveDeliveries(c, projectNo, settlement);
	return "settled";
}

/**
 * Leaves out attempts and retries whose event is gone: a row without its event can't be read. Once a webhook is deleted,
 * no lane keeps the events of its attempts in flight, so retention may have deleted them.
 */
function withoutSwept(c: Connection, projectNo: number, settlement: UnpackedSettlement): UnpackedSettlement {
	const { attempts, schedule } = settlement;
	const webhookIds = new Set([...attempts, ...schedule].map(({ webhookId }) => webhookId));
	const deleted = new Set<string>();
	for (const id of webhookIds) if (findLane(c, webhookOf(c, projectNo, id)) === undefined) deleted.add(id);
	if (deleted.size === 0) return settlement;
	const isKept = (webhookId: string, seq: number): boolean =>
		!deleted.has(webhookId) || c.row(KEPT, projectNo, seq, webhookOf(c, projectNo, webhookId)) !== undefined;
	return {
		...settlement,
		attempts: attempts.filter(({ webhookId, stored: [seq] }) => isKept(webhookId, seq)),
		schedule: schedule.filter(({ webhookId, seq }) => isKept(webhookId, seq)),
	};
}

const KEPT = "SELECT 1 FROM events e CROSS JOIN webhooks w WHERE e.project_no = ? AND e.seq = ? AND w.no = ?";

/** Does nothing and returns false if an attempt is already logged: its sender relied on outdated state. */
function insertAttempts(c: Connection, projectNo: number, attempts: readonly AttemptRow[]): boolean {
	let inserted = 0;
	try {
		for (const { webhookId, type, stored, responseBody } of attempts) {
			const webhookNo = webhookOf(c, projectNo, webhookId);
			c.run(INSERT_ATTEMPT, projectNo, webhookNo, c.names.internType(type), responseBody, ...stored);
			inserted++;
		}
		return true;
	} catch (error) {
		if (!isUniqueViolation(error)) throw error;
		// New rows get the next numbers, so the last ones are those inserted here.
		c.run("DELETE FROM attempts WHERE no > (SELECT max(no) FROM attempts) - ?", inserted);
		return false;
	}
}

function webhookOf(c: Connection, projectNo: number, webhookId: string): number {
	const no = c.names.webhook(projectNo, webhookId);
	if (no === null)
		throw new Error(`Webhook ${webhookId} doesn't belong to the project whose deliveries are being settled.`);
	return no;
}

/** How a settlement changes the counters of one webhook. */
interface Gain {
	retries: number;
	deadLetters: number;
}

/** Updates queues, lanes and counters. */
function moveDeliveries(
	c: Connection,
	projectNo: number,
	{ attempts, schedule, unschedule, lanes }: UnpackedSettlement,
): void {
	const gains = new Map<number, Gain>();
	const gain = (webhookNo: number): Gain => {
		const found = gains.get(webhookNo) ?? { retries: 0, deadLetters: 0 };
		gains.set(webhookNo, found);
		return found;
	};

	for (const { webhookId, stored } of attempts) {
		const [seq, status] = stored;
		// Failed tests need no decision.
		if (status === STATUS_CODE.failed && seq > 0) gain(webhookOf(c, projectNo, webhookId)).deadLetters++;
	}
	for (const { webhookId, seq } of unschedule) {
		const webhookNo = webhookOf(c, projectNo, webhookId);
		gain(webhookNo).retries -= dropRetry(c, projectNo, webhookNo, seq);
	}
	for (const retry of schedule) {
		const webhookNo = webhookOf(c, projectNo, retry.webhookId);
		const added = putRetry(c, projectNo, webhookNo, retry);
		gain(webhookNo).retries += added;
		// The webhook may have been deleted in the meantime.
		if (added > 0) c.run("UPDATE webhooks SET closing = 1 WHERE no = ? AND deleted_at IS NOT NULL", webhookNo);
	}
	for (const lane of lanes) moveLane(c, webhookOf(c, projectNo, lane.webhookId), lane);
	for (const [webhookNo, { retries, deadLetters }] of gains) addToCounters(c, webhookNo, retries, deadLetters);
}

/** Settled events stay settled: the owner may have moved the lane forward, or this may be a repetition. */
function moveLane(c: Connection, webhookNo: number, { position, open }: LaneProgress): void {
	if (open.length === 0) {
		const move = "UPDATE lanes SET position = max(position, ?) WHERE webhook_no = ? AND open IS NULL";
		if (c.run(move, position, webhookNo) > 0) return;
	}
	const lane = findLane(c, webhookNo);
	if (lane === undefined) return;
	const reached = lane.position;
	const stillOpen = decodeOpen(lane.open).filter((seq) => seq > position || open.includes(seq));
	const added = open.filter((seq) => seq > reached);
	const moved = "UPDATE lanes SET position = ?, open = ? WHERE webhook_no = ?";
	c.run(moved, Math.max(reached, position), encodeOpen([...stillOpen, ...added]), webhookNo);
}

const INSERT_ATTEMPT = `
	INSERT INTO attempts (project_no, webhook_no, type, response_body, ${STORED_COLUMNS})
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?))`;
