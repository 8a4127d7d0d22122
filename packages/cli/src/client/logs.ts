/** `posthorn logs`: the delivery log, like `kubectl logs`. */
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type Client, ConnectionError } from "@posthorn/client";
import pc from "picocolors";
import { UsageError } from "../command-error.ts";
import { listenForStop } from "../stop-signals.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { parseSpan } from "./listen-position.ts";
import { clean, colored, printJson, warn } from "./output.ts";

export interface LogOptions extends ConnectionOptions {
	readonly webhook?: string;
	readonly type?: string;
	readonly status?: string;
	readonly event?: string;
	readonly since?: string;
	readonly limit?: string;
}

/** How often to look for new attempts, milliseconds. */
const POLL_MS = 1_000;
/** Attempts are logged when they end, so one may appear after a later one; none takes this long. */
const OVERLAP_MS = 120_000;
const PAGE = 200;

/** The newest attempts, oldest of them first. */
export async function listLogs(options: LogOptions): Promise<void> {
	const { client, project } = await connect(options);
	const limit = Number(options.limit ?? 50);
	for (const attempt of (await newest(client, project, filterOf(options), limit)).reverse())
		show(attempt, options.json === true);
}

/** The newest attempts, then each new one as it is logged, until Ctrl-C. */
export async function tailLogs(options: LogOptions): Promise<void> {
	const { client, project } = await connect(options);
	const filter = filterOf(options);
	const stop = new AbortController();
	const signals = listenForStop();
	void signals.first.then(() => stop.abort());
	const seen = new Map<string, number>();
	let isAway = false;
	let wanted = Number(options.limit ?? 10);
	while (!stop.signal.aborted) {
		try {
			const fresh = seen.size === 0 ? await newest(client, project, filter, wanted) : await unseen();
			wanted = Math.max(1, wanted);
			for (const attempt of fresh.reverse()) {
				show(attempt, options.json === true);
				seen.set(attempt.id, Date.parse(attempt.started_at));
			}
			isAway = false;
		} catch (error) {
			if (!isTemporary(error)) throw error;
			if (!isAway) warn(`${clean((error as Error).message)} Waiting for the service.`);
			isAway = true;
		}
		forgetOld();
		await sleep(POLL_MS, undefined, { signal: stop.signal }).catch(() => {});
	}

	/** Reads back until a page has nothing new. */
	async function unseen(): Promise<Attempt[]> {
		const found: Attempt[] = [];
		const last = Math.max(...seen.values());
		const since = new Date(last - OVERLAP_MS).toISOString();
		let cursor: string | undefined;
		do {
			const page = await attempts(client, project, { ...filter, since, limit: PAGE, cursor });
			const fresh = page.data.filter(({ id }) => !seen.has(id));
			found.push(...fresh);
			cursor = fresh.length > 0 ? (page.next_cursor ?? undefined) : undefined;
		} while (cursor !== undefined);
		return found;
	}

	/** Keeps at least the newest, so that the next read knows where to begin. */
	function forgetOld(): void {
		const last = Math.max(...seen.values());
		for (const [id, at] of seen) if (at < last - OVERLAP_MS) seen.delete(id);
	}
}

type Query = NonNullable<Parameters<typeof attempts>[2]>;
type Attempt = Awaited<ReturnType<typeof attempts>>["data"][number];

interface AttemptQuery {
	readonly webhook_id?: string | undefined;
	readonly type?: never;
	readonly status?: "delivered" | "retrying" | "failed" | undefined;
	readonly event_id?: string | undefined;
	readonly since?: string | undefined;
	readonly limit?: number;
	readonly cursor?: string | undefined;
}

async function attempts(client: Client, project: string, query: AttemptQuery) {
	const { data } = await client.api.GET("/v1/projects/{project_id}/attempts/summaries", {
		params: { path: { project_id: project }, query: query as never },
	});
	return data!;
}

async function newest(client: Client, project: string, filter: Query, limit: number): Promise<Attempt[]> {
	const found: Attempt[] = [];
	let cursor: string | undefined;
	do {
		const page = await attempts(client, project, { ...filter, limit: Math.min(PAGE, limit - found.length), cursor });
		found.push(...page.data);
		cursor = page.next_cursor ?? undefined;
	} while (cursor !== undefined && found.length < limit);
	return found;
}

function filterOf({ webhook, type, status, event, since }: LogOptions): AttemptQuery {
	if (status !== undefined && !["delivered", "retrying", "failed"].includes(status))
		throw new UsageError([`--status is "${status}"; it must be delivered, retrying or failed.`]);
	return {
		webhook_id: webhook,
		...(type !== undefined && { type: type as never }),
		status: status as AttemptQuery["status"],
		event_id: event,
		...(since !== undefined && { since: new Date(Date.now() - parseSpan(since)).toISOString() }),
	};
}

function show(attempt: Attempt, json: boolean): void {
	if (json) {
		printJson(attempt);
		return;
	}
	const {
		started_at,
		event_type,
		event_id,
		attempt: n,
		replay,
		status,
		status_code,
		error,
		response_ms,
		url,
	} = attempt;
	const time = new Date(started_at).toTimeString().slice(0, 8);
	const result = status_code === null ? pc.red(clean(error ?? "no response")) : colored(status_code);
	const mark = { delivered: pc.green("✔"), retrying: pc.yellow("↻"), failed: pc.red("✘") }[status];
	const series = replay > 0 ? `${n} of replay ${replay}` : String(n);
	console.log(
		`${pc.dim(time)}  ${mark} ${event_type.padEnd(21)} ${pc.dim(clean(event_id))}  → ${clean(url)}  attempt ${series}  ${result}  ${response_ms} ms`,
	);
}

function isTemporary(error: unknown): boolean {
	return (
		error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
	);
}
