/**
 * Appending: one transaction and one round trip for all requests of a call, which is right whenever every event is new.
 * A project of which one is not is left out of it, and its requests go one by one against what is there, in a second
 * transaction.
 *
 * A project whose rows somebody else holds is passed over (`locked`). Once one was, the next call first looks whether it
 * is free, in a round trip of its own, before it sends any event of its batch.
 *
 * A connection that breaks leaves it open whether the transaction was committed. Then the call is made once more, against
 * what is there: events of its own that it finds are the ones that it appended the first time.
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

/** Without the projects in whose requests an id comes twice. */
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

/** Appends what is all new, in one round trip; in two if a project was locked just now. */
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
