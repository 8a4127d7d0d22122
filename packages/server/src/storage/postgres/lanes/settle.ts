/**
 * Settling usually takes two round trips in one transaction. The first locks the leases and lanes and checks what is
 * already logged; events that their lanes have passed, or whose webhook was deleted, need another. Then the result of each
 * settlement is decided here, and the second writes and commits. Unless `waits` is set, nothing waits for a row that
 * another session holds: settlements of that project are `locked`, and the others are written.
 *
 * A settlement is refused (`stale`) if its generation isn't the current one, if one of its lanes is beyond the log's
 * end (the log went back), or if one of its attempts is logged under another id. If all attempts are logged under their
 * own ids, it was committed by a call whose connection broke, so it counts as settled. One without attempts may be
 * repeated, with the same result.
 */

import { type HandedOver, type Params, type Settlement, StorageError, type Verdict } from "../../port.ts";
import { toStoredId } from "../../shared/deliveries.ts";
import type { Connections } from "../connection/connections.ts";
import { isLocked, isPartitionMissing, LOCKED } from "../connection/errors.ts";
import { newestLog } from "../connection/hot-rows.ts";
import { findProject, findWebhook, internTypes } from "../connection/names.ts";
import { lockingSql, numberArray, type Session, sql } from "../connection/session.ts";
import type { PostgresNode } from "../node.ts";
import { makeDays } from "../retention/partitions.ts";
import { holdingOne, holdLanes, lockProject, type WebhookNumbers, wakeForChange } from "./locks.ts";
import {
	type AttemptRow,
	type DeliveryNumbers,
	findLogged,
	logAttempts,
	type Moves,
	moveDeliveries,
	readLanes,
} from "./settle-rows.ts";
import { keepEvents } from "./swept-events.ts";

/** A settlement with the numbers of what it refers to. */
interface NumberedSettlement {
	readonly settlement: Settlement;
	readonly projectNo: number;
	readonly attempts: readonly AttemptRow[];
	readonly moves: Moves;
}

export async function settle(node: PostgresNode, { settlements, waits = false }: Params<"settle">): Promise<Verdict[]> {
	const run = () => node.database.run((connections) => settleOn(connections, settlements, waits));
	const verdicts = await (waits ? run() : node.rightOfWay.settle(run));
	const settled = settlements.filter((_, i) => verdicts[i] === "settled");
	node.rollUp.settled(settled.reduce((sum, { attempts }) => sum + attempts.length, 0));
	return verdicts;
}

function settleOn(connections: Connections, settlements: readonly Settlement[], waits: boolean): Promise<Verdict[]> {
	return withDays(connections, settlements, async () => {
		const numbered = await connections.read("settle", (c) => number(c, settlements));
		try {
			return await settleNumbered(connections, numbered, waits);
		} catch (error) {
			if (waits && isLocked(error)) return settlements.map(() => "locked");
			throw error;
		}
	});
}

/** Runs `work` once the partitions for these attempts' days exist, and again if retention has just dropped one. */
async function withDays<T>(
	connections: Connections,
	settlements: readonly Settlement[],
	work: () => Promise<T>,
): Promise<T> {
	await makeMissingDays(connections, settlements);
	try {
		return await work();
	} catch (error) {
		if (!isPartitionMissing(error)) throw error;
		connections.days.forget();
		await makeMissingDays(connections, settlements);
		return work();
	}
}

async function makeMissingDays(connections: Connections, settlements: readonly Settlement[]): Promise<void> {
	const missing = connections.days.missing(
		settlements.flatMap(({ attempts }) => attempts.map(({ id }) => toStoredId(id))),
	);
	if (missing.length === 0) return;
	await connections.transaction("settle", (c) => makeDays(c, missing));
	connections.days.add(missing);
}

/** Null for a project that doesn't exist. */
async function number(c: Session, settlements: readonly Settlement[]): Promise<(NumberedSettlement | null)[]> {
	await internTypes(c, new Set(settlements.flatMap(({ attempts }) => attempts.map(({ eventType }) => eventType))));
	const all: (NumberedSettlement | null)[] = [];
	for (const settlement of settlements) {
		const projectNo = await findProject(c, settlement.projectId);
		all.push(projectNo === null ? null : await numberOne(c, settlement, projectNo));
	}
	return all;
}

