import { LOG_READS, RESPONSES } from "../../base/budgets.ts";
import { isId } from "../../base/ids.ts";
import { notFound } from "../http/problem.ts";
import { decodeCursor, encodeCursor, PAGE_LIMIT, type PageQuery } from "../http/query.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import {
	AttemptCountQuery,
	AttemptQuery,
	attemptFilter,
	presentAttempt,
	presentAttemptSummary,
} from "../schemas/attempts.ts";
import { Attempt, AttemptCount, AttemptList, AttemptSummaryList } from "../schemas/index.ts";

const MAX_SCANNED = LOG_READS.attemptsScanned.toLocaleString("en-US");
const SCANNED = `With \`status_code\`, a page examines at most ${MAX_SCANNED} attempts that match the other filters, so it may be short or empty even if more follow. Continue until \`next_cursor\` is null.`;

/** More precision isn't needed, and counting takes time. */
const MAX_COUNT = 10_000;

export function attemptRoutes({ storage }: Pick<ApiParts, "storage">): Route[] {
	const tag = "Delivery log";
	const path = "/v1/projects/{project_id}/attempts";
	return [
		defineRoute({
			method: "GET",
			path,
			operationId: "listAttempts",
			tag,
			summary: "Read the delivery log",
			description: `Newest first. Filters combine. A page holds at most 4 MiB of bodies, and may be shorter than \`limit\`. ${SCANNED}`,
			access: "developer",
			query: AttemptQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "A page of attempts.", schema: AttemptList },
			async handler({ params: { project_id }, query }) {
				const page = { ...pageOf(query), maxBytes: RESPONSES.pageBytes };
				const { rows, next } = await storage.listAttempts({
					projectId: project_id,
					filter: attemptFilter(query),
					page,
				});
				return { data: rows.map(presentAttempt), next_cursor: nextCursor(next) };
			},
		}),
		defineRoute({
			method: "GET",
			path: `${path}/summaries`,
			operationId: "listAttemptSummaries",
			tag,
			summary: "Read the delivery log without headers and bodies",
			description: `Newest first. Filters combine. ${SCANNED}`,
			access: "developer",
			query: AttemptQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "A page of attempts.", schema: AttemptSummaryList },
			async handler({ params: { project_id }, query }) {
				const { rows, next } = await storage.listAttemptSummaries({
					projectId: project_id,
					filter: attemptFilter(query),
					page: pageOf(query),
				});
				return { data: rows.map(presentAttemptSummary), next_cursor: nextCursor(next) };
			},
		}),
		defineRoute({
			method: "GET",
			path: `${path}/count`,
			operationId: "countAttempts",
			tag,
			summary: "Count attempts",
			description: `How many attempts match, up to 10,000. With \`status_code\`, only the newest ${MAX_SCANNED} attempts that match the other filters are examined; \`capped\` is true if there may be more.`,
			access: "developer",
			query: AttemptCountQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "The count.", schema: AttemptCount },
			handler: ({ params: { project_id }, query }) =>
				storage.countAttempts({ projectId: project_id, filter: attemptFilter(query), max: MAX_COUNT }),
		}),
		defineRoute({
			method: "GET",
			path: `${path}/{attempt_id}`,
			operationId: "getAttempt",
			tag,
			summary: "Get an attempt",
			access: "developer",
			success: { status: 200, description: "The attempt.", schema: Attempt },
			async handler({ params: { project_id, attempt_id } }) {
				const attempt = isId("attempt", attempt_id)
					? await storage.getAttempt({ projectId: project_id, attemptId: attempt_id })
					: null;
				if (!attempt) throw notFound("attempt");
				return presentAttempt(attempt);
			},
		}),
	];
}

function pageOf({ limit = PAGE_LIMIT.default, cursor }: PageQuery): { limit: number; before?: string } {
	const isPosition = (text: string) => isId("attempt", text);
	return { limit, ...(cursor !== undefined && { before: decodeCursor(cursor, isPosition) }) };
}

const nextCursor = (next: string | null): string | null => (next === null ? null : encodeCursor(next));
