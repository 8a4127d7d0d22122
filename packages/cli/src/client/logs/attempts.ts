/** Reads the delivery log. */
import type { operations } from "../../../../api-types/src/api.ts";
import { UsageError } from "../../command-error.ts";
import type { Connection, ConnectionOptions } from "../connection.ts";
import { type SelectionOptions, selectionOf } from "../selection.ts";

export interface LogOptions extends ConnectionOptions, SelectionOptions {
	readonly limit?: string;
}

/** Which project's log is read, and what aborts the calls. */
export interface Reading extends Pick<Connection, "client" | "project"> {
	readonly signal?: AbortSignal;
}

export const PAGE = 200;

export type AttemptQuery = NonNullable<operations["listAttemptSummaries"]["parameters"]["query"]>;

export type Attempt = Awaited<ReturnType<typeof attempts>>["data"][number];

/** A page of attempts, newest first. */
export async function attempts({ client, project, signal }: Reading, query: AttemptQuery) {
	const { data } = await client.api.GET("/v1/projects/{project_id}/attempts/summaries", {
		params: { path: { project_id: project }, query },
		...(signal && { signal }),
	});
	return data!;
}

/** At most this many of the newest attempts, newest first. */
export async function newest(reading: Reading, filter: AttemptQuery, limit: number): Promise<Attempt[]> {
	const found: Attempt[] = [];
	let cursor: string | undefined;
	do {
		const part = { ...filter, limit: Math.min(PAGE, limit - found.length), ...(cursor && { cursor }) };
		const page = await attempts(reading, part);
		found.push(...page.data);
		cursor = page.next_cursor ?? undefined;
	} while (cursor !== undefined && found.length < limit);
	return found;
}

type Status = Attempt["status"];
const isStatus = (text: string): text is Status => ["delivered", "retrying", "failed"].includes(text);

/** @throws UsageError */
export function filterOf(options: SelectionOptions): AttemptQuery {
	const { status } = options;
	const selection = selectionOf(options);
	if (status === undefined) return selection;
	if (!isStatus(status)) throw new UsageError([`--status is "${status}"; it must be delivered, retrying or failed.`]);
	return { ...selection, status: [status] };
}