async function numberOne(c: Session, settlement: Settlement, projectNo: number): Promise<NumberedSettlement> {
	const { projectId, schedule, unschedule } = settlement;
	const numbers = new Map<string, number>();
	for (const { webhookId } of [...settlement.attempts, ...schedule, ...unschedule, ...settlement.lanes]) {
		if (numbers.has(webhookId)) continue;
		const webhookNo = await findWebhook(c, projectNo, webhookId);
		if (webhookNo === null)
			throw new Error(`Webhook ${webhookId} of project ${projectId} is being settled, but doesn't exist.`);
		numbers.set(webhookId, webhookNo);
	}
	const numbersOf = ({ webhookId }: { webhookId: string }) => ({ projectNo, webhookNo: numbers.get(webhookId)! });
	const attempts = settlement.attempts.map((attempt) => ({ ...numbersOf(attempt), attempt }));
	const moves: Moves = {
		schedule: schedule.map((retry) => ({ ...retry, ...numbersOf(retry) })),
		unschedule: unschedule.map((one) => ({ seq: one.seq, ...numbersOf(one) })),
		lanes: settlement.lanes.map((lane) => ({ ...numbersOf(lane), ...lane })),
		// Failed tests need no decision.
		deadLetters: attempts.filter(({ attempt }) => attempt.status === "failed" && attempt.seq > 0),
	};
	return { settlement, projectNo, attempts, moves };
}

async function settleNumbered(
	connections: Connections,
	all: readonly (NumberedSettlement | null)[],
	waits: boolean,
): Promise<Verdict[]> {
	const verdicts = new Map<NumberedSettlement, Verdict>();
	// Two settlements of one project run one after the other.
	for (let left = all.filter((one) => one !== null); left.length > 0; ) {
		const projects = new Set<number>();
		const round: NumberedSettlement[] = [];
		const later: NumberedSettlement[] = [];
		for (const one of left) {
			(projects.has(one.projectNo) ? later : round).push(one);
			projects.add(one.projectNo);
		}
		const settled = await connections.holding("settle", waits, (c) => settleRound(c, round, waits));
		for (const [i, one] of round.entries()) verdicts.set(one, settled[i]!);
		left = later;
	}
	return all.map((one) => (one === null ? "stale" : verdicts.get(one)!));
}

const HOLD = lockingSql(
	(mode) => `
	SELECT l.project_no, CASE WHEN l.until IS NOT NULL THEN l.generation END AS generation, g.last_seq
	FROM posthorn.leases l CROSS JOIN LATERAL (SELECT last_seq ${newestLog("l.project_no")}) g
	WHERE l.project_no = ANY ($1::bigint[]) ORDER BY l.project_no FOR NO KEY UPDATE OF l ${mode}`,
);

type Held = { project_no: number; generation: number | null; last_seq: number };

/** Settles each project separately: a stale settlement doesn't affect the others. */
async function settleRound(c: Session, given: readonly NumberedSettlement[], waits: boolean): Promise<Verdict[]> {
	const holding = c.rows<Held>(HOLD(waits), numberArray(given.map(({ projectNo }) => projectNo)));
	const holdingLanes = holdLanes(c, given.flatMap(lanesOf), waits);
	// Sent after the locks: while they wait, webhooks may be deleted.
	const deliveries = given.flatMap(deliveriesOf);
	const lanes = readLanes(c, deliveries);
	const [held, occupied, logged, known] = await Promise.all([
		holding,
		holdingLanes,
		findLogged(c, given.flatMap(attemptsOf), lanes),
		lanes,
	]);
	const isGone = await keepEvents(c, deliveries, known);
	const round = given.map((one) => without(one, isGone));
	const holds = new Map(held.map((hold) => [hold.project_no, hold]));
	const accepted: NumberedSettlement[] = [];
	const verdicts = round.map((one): Verdict => {
		const hold = holds.get(one.projectNo);
		if (hold === undefined) return waits ? "stale" : "locked";
		if (hold.generation !== c.storedGeneration(one.settlement.generation)) return "stale";
		if (one.moves.lanes.some(({ position }) => position > hold.last_seq)) return "stale";
		if (occupied.has(one.projectNo)) return "locked";
		if (isCommitted(one, logged)) return "settled";
		if (one.attempts.some((row) => logged.has(row)) || repeatsItself(one)) {
			const { projectId } = one.settlement;
			process.emitWarning(`An attempt of project ${projectId} was settled twice; its settlement was refused.`);
			return "stale";
		}
		accepted.push(one);
		return "settled";
	});
	const attempts = accepted.flatMap(attemptsOf);
	const moves = joinMoves(accepted);
	await Promise.all([
		...(attempts.length > 0 ? [logAttempts(c, attempts)] : []),
		...(moves === null ? [] : [moveDeliveries(c, moves)]),
		c.commit(),
	]);
	return verdicts;
}

