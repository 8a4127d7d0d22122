/** `posthorn logs`: the delivery log, like `kubectl logs`. */
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { ApiError, type Client, ConnectionError } from "@posthorn/client";
import { type Certificate, certificateFields, dnsText } from "@posthorn/protocol";
import type { operations } from "../../../api-types/src/api.ts";
import { colors } from "../colors.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { listenForStop } from "../stop-signals.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { parseTypes } from "./event-types.ts";
import { checkIds } from "./ids.ts";
import { parseLimit } from "./limit.ts";
import { spanStart } from "./listen/listen-position.ts";
import { ago, clean, cleanLines, colored, cut, note, printFields, printJson, warn } from "./output.ts";
import { allWebhooks } from "./webhooks.ts";

export interface LogOptions extends ConnectionOptions {
	readonly webhook?: string;
	readonly type?: readonly string[];
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
	const filter = filterOf(options);
	const limit = parseLimit(options.limit ?? "50");
	const { client, project } = await connect(options);
	const found = await newest(client, project, filter, limit);
	await printer(client, project, options.json === true)(found.reverse());
	if (found.length > 0 || options.json) return;
	const hint = options.status === "failed" ? " Those that will be retried have the status retrying." : "";
	note(`No attempts found.${hint}`);
}

/** The newest attempts, then each new one as it is logged, until Ctrl-C. */
export async function tailLogs(options: LogOptions): Promise<void> {
	const filter = filterOf(options);
	const wanted = parseLimit(options.limit ?? "10");
	const { client, project } = await connect(options);
	const stop = new AbortController();
	const signals = listenForStop();
	void signals.first.then(() => stop.abort());
	void signals.second.then(() => process.exit(130));
	const { signal } = stop;
	const show = printer(client, project, options.json === true, signal);
	const seen = new Map<string, number>();
	/** When the newest attempt began; null if there is none. */
	let last: number | null = null;
	let hasBegun = false;
	let isAway = false;
	while (!signal.aborted) {
		try {
			const fresh = hasBegun ? await unseen() : await past();
			await show(fresh.reverse());
			hasBegun = true;
			fresh.forEach(remember);
			isAway = false;
		} catch (error) {
			if (signal.aborted) break;
			// A proxy's own response is temporary, too, once the service has responded.
			const isFromProxy = error instanceof ApiError && error.code === "unknown";
			if (!isTemporary(error) && !(hasBegun && isFromProxy)) throw error;
			if (!isAway) warn(`${clean((error as Error).message)} Waiting for the service.`);
			isAway = true;
		}
		forgetOld();
		await sleep(POLL_MS, undefined, { signal }).catch(() => {});
	}

	/** The newest attempts, as many as are wanted. The others that `unseen` would find now are past, too. */
	async function past(): Promise<Attempt[]> {
		const [newestOne] = await newest(client, project, filter, 1, signal);
		if (newestOne === undefined) return [];
		last = Date.parse(newestOne.started_at);
		for (const attempt of await unseen()) remember(attempt);
		return newest(client, project, filter, wanted, signal);
	}

	/** Reads back until a page has nothing new. */
	async function unseen(): Promise<Attempt[]> {
		const found: Attempt[] = [];
		const since = last === null ? {} : { since: new Date(last - OVERLAP_MS).toISOString() };
		let cursor: string | undefined;
		do {
			const query = { ...filter, ...since, limit: PAGE, ...(cursor && { cursor }) };
			const page = await attempts(client, project, query, signal);
			const fresh = page.data.filter(({ id }) => !seen.has(id));
			found.push(...fresh);
			cursor = fresh.length > 0 ? (page.next_cursor ?? undefined) : undefined;
		} while (cursor !== undefined);
		return found;
	}

	function remember({ id, started_at }: Attempt): void {
		const at = Date.parse(started_at);
		seen.set(id, at);
		last = Math.max(last ?? at, at);
	}

	function forgetOld(): void {
		if (last !== null) for (const [id, at] of seen) if (at < last - OVERLAP_MS) seen.delete(id);
	}
}

type Attempt = Awaited<ReturnType<typeof attempts>>["data"][number];

type AttemptQuery = NonNullable<operations["listAttemptSummaries"]["parameters"]["query"]>;

async function attempts(client: Client, project: string, query: AttemptQuery, signal?: AbortSignal) {
	const { data } = await client.api.GET("/v1/projects/{project_id}/attempts/summaries", {
		params: { path: { project_id: project }, query },
		...(signal && { signal }),
	});
	return data!;
}

