/**
 * Appending: one transaction and one round trip for all requests of a call, which is right whenever every event is new.
 * A project of which one is not is left out of it, and its requests go one by one against what is there, in a second
 * transaction.
 *
 * A connection that breaks leaves it open whether the transaction was committed. Then the call is made once more, against
 * what is there: events of its own that it finds are the ones that it appended the first time.
 */
import type { AppendRequest, AppendResult } from "../port.ts";
import { appendAgainstLog } from "./append-repeated.ts";
import { appendRows, lockLogs, type Resolved } from "./append-rows.ts";
import type { Connections } from "./connections.ts";
import { isConnectionLost } from "./errors.ts";
import { findProject } from "./find.ts";
import { internTypes, typeCode } from "./types.ts";

export async function appendEvents(
	connections: Connections,
	requests: readonly AppendRequest[],
): Promise<AppendResult[]> {
	const resolved = await resolve(connections, requests);
	const results = new Map<Resolved, AppendResult>();
	const known = resolved.filter((one) => one !== null);
	const fresh = known.filter((one) => one.rows.length > 0);
	const rest = withoutRepeats(fresh);
	let lost = false;
	try {
		if (rest.length > 0) await appendNew(connections, rest, results);
	} catch (error) {
		if (!isConnectionLost((error as Error).cause)) throw error;
		lost = true;
	}
	const left = fresh.filter((one) => !results.has(one));
	if (left.length > 0) {
		const appended = await appendAgainstLog(connections, left, lost);
		for (const [i, one] of left.entries()) results.set(one, appended[i]!);
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

/** Appends what is all new, in one round trip. */
async function appendNew(
	connections: Connections,
	all: readonly Resolved[],
	results: Map<Resolved, AppendResult>,
): Promise<void> {
	const ends = await connections.transaction("publish", async (c) => {
		const locked = lockLogs(c, new Set(all.map(({ projectNo }) => projectNo)));
		const appended = appendRows(
			c,
			all.flatMap(({ rows }) => rows),
		);
		return (await Promise.all([locked, appended, c.commit()]))[1];
	});
	for (const one of all) {
		let seq = ends.get(one.projectNo);
		if (seq === undefined) continue;
		const events = one.rows.map(({ createdAt }) => ({ seq: ++seq!, createdAt, repeated: false }));
		ends.set(one.projectNo, seq);
		results.set(one, { kind: "appended", events });
	}
}
