/**
 * Settling takes two round trips in one transaction. The first locks the leases and lanes and checks what the log
 * already has. Then the result of each settlement is decided here, and the second writes and commits. Nothing waits for
 * a row that another session holds: settlements of that project are `locked`, and the others are written.
 *
 * A settlement is refused (`stale`) if its generation isn't the current one, if one of its lanes is beyond the log's
 * end (the log went back), or if one of its attempts is logged under another id. If all attempts are logged under their
 * own ids, it was committed by a call whose connection broke, so it counts as settled. One without attempts may be
 * repeated, with the same result.
 */
import type { Params, Settlement, Verdict } from "../../port.ts";
import { toStoredId } from "../../shared/attempt-codes.ts";
import type { Connections } from "../connection/connections.ts";
import { isLocked, isPartitionMissing } from "../connection/errors.ts";
import { numberArray } from "../connection/literals.ts";
import { findProject, findWebhook, internTypes } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import type { PostgresNode } from "../node.ts";
import { makeDays } from "../retention/partitions.ts";
import { holdLanes, type WebhookNumbers } from "./lock.ts";
import { findLogged } from "./logged.ts";
import { type AttemptRow, logAttempts, type Moves, moveDeliveries } from "./settle-rows.ts";

/** A settlement with the numbers of what it refers to. */
export interface Resolved {
	readonly settlement: Settlement;
	readonly projectNo: number;
	readonly attempts: readonly AttemptRow[];
	readonly moves: Moves;
}

export async function settle(node: PostgresNode, { settlements, waits = false }: Params<"settle">): Promise<Verdict[]> {
	const run = () => node.run((connections) => settleOn(connections, settlements, waits));
	const verdicts = await (waits ? run() : node.rightOfWay.settle(run));
	const settled = settlements.filter((_, i) => verdicts[i] === "settled");
	node.rollUp.settled(settled.reduce((sum, { attempts }) => sum + attempts.length, 0));
	return verdicts;
}

function settleOn(connections: Connections, settlements: readonly Settlement[], waits: boolean): Promise<Verdict[]> {
	return withDays(connections, settlements, async () => {
		const resolved = await connections.read("settle", (c) => resolve(c, settlements));
		try {
			return await settleResolved(connections, resolved, waits);
		} catch (error) {
			if (waits && isLocked(error)) return settlements.map(() => "locked");
			throw error;
		}
	});
}

/** What a single settlement refers to; null if its project doesn't exist. */
export async function resolveSettlement(connections: Connections, settlement: Settlement): Promise<Resolved | null> {
	const [resolved] = await connections.read("settle", (c) => resolve(c, [settlement]));
	return resolved!;
}

/** Runs `work` once the partitions for these attempts' days exist, and again if retention has just dropped one. */
export async function withDays<T>(
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
async function resolve(c: Session, settlements: readonly Settlement[]): Promise<(Resolved | null)[]> {
	await internTypes(c, new Set(settlements.flatMap(({ attempts }) => attempts.map(({ eventType }) => eventType))));
	const all: (Resolved | null)[] = [];
	for (const settlement of settlements) {
		const projectNo = await findProject(c, settlement.projectId);
		all.push(projectNo === null ? null : await resolveOne(c, settlement, projectNo));
	}
	return all;
}

async function resolveOne(c: Session, settlement: Settlement, projectNo: number): Promise<Resolved> {
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
		deadLetters: attempts.filter(({ attempt }) => attempt.status === "failed"),
	};
	return { settlement, projectNo, attempts, moves };
}

async function settleResolved(
	connections: Connections,
	all: readonly (Resolved | null)[],
	waits: boolean,
): Promise<Verdict[]> {
	const verdicts = new Map<Resolved, Verdict>();
	// Two settlements of one project run one after the other.
	for (let left = all.filter((one) => one !== null); left.length > 0; ) {
		const projects = new Set<number>();
		const round: Resolved[] = [];
		const later: Resolved[] = [];
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

const hold = (mode: string) => `
	SELECT l.project_no, CASE WHEN l.until IS NOT NULL THEN l.generation END AS generation, g.last_seq
	FROM posthorn.leases l JOIN posthorn.logs g ON g.project_no = l.project_no
	WHERE l.project_no = ANY ($1::bigint[]) ORDER BY l.project_no FOR NO KEY UPDATE OF l ${mode}`;
const HOLD_FREE = sql(hold("SKIP LOCKED"));
const HOLD_ALL = sql(hold(""));

type Held = { project_no: number; generation: number | null; last_seq: number };

/** Settles each project separately: a stale settlement doesn't affect the others. */
async function settleRound(c: Session, round: readonly Resolved[], waits: boolean): Promise<Verdict[]> {
	const rows = round.flatMap(({ attempts }) => attempts);
	const [held, occupied, logged] = await Promise.all([
		c.rows<Held>(waits ? HOLD_ALL : HOLD_FREE, numberArray(round.map(({ projectNo }) => projectNo))),
		waits
			? new Set<number>()
			: holdLanes(
					c,
					round.flatMap(({ moves }) => Object.values(moves).flat() as WebhookNumbers[]),
				),
		findLogged(c, rows),
	]);
	const holds = new Map(held.map((hold) => [hold.project_no, hold]));
	const standing: Resolved[] = [];
	let first = 0;
	const verdicts = round.map((one): Verdict => {
		const from = first;
		first += one.attempts.length;
		const hold = holds.get(one.projectNo);
		if (hold === undefined) return waits ? "stale" : "locked";
		if (hold.generation !== c.storedGeneration(one.settlement.generation)) return "stale";
		if (one.moves.lanes.some(({ position }) => position > hold.last_seq)) return "stale";
		if (occupied.has(one.projectNo)) return "locked";
		const known = one.attempts.map((_, i) => logged.get(from + i));
		if (known.length > 0 && known.every((id, i) => id === storedId(one.attempts[i]!))) return "settled";
		if (known.some((id) => id !== undefined) || repeatsItself(one)) {
			const { projectId } = one.settlement;
			process.emitWarning(`An attempt of project ${projectId} was settled twice; its settlement was refused.`);
			return "stale";
		}
		standing.push(one);
		return "settled";
	});
	const attempts = standing.flatMap((one) => one.attempts);
	const moves = joinMoves(standing);
	await Promise.all([
		...(attempts.length > 0 ? [logAttempts(c, attempts)] : []),
		...(moves === null ? [] : [moveDeliveries(c, moves)]),
		c.commit(),
	]);
	return verdicts;
}

const storedId = ({ attempt }: AttemptRow): string => toStoredId(attempt.id);

/** Whether a settlement holds the same attempt of a delivery twice. */
function repeatsItself({ attempts }: Resolved): boolean {
	const keys = attempts.map(
		({ webhookNo, attempt: { seq, replay, attempt } }) => `${webhookNo}/${seq}/${replay}/${attempt}`,
	);
	return new Set(keys).size < keys.length;
}

function joinMoves(all: readonly Resolved[]): Moves | null {
	const moves: Moves = {
		schedule: all.flatMap((one) => one.moves.schedule),
		unschedule: all.flatMap((one) => one.moves.unschedule),
		lanes: all.flatMap((one) => one.moves.lanes),
		deadLetters: all.flatMap((one) => one.moves.deadLetters),
	};
	return Object.values(moves).every((list) => list.length === 0) ? null : moves;
}