async function newest(
	client: Client,
	project: string,
	filter: AttemptQuery,
	limit: number,
	signal?: AbortSignal,
): Promise<Attempt[]> {
	const found: Attempt[] = [];
	let cursor: string | undefined;
	do {
		const part = { ...filter, limit: Math.min(PAGE, limit - found.length), ...(cursor && { cursor }) };
		const page = await attempts(client, project, part, signal);
		found.push(...page.data);
		cursor = page.next_cursor ?? undefined;
	} while (cursor !== undefined && found.length < limit);
	return found;
}

type Status = Attempt["status"];
const isStatus = (text: string): text is Status => ["delivered", "retrying", "failed"].includes(text);

function filterOf(options: LogOptions): AttemptQuery {
	const { webhook, type, status, event, since } = options;
	checkIds(options);
	if (status !== undefined && !isStatus(status))
		throw new UsageError([`--status is "${status}"; it must be delivered, retrying or failed.`]);
	return {
		...(webhook !== undefined && { webhook_id: [webhook] }),
		...(type !== undefined && { type: parseTypes(type) }),
		...(status !== undefined && { status: [status] }),
		...(event !== undefined && { event_id: event }),
		...(since !== undefined && { since: spanStart(since) }),
	};
}

/** The widest name of an event type, and of an event id that the service made. */
const [TYPE_WIDTH, ID_WIDTH] = [21, 30];
/** The series, and a count of milliseconds. */
const [SERIES_WIDTH, MS_WIDTH] = [4, 5];
/** Where less is left for the description and the URL, they are left out. */
const LEAST_NAME = 16;
const MARKS = { delivered: colors.green("✔"), retrying: colors.yellow("↻"), failed: colors.red("✘") };

/**
 * Prints attempts, each with its webhook's description and URL. If several webhooks among those printed so far have the
 * same URL, their ids tell them apart. A line with its date begins each day, unless the list starts today.
 */
function printer(client: Client, project: string, json: boolean, signal?: AbortSignal) {
	if (json) return async (attempts: readonly Attempt[]) => attempts.forEach(printJson);
	const descriptions = new Map<string, string>();
	const webhooks = new Map<string, Set<string>>();
	let day = new Date().toDateString();
	return async (attempts: readonly Attempt[]) => {
		if (attempts.some(({ webhook_id }) => !descriptions.has(webhook_id))) {
			const known = await allWebhooks(client, project, signal);
			// Deleted webhooks have none, and aren't looked up again.
			for (const { webhook_id } of attempts) descriptions.set(webhook_id, "");
			for (const { id, description } of known) descriptions.set(id, description);
		}
		for (const { url, webhook_id } of attempts) webhooks.set(url, (webhooks.get(url) ?? new Set()).add(webhook_id));
		for (const attempt of attempts) {
			const begun = new Date(attempt.started_at).toDateString();
			if (begun !== day) console.log(colors.dim(begun));
			day = begun;
			print(attempt, descriptions.get(attempt.webhook_id)!, webhooks.get(attempt.url)!.size > 1);
		}
	};
}

function print(attempt: Attempt, description: string, withWebhook: boolean): void {
	const { started_at, event_type, event_id, order_id, status, status_code, error_code, response_ms } = attempt;
	const time = new Date(started_at).toTimeString().slice(0, 8);
	const cells = [
		colors.dim(time),
		`${MARKS[status]} ${event_type.padEnd(TYPE_WIDTH)}`,
		colors.dim(clean(event_id).padEnd(ID_WIDTH)),
		seriesOf(attempt).padEnd(SERIES_WIDTH),
		`${String(response_ms).padStart(MS_WIDTH)} ms`,
		status_code === null ? colors.red(error_code ?? "no response") : colored(status_code),
	];
	if (order_id !== null) cells.push(`order ${clean(order_id)}`);
	if (withWebhook) cells.push(attempt.webhook_id);
	const row = cells.join("  ");
	const left = (process.stdout.columns ?? Number.POSITIVE_INFINITY) - stripVTControlCharacters(row).length - 2;
	const name = `${description && `${description}  `}${attempt.url}`;
	console.log(left < LEAST_NAME ? row : `${row}  ${cut(clean(name), left)}`);
}

/** `#2`, or `#1r3` for the first attempt of the third replay. */
const seriesOf = ({ attempt, replay }: Pick<Attempt, "attempt" | "replay">): string =>
	`#${attempt}${replay > 0 ? `r${replay}` : ""}`;

