import type { Params, ResponseStep } from "../../port.ts";
import { type ResponseRow, searchRows } from "../../shared/body-text.ts";
import { idRange, toStoredId } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { walkAttempts } from "./attempt-ranges.ts";
import { readSummary } from "./attempts.ts";

type Row = ResponseRow & { readonly no: number };

export function searchResponses(
	c: Connection,
	{ projectId, text, before, limit }: Params<"searchResponses">,
): ResponseStep {
	const project = c.names.project(projectId);
	const { from, to } = idRange({});
	const range = { from, to: before === null ? to : toStoredId(before) };
	const how = { columns: "no, seq, started_at, response_body", order: "DESC", limit: limit.maxEvents } as const;
	const { rows } = project === null ? { rows: [] } : walkAttempts(c, project, {}, range, how);
	const { matching, ...step } = searchRows(rows as unknown as Row[], text, limit);
	const found = matching.map(({ row: { no, seq }, match }) => {
		const event = c.sql("SELECT created_at FROM events WHERE project_no = ? AND seq = ?").get(project, seq);
		return { attempt: readSummary(c, no), createdAt: event!.created_at as number, ...match };
	});
	return { found, ...step };
}
