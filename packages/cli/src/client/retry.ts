/** `posthorn retry`: makes pending retries now, instead of when they are due. */
import type { operations } from "../../../api-types/src/api.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { confirm } from "./confirm.ts";
import { type Connection, type ConnectionOptions, connect } from "./connection.ts";
import { checkIds } from "./ids.ts";
import { clean, deliveries, note, plural, printJson, warn } from "./output.ts";
import { allOf } from "./pages.ts";
import { allWebhooks, healthsOf, readWebhook } from "./webhooks.ts";

export interface RetryOptions extends ConnectionOptions {
	readonly webhook?: string;
	readonly event?: string;
	readonly yes?: boolean;
}

/** How many deliveries one call may name. */
const NAMED = 200;

export async function retry(options: RetryOptions): Promise<void> {
	const { webhook, event, yes, json = false } = options;
	checkIds(options);
	if (event === undefined && webhook === undefined)
		throw new UsageError([
			"Choose what to retry: --event evt_…, or --webhook wh_… for all of its deliveries that wait for a retry.",
		]);
	const connection = await connect(options);
	if (event === undefined) return retryWebhook(connection, webhook!, { yes, json });
	return retryEvent(connection, event, { webhook, json });
}

/** Everything that waits for a retry at a webhook, after a look at how much that is. */
async function retryWebhook(
	{ client, project }: Connection,
	id: string,
	{ yes, json }: { readonly yes: boolean | undefined; readonly json: boolean },
): Promise<void> {
	const webhook = await readWebhook(client, project, id);
	if (webhook.status === "paused") throw new CommandError([pausedText(id)], 1);
	const health = (await healthsOf(client, project)).get(id);
	const waiting = health?.waiting.count ?? 0;
	if (waiting === 0) {
		if (json) return printJson({ count: 0 });
		console.log(`No delivery to ${id} waits for a retry.`);
		const { events } = webhook.backlog;
		if (events > 0)
			note(
				`${plural(events, "event")} ${events === 1 ? "waits" : "wait"} for a first attempt, which is made in its turn.`,
			);
		const failed = health?.dead_letters ?? 0;
		if (failed > 0) note(`${deliveries(failed)} failed for good: posthorn replay --webhook ${id} sends them again.`);
		return;
	}
	const question = `Retry ${deliveries(waiting)} to ${clean(webhook.url)} (${id}) now? An attempt that fails counts like any other.`;
	await confirm(question, yes, "sent");
	const { data } = await client.api.POST("/v1/projects/{project_id}/webhooks/{webhook_id}/retry", {
		params: { path: { project_id: project, webhook_id: id } },
	});
	tell(data!.count, `--webhook ${id}`, json);
}

type Row = Awaited<ReturnType<typeof deliveriesOf>>[number];

/** An event's deliveries that wait for a retry: to all webhooks, or to one. */
async function retryEvent(
	connection: Connection,
	event: string,
	{ webhook, json }: { readonly webhook: string | undefined; readonly json: boolean },
): Promise<void> {
	const { client, project } = connection;
	const filter = { event_id: event, ...(webhook !== undefined && { webhook_id: [webhook] }) };
	// Replays and test events that wait for their first attempt are listed only with what waits.
	const listed = await deliveriesOf(connection, { ...filter, state: ["waiting"] });
	const rows = [...listed, ...(await deliveriesOf(connection, filter))];
	const statuses = new Map((await allWebhooks(client, project)).map(({ id, status }) => [id, status]));
	const waiting = onePerWebhook(
		rows.filter(({ state, webhook_id }) => state === "waiting" && statuses.has(webhook_id)),
	);
	if (waiting.length === 0) throw new CommandError(await whyNone(connection, event, webhook, { rows, statuses }), 1);
	const isPaused = ({ webhook_id }: Row) => statuses.get(webhook_id) === "paused";
	const held = waiting.filter(isPaused).map(({ webhook_id }) => pausedText(webhook_id));
	const active = waiting.filter((row) => !isPaused(row));
	if (active.length === 0) throw new CommandError(held, 1);
	let count = 0;
	for (let from = 0; from < active.length; from += NAMED) {
		const these = active.slice(from, from + NAMED).map(({ webhook_id, event_id }) => ({ webhook_id, event_id }));
		const { data } = await client.api.POST("/v1/projects/{project_id}/retries", {
			params: { path: { project_id: project } },
			body: { deliveries: these },
		});
		count += data!.count;
	}
	held.forEach(warn);
	tell(count, `--event ${event}`, json);
}

type Filter = NonNullable<operations["listDeliveries"]["parameters"]["query"]>;

const deliveriesOf = ({ client, project }: Connection, filter: Filter) =>
	allOf((page) =>
		client.api.GET("/v1/projects/{project_id}/deliveries", {
			params: { path: { project_id: project }, query: { ...filter, ...page } },
		}),
	);

/** The first of each webhook's, which is the newest: earlier ones were replayed, or are listed twice. */
const onePerWebhook = (rows: readonly Row[]): readonly Row[] => [
	...new Map(rows.toReversed().map((row) => [row.webhook_id, row])).values(),
];

/** Why no delivery of an event waits for a retry, and what to do. */
async function whyNone(
	{ client, project }: Connection,
	event: string,
	webhook: string | undefined,
	{ rows, statuses }: { readonly rows: readonly Row[]; readonly statuses: ReadonlyMap<string, unknown> },
): Promise<string[]> {
	const newest = onePerWebhook(rows);
	if (newest.length > 0) return newest.flatMap((row) => ended(row, statuses.has(row.webhook_id)));
	// Both throw if there is none.
	await client.get(event);
	if (webhook !== undefined) await readWebhook(client, project, webhook);
	const [where, which] = webhook === undefined ? ["any webhook", "a webhook"] : [webhook, "the webhook"];
	return [`${event} has no attempt to ${where} yet. If ${which} gets its type, the first one is made in its turn.`];
}

function ended({ event_id, event_type, webhook_id, state, test }: Row, exists: boolean): string[] {
	if (!exists) return [`${webhook_id} was deleted, so ${event_id} isn't sent to it.`];
	const what = state === "delivered" ? "was delivered to" : "has failed for good at";
	const status = state === "delivered" ? " --status delivered" : "";
	const [again, command] = test
		? ["To send a new test event", `trigger ${event_type} --webhook ${webhook_id}`]
		: ["To send it again", `replay --event ${event_id} --webhook ${webhook_id}${status}`];
	return [`${event_id} ${what} ${webhook_id}, so no retry waits. ${again}:`, `  posthorn ${command}`];
}

const pausedText = (id: string): string =>
	`${id} is paused, so nothing is sent to it. Resume it first: posthorn webhooks resume ${id}`;

/** @param which options that choose the deliveries from the log */
function tell(count: number, which: string, json: boolean): void {
	if (json) printJson({ count });
	else if (count === 0) console.log("Every retry is already due or made.");
	else console.log(`Retrying ${deliveries(count)} now. posthorn logs tail ${which} shows the attempts.`);
}