/** One attempt in full, or an event's newest one: the request, the response, and what follows. */
export async function getLog(id: string, options: ConnectionOptions & { readonly webhook?: string }): Promise<void> {
	const { webhook } = options;
	if (webhook !== undefined && !id.startsWith("evt_"))
		throw new UsageError(["--webhook needs an event, evt_…: an attempt belongs to one webhook anyway."]);
	const { client, project } = await connect(options);
	const attemptId = id.startsWith("evt_") ? await newestOf(client, project, id, webhook) : id;
	const { data } = await client.api.GET("/v1/projects/{project_id}/attempts/{attempt_id}", {
		params: { path: { project_id: project, attempt_id: attemptId } },
	});
	const attempt = data!;
	if (options.json) return printJson(attempt);
	const { status, status_code, error, response_ms, request_headers, response_body } = attempt;
	const result = status === "retrying" ? await retryOf(client, project, attempt) : status;
	printFields([
		["Attempt", `${attempt.id}  ${colors.dim(seriesOf(attempt))}`],
		["Result", `${MARKS[status]} ${result}`],
		["Event", `${clean(attempt.event_id)}  ${attempt.event_type}${attempt.test ? "  (test event)" : ""}`],
		["Webhook", attempt.webhook_id],
		["Started", `${attempt.started_at}  ${colors.dim(ago(attempt.started_at))}`],
		["URL", clean(attempt.url)],
		["Response", `${status_code === null ? colors.red("none") : colored(status_code)}  ${response_ms} ms`],
		...(error === null ? [] : [["Error", `${clean(error)}  ${colors.dim(attempt.error_code ?? "")}`] as const]),
		...(attempt.dns === null ? [] : [["DNS", dnsText(attempt.dns)] as const]),
	]);
	if (attempt.certificate !== null) showCertificate(attempt.certificate);
	const isUnsent = Object.keys(request_headers).length === 0;
	console.log(`\n${colors.bold("Request")}${isUnsent ? colors.dim("  nothing was sent") : ""}`);
	showHeaders(request_headers);
	console.log(`\n${cleanLines(attempt.request_body)}`);
	if (status_code === null) return;
	if (Object.keys(attempt.response_headers).length > 0) {
		console.log(`\n${colors.bold("Response headers")}${colors.dim("  those that help to explain a failure")}`);
		showHeaders(attempt.response_headers);
	}
	const cut = attempt.response_truncated
		? colors.dim("  incomplete: the rest was beyond the first 1,024 bytes, or didn't arrive")
		: "";
	console.log(`\n${colors.bold("Response body")}${cut}`);
	console.log(response_body === "" ? colors.dim("empty") : cleanLines(response_body));
}

/** The result of an attempt with a retry: the newest attempt since, or when the retry is due. */
async function retryOf(
	client: Client,
	project: string,
	{ id, event_id, webhook_id, next_retry_at }: Pick<Attempt, "id" | "event_id" | "webhook_id" | "next_retry_at">,
): Promise<string> {
	const [last] = (await attempts(client, project, { event_id, webhook_id: [webhook_id], limit: 1 })).data;
	if (last !== undefined && last.id !== id)
		return `retried; the newest attempt is ${last.id} (${seriesOf(last)}, ${last.status})`;
	if (next_retry_at === null) return "retrying";
	return `retrying, next attempt ${Date.parse(next_retry_at) > Date.now() ? "" : "due "}${ago(next_retry_at)}`;
}

function showHeaders(headers: Readonly<Record<string, string>>): void {
	for (const [name, value] of Object.entries(headers)) console.log(`${colors.dim(`${clean(name)}:`)} ${clean(value)}`);
}

function showCertificate(certificate: Certificate): void {
	console.log(`\n${colors.bold("Certificate")}${colors.dim("  rejected")}`);
	printFields(Object.entries(certificateFields(certificate)).map(([name, value]) => [name, clean(value)]));
}

async function newestOf(client: Client, project: string, eventId: string, webhook?: string): Promise<string> {
	const filter = { event_id: eventId, ...(webhook !== undefined && { webhook_id: [webhook] }) };
	const [attempt] = (await attempts(client, project, { ...filter, limit: 1 })).data;
	const where = webhook === undefined ? "" : ` for ${webhook}`;
	if (attempt === undefined)
		throw new CommandError([`There is no attempt of ${eventId}${where} in the delivery log.`], 1);
	const { id } = attempt;
	note(`This is its newest attempt${where}. All of them: posthorn logs list --event ${eventId}`);
	return id;
}

function isTemporary(error: unknown): boolean {
	return (
		error instanceof ConnectionError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
	);
}
