import type { FoundResponse, Params, ResponseStep } from "../../port.ts";
import { textFinder } from "../../shared/body-text.ts";
import { idRange, toAttemptId, toStoredId } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { walkAttempts } from "./attempt-ranges.ts";
import { readSummary } from "./attempts.ts";

export function searchResponses(
	c: Connection,
	{ projectId, text, before, limit }: Params<"searchResponses">,
): ResponseStep {
	const project = c.names.project(projectId);
	const { from, to } = idRange({});
	const range = { from, to: before === null ? to : toStoredId(before) };
	const how = { columns: "no, seq, started_at, response_body", order: "DESC", limit: limit.maxEvents } as const;
	const { rows } = project === null ? { rows: [] } : walkAttempts(c, project, {}, range, how);
	const find = textFinder(text);
	const found: FoundResponse[] = [];
	let attempts = 0;
	let bytes = 0;
	for (const { no, seq, response_body } of rows) {
		const body = response_body as Uint8Array;
		bytes += body.length;
		if (attempts > 0 && bytes > limit.maxBytes) break;
		attempts++;
		const match = (seq as number) < 0 ? null : find(body);
		if (match === null) continue;
		const event = c.sql("SELECT created_at FROM events WHERE project_no = ? AND seq = ?").get(project, seq as number);
		found.push({ attempt: readSummary(c, no as number), createdAt: event!.created_at as number, ...match });
	}
	const last = rows[attempts - 1];
	if (last === undefined) return { found, attempts, reached: null, next: null };
	const isOver = attempts === rows.length && attempts < limit.maxEvents;
	return { found, attempts, reached: last.started_at as number, next: isOver ? null : toAttemptId(last.id) };
}
