/**
 * Appending takes one transaction and one round trip for all requests of a call if every event is new. A project with
 * an event that isn't new is left out, and its requests are compared with the log one by one in a second transaction.
 *
 * A project whose rows another session has locked is skipped (`locked`). After that, the next call first checks whether
 * it's free, in its own round trip, before it sends any event of its batch.
 *
 * If a connection breaks, it's unknown whether the transaction was committed. Then the call compares all requests with
 * the log: events of its own that it finds there are the ones that it appended before.
 */
import type { AppendRequest, AppendResult, Params } from "../../port.ts";
import type { Connections } from "../connection/connections.ts";
import { isConnectionLost, isLocked } from "../connection/errors.ts";
import { findProject, internTypes, typeCode } from "../connection/names.ts";
import { appendAgainstLog, lockedResult } from "./append-repeated.ts";
import { appendRows, holdLogs, type Resolved } from "./append-rows.ts";

export async function appendEvents(
	connections: Connections,
	{ requests, waits = false }: Params<"appendEvents">,
): Promise<AppendResult[]> {
	const resolved = await resolve(connections, requests);
	const results = new Map<Resolved, AppendResult>();
	const known = resolved.filter((one) => one !== null);
	const fresh = known.filter((one) => one.rows.length > 0);
	const rest = withoutRepeats(fresh);
	let lost = false;
	try {
		if (rest.length > 0) await appendNew(connections, rest, waits, results);
	} catch (error) {
		if (waits && isLocked(error)) return requests.map((request) => lockedResult({ request }, false));
		if (!isConnectionLost((error as Error).cause)) throw error;
		lost = true;
	}
	const left = fresh.filter((one) => !results.has(one));
	if (left.length > 0) {
		try {
			const appended = await connections.holding("publish", waits, (c) => appendAgainstLog(c, left, waits, lost));
			for (const [i, one] of left.entries()) results.set(one, appended[i]!);
		} catch (error) {
			if (!waits || !isLocked(error)) throw error;
			for (const one of left) results.set(one, lockedResult(one, lost));
		}
	}
	return resolved.map((one) => {
		if (one === null) return { kind: "no_project" };
		return results.get(one) ?? { kind: "appended", events: [] };
	});
}

async function resolve(connections: Connections, requests: readonly AppendRequest[]): Promise<(Resolved | null)[]> {
	const unknownProject = requests.some(({ projectId }) => !connections.names.projects.has(projectId));
	const types = new Set(requests.flatMap(({ events }) => events.map(({ type }) => type)));
	const unknownType = [...types].some((type) => !connections.names.types.has(type));
	if (!unknownProject && !unknownType) return toResolved(connections, requests);
	return connections.read("publish", async (c) => {
		await internTypes(c, types);
		for (const projectId of new Set(requests.map((request) => request.projectId))) await findProject(c, projectId);
		return toResolved(connections, requests);
	});
}

function toResolved({ names }: Connections, requests: readonly AppendRequest[]): (Resolved | null)[] {
	return requests.map((request) => {
		const projectNo = names.projects.get(request.projectId);
		if (projectNo === undefined) return null;
		const rows = request.events.map(({ id, type, createdAt, body }) => {
			return { projectNo, id, type: typeCode(names, type), createdAt, publishedAt: request.publishedAt, body };
		});
		return { request, projectNo, rows };
	});
}

/** Without the projects whose requests repeat an id. */
function withoutRepeats(all: readonly Resolved[]): Resolved[] {
	const idsOf = new Map<number, Set<string>>();
	const repeating = new Set<number>();
	for (const { projectNo, rows } of all) {
		const ids = idsOf.get(projectNo) ?? new Set();
		idsOf.set(projectNo, ids);
		const before = ids.size;
		for (const { id } of rows) ids.add(id);
		if (ids.size < before + rows.length) repeating.add(projectNo);
	}
	return all.filter(({ projectNo }) => !repeating.has(projectNo));
}

/** Appends new events in one round trip, or two if a project was recently locked. */
async function appendNew(
	connections: Connections,
	all: readonly Resolved[],
	waits: boolean,
	results: Map<Resolved, AppendResult>,
): Promise<void> {
	const { suspects } = connections;
	const projects = new Set(all.map(({ projectNo }) => projectNo));
	const looksFirst = waits || [...projects].some((projectNo) => suspects.has(projectNo));
	const { held, appended } = await connections.holding("publish", waits, async (c) => {
		const holding = holdLogs(c, projects, waits);
		const free = looksFirst ? await holding : projects;
		const rows = all.filter(({ projectNo }) => free.has(projectNo)).flatMap((one) => one.rows);
		const appending = rows.length > 0 ? appendRows(c, rows, waits) : { ends: new Map(), known: new Set<number>() };
		const [held, appended] = await Promise.all([holding, appending, c.commit()]);
		return { held, appended };
	});
	const { ends, known } = appended;
	for (const projectNo of projects) {
		if (!held.has(projectNo)) suspects.add(projectNo);
		else if (looksFirst) suspects.delete(projectNo);
	}
	for (const one of all) {
		let seq = ends.get(one.projectNo);
		if (seq === undefined) {
			if (!known.has(one.projectNo)) results.set(one, lockedResult(one, false));
			continue;
		}
		const events = one.rows.map(({ createdAt }) => ({ seq: ++seq!, createdAt, repeated: false }));
		ends.set(one.projectNo, seq);
		results.set(one, { kind: "appended", events });
	}
}