const attemptsOf = ({ attempts }: NumberedSettlement) => attempts;

/** Deliveries with a new log entry or retry. */
const deliveriesOf = ({ attempts, moves }: NumberedSettlement): DeliveryNumbers[] => [
	...attempts.map(({ projectNo, webhookNo, attempt: { seq } }) => ({ projectNo, webhookNo, seq })),
	...moves.schedule,
];

/** Leaves out the log entries and retries of deliveries whose event is gone. */
function without(one: NumberedSettlement, isGone: (delivery: DeliveryNumbers) => boolean): NumberedSettlement {
	if (!deliveriesOf(one).some(isGone)) return one;
	const attempts = one.attempts.filter((row) => !isGone({ ...row, seq: row.attempt.seq }));
	return { ...one, attempts, moves: { ...one.moves, schedule: one.moves.schedule.filter((retry) => !isGone(retry)) } };
}

const lanesOf = ({ moves }: NumberedSettlement): WebhookNumbers[] => Object.values(moves).flat() as WebhookNumbers[];

/** Whether the same settlement was committed before, without a response: all of its attempts are logged under their ids. */
const isCommitted = ({ attempts }: NumberedSettlement, logged: ReadonlyMap<AttemptRow, string>): boolean =>
	attempts.length > 0 && attempts.every((row) => logged.get(row) === toStoredId(row.attempt.id));

/** Whether a settlement holds the same attempt of a delivery twice. */
function repeatsItself({ attempts }: NumberedSettlement): boolean {
	const keys = attempts.map(
		({ webhookNo, attempt: { seq, replay, attempt } }) => `${webhookNo}/${seq}/${replay}/${attempt}`,
	);
	return new Set(keys).size < keys.length;
}

function joinMoves(all: readonly NumberedSettlement[]): Moves | null {
	const moves: Moves = {
		schedule: all.flatMap((one) => one.moves.schedule),
		unschedule: all.flatMap((one) => one.moves.unschedule),
		lanes: all.flatMap((one) => one.moves.lanes),
		deadLetters: all.flatMap((one) => one.moves.deadLetters),
	};
	return Object.values(moves).every((list) => list.length === 0) ? null : moves;
}

const TAKE = sql(`
	DELETE FROM posthorn.handed_over
	WHERE project_no = $1 AND webhook_no = $2 AND seq = $3 AND replay = $4 AND generation = $5`);

/**
 * Returns `settled` again if the call is repeated because a connection broke after the commit: the attempt is logged
 * under its id.
 */
export async function settleHandedOver(
	connections: Connections,
	{ handedOver, settlement }: Params<"settleHandedOver">,
	node: PostgresNode,
): Promise<"settled" | "stale"> {
	const verdict = await withDays(connections, [settlement], async () => {
		const [numbered] = await connections.read("settle", (c) => number(c, [settlement]));
		if (!numbered) return "stale";
		return holdingOne(connections, "settle", (c, waits) => settleOne(c, handedOver, numbered, waits));
	});
	node.rollUp.settled(settlement.attempts.length);
	return verdict;
}

async function settleOne(
	c: Session,
	handedOver: HandedOver,
	given: NumberedSettlement,
	waits: boolean,
): Promise<"settled" | "stale"> {
	const { projectNo, settlement } = given;
	const lastSeq = await lockProject(c, projectNo, waits);
	const occupied = await holdLanes(c, lanesOf(given), waits);
	if (occupied.size > 0) throw new StorageError("locked", LOCKED);
	const deliveries = deliveriesOf(given);
	const lanes = readLanes(c, deliveries);
	const numbered = without(given, await keepEvents(c, deliveries, await lanes));
	const { attempts, moves } = numbered;
	if (moves.lanes.some(({ position }) => position > lastSeq)) return "stale";
	const webhookNo = await findWebhook(c, projectNo, handedOver.webhookId);
	const { seq, replay } = handedOver;
	const [taken, logged] = await Promise.all([
		c.run(TAKE, projectNo, webhookNo, seq, replay, c.storedGeneration(settlement.generation)),
		findLogged(c, attempts, lanes),
	]);
	if (taken === 0 || logged.size > 0) return isCommitted(numbered, logged) ? "settled" : "stale";
	await Promise.all([
		...(attempts.length > 0 ? [logAttempts(c, attempts)] : []),
		moveDeliveries(c, moves),
		wakeForChange(c, projectNo),
	]);
	return "settled";
}
