import { sameContent } from "@posthorn/protocol";
import type { AppendedEvent, AppendResult } from "../../port.ts";
import { numberArray, textArray } from "../connection/literals.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { type Appended, appendRows, holdLogs, type NewRow, type Resolved } from "./append-rows.ts";

/** What an event's id already refers to: an event in the log, or (without a `seq` yet) in an earlier request. */
interface There {
	readonly seq: number | null;
	readonly createdAt: number;
	readonly publishedAt: number;
	readonly body: Uint8Array;
}

/** @param lost whether an earlier call broke, so that it may have been written */
export function lockedResult({ request }: Pick<Resolved, "request">, lost: boolean): AppendResult {
	return lost || request.maybeWritten ? { kind: "locked", maybeWritten: true } : { kind: "locked" };
}

const FIND = sql(`
	SELECT e.project_no, e.id, e.seq, e.created_at, e.published_at, e.body
	FROM unnest($1::bigint[], $2::text[]) AS g (project_no, id) CROSS JOIN LATERAL (
		SELECT * FROM posthorn.events WHERE project_no = g.project_no AND id = g.id LIMIT 1
	) e`);

/**
 * Appends requests in order, each atomically, comparing them with the log, in a transaction. `maybeOurs`: the same call
 * was made before with an unknown result, so an identical event isn't a repeated one.
 */
export async function appendAgainstLog(
	c: Session,
	all: readonly Resolved[],
	waits: boolean,
	maybeOurs: boolean,
): Promise<AppendResult[]> {
	const held = await holdLogs(c, new Set(all.map(({ projectNo }) => projectNo)), waits);
	const mine = all.filter(({ projectNo }) => held.has(projectNo));
	const there = await findThere(c, mine);
	const fresh: NewRow[] = [];
	const outcomes = new Map(
		mine.map((one) => [one, decide(one, there, fresh, maybeOurs || one.request.maybeWritten === true)]),
	);
	const { ends }: Pick<Appended, "ends"> = fresh.length === 0 ? { ends: new Map() } : await appendRows(c, fresh, waits);
	const mute = new Set(fresh.map(({ projectNo }) => projectNo).filter((projectNo) => !ends.has(projectNo)));
	return all.map((one): AppendResult => {
		const outcome = outcomes.get(one);
		if (outcome === undefined || mute.has(one.projectNo)) return lockedResult(one, maybeOurs);
		if (outcome.kind === "conflict") return outcome;
		const seqOf = (nth: number) => ends.get(one.projectNo)! + nth;
		const events = outcome.events.map(
			({ there: found, nth, repeated }): AppendedEvent => ({
				seq: found.seq ?? seqOf(nth),
				createdAt: found.createdAt,
				repeated,
			}),
		);
		return { kind: "appended", events };
	});
}

async function findThere(c: Session, all: readonly Resolved[]): Promise<Map<string, NumberedEvent>> {
	const rows = all.flatMap((one) => one.rows);
	const found = await c.rows(FIND, numberArray(rows.map((row) => row.projectNo)), textArray(rows.map((row) => row.id)));
	return new Map(
		found.map((row) => {
			const there: There = {
				seq: row.seq as number,
				createdAt: row.created_at as number,
				publishedAt: row.published_at as number,
				body: row.body as Uint8Array,
			};
			return [`${row.project_no}/${row.id}`, { there, nth: 0 }];
		}),
	);
}

/** The event of an id, and its position among the project's new events (from 1; 0 if it existed). */
interface NumberedEvent {
	readonly there: There;
	readonly nth: number;
}

type Outcome =
	| { readonly kind: "conflict"; readonly indexes: readonly number[] }
	| { readonly kind: "appended"; readonly events: readonly (NumberedEvent & { readonly repeated: boolean })[] };

/** Adds what a request appends to `there` and `fresh`, or nothing if one of its events conflicts. */
function decide(
	{ request, projectNo, rows }: Resolved,
	there: Map<string, NumberedEvent>,
	fresh: NewRow[],
	maybeOurs: boolean,
) {
	const added = new Map<string, NumberedEvent>();
	const before = fresh.filter((row) => row.projectNo === projectNo).length;
	const conflicts: number[] = [];
	const events: (NumberedEvent & { repeated: boolean })[] = [];
	for (const [index, row] of rows.entries()) {
		const key = `${projectNo}/${row.id}`;
		const found = added.get(key) ?? there.get(key);
		if (found === undefined) {
			const { createdAt, publishedAt, body } = row;
			const numbered = { there: { seq: null, createdAt, publishedAt, body }, nth: before + added.size + 1 };
			added.set(key, numbered);
			events.push({ ...numbered, repeated: false });
			continue;
		}
		const { type, createdAtGiven } = request.events[index]!;
		if (sameContent(row.id, type, found.there.body, row.body, createdAtGiven))
			events.push({ ...found, repeated: !(maybeOurs && isOurs(found.there, row)) });
		else conflicts.push(index);
	}
	if (conflicts.length > 0) return { kind: "conflict", indexes: conflicts } satisfies Outcome;
	for (const [key, numbered] of added) there.set(key, numbered);
	fresh.push(...rows.filter((_, i) => events[i]!.there.seq === null && events[i]!.repeated === false));
	return { kind: "appended", events } satisfies Outcome;
}

const isOurs = (there: There, row: NewRow): boolean =>
	there.seq !== null && there.createdAt === row.createdAt && there.publishedAt === row.publishedAt;
