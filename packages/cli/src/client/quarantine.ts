/** `posthorn quarantine` and `posthorn release`: what a restored database would send, and sending it. */
import { ApiError, type Client } from "@posthorn/client";
import { UsageError } from "../command-error.ts";
import { confirm } from "./confirm.ts";
import { type ConnectionOptions, connectAsOperator } from "./connection.ts";
import {
	ago,
	clean,
	fitted,
	note,
	type Output,
	plural,
	printJson,
	printTable,
	STANDARD_ERROR,
	STANDARD_OUTPUT,
} from "./output.ts";
import { allOf } from "./pages.ts";

type OperatorOptions = Pick<ConnectionOptions, "url" | "json">;

export interface ReleaseOptions extends OperatorOptions {
	/** Webhooks, or `all`. */
	readonly skip?: readonly string[];
	readonly yes?: boolean;
}

const PAGE = 100;
/** More aren't listed for people. */
const ROWS = 50;
const ONE = "/v1/projects/{project_id}/webhooks/{webhook_id}";

/** Shows whether the database is in quarantine, and what a release would send. */
export async function showQuarantine(options: OperatorOptions): Promise<void> {
	const { client } = connectAsOperator(options);
	const state = await stateOf(client);
	const waiting = await waitingOf(client);
	if (options.json) return printJson({ ...state, webhooks: waiting });
	if (!state.active) return note("The database isn't in quarantine: deliveries are made as always.");
	show(state.detail!, waiting, STANDARD_OUTPUT);
}

/** Ends the quarantine, after a look at what it will send. */
export async function release(options: ReleaseOptions): Promise<void> {
	const { url, client } = connectAsOperator(options);
	const state = await stateOf(client);
	if (!state.active) {
		if (options.json) return printJson({ ...state, released: false, skipped: [] });
		return note("The database isn't in quarantine: there is nothing to release.");
	}
	const waiting = await waitingOf(client);
	const skipped = skippedOf(waiting, options.skip?.flatMap((text) => text.split(",")) ?? []);
	const sent = waiting.filter((one) => one.status === "active" && !skipped.includes(one));
	// With the question: standard output may go to a file, or to a reader that ends early.
	if (!options.json) show(state.detail!, waiting, STANDARD_ERROR);
	const skipping =
		skipped.length === 0
			? ""
			: ` Pending deliveries of ${webhooks(skipped.length)} are skipped, including events that were accepted since the restore.`;
	const question = `Release ${url}? ${totalOf(sent)}${skipping}`;
	await confirm(question, options.yes);
	for (const webhook of skipped) await skip(client, webhook);
	const { data } = await client.api.POST("/v1/quarantine/release");
	if (options.json) return printJson({ ...data!, skipped: skipped.map(({ id }) => id) });
	if (data!.released) return console.log("Released: deliveries continue within a second.");
	const sentBefore = skipped.length === 0 ? "" : " Deliveries that you wanted to skip may have been sent before.";
	console.log(`Someone else has just released the database.${sentBefore}`);
}

/** Leaves out a webhook's pending deliveries. It stays paused if it was paused meanwhile. */
async function skip({ api }: Client, { project_id, id }: Waiting): Promise<void> {
	const params = { path: { project_id, webhook_id: id } };
	await api.PATCH(ONE, { params, body: { from: "now" } }).catch((error: unknown) => {
		// Deleted meanwhile.
		if (!(error instanceof ApiError && error.status === 404)) throw error;
	});
}

interface Waiting {
	readonly project_id: string;
	readonly project: string;
	readonly id: string;
	readonly url: string;
	readonly status: "active" | "paused";
	readonly backlog: { readonly events: number; readonly oldest_at: string | null };
	readonly waiting: { readonly count: number; readonly next_at: string | null };
}

async function stateOf({ api }: Client) {
	const { data } = await api.GET("/v1/quarantine");
	return data!;
}

async function waitingOf({ api }: Client): Promise<Waiting[]> {
	const projects = await allOf((query) => api.GET("/v1/quarantine/waiting", { params: { query } }), PAGE);
	return projects.flatMap(({ id, name, webhooks }) =>
		webhooks.map((webhook) => ({ ...webhook, project_id: id, project: name })),
	);
}

function skippedOf(waiting: readonly Waiting[], ids: readonly string[]): readonly Waiting[] {
	if (ids.includes("all")) return waiting.filter(({ status }) => status === "active");
	return ids.map((id) => {
		const one = waiting.find((webhook) => webhook.id === id);
		if (one === undefined) throw new UsageError([`--skip ${id}: no webhook with this id has pending deliveries.`]);
		if (one.status === "paused")
			throw new UsageError([`--skip ${id}: the webhook is paused, so it gets nothing anyway.`]);
		return one;
	});
}

const webhooks = (count: number): string => plural(count, "webhook");

/** What these webhooks would get, in words. */
function totalOf(waiting: readonly Waiting[]): string {
	const first = waiting.reduce((sum, { backlog }) => sum + backlog.events, 0);
	const again = waiting.reduce((sum, one) => sum + one.waiting.count, 0);
	const kinds = [
		first > 0 && plural(first, "first attempt"),
		again > 0 && plural(again, "retry or replay", "retries and replays"),
	];
	const parts = kinds.filter((kind) => kind !== false);
	if (parts.length === 0) return "Nothing waits to be sent.";
	return `${parts.join(" and ")} ${first + again === 1 ? "waits" : "wait"} for ${webhooks(waiting.length)}.`;
}

/** Columns that may be cut, the least informative first. */
const FLEXIBLE = [
	{ heading: "PROJECT", least: 10 },
	{ heading: "URL", least: 16 },
];

function show(detail: string, waiting: readonly Waiting[], output: Output): void {
	const { print, colors } = output;
	print(clean(detail));
	const rows = waiting
		.slice(0, ROWS)
		.map((one) => [
			clean(one.project),
			one.id,
			one.status === "active" ? colors.green(one.status) : colors.yellow(one.status),
			String(one.backlog.events),
			one.backlog.oldest_at === null ? "" : ago(one.backlog.oldest_at),
			String(one.waiting.count),
			clean(one.url),
		]);
	const headings = ["PROJECT", "WEBHOOK", "STATUS", "BACKLOG", "OLDEST", "RETRIES", "URL"];
	if (rows.length > 0) printTable(...fitted(headings, rows, FLEXIBLE, output), output);
	if (waiting.length > ROWS)
		note(`… and ${webhooks(waiting.length - ROWS)} more; posthorn quarantine --json lists all.`);
	print(totalOf(waiting.filter(({ status }) => status === "active")));
}
