/** `posthorn webhooks`: lists, creates and changes a project's webhooks. */
import { ApiError, type Client } from "@posthorn/client";
import { EVENT_TYPES } from "@posthorn/protocol";
import { colors } from "../colors.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { confirm } from "./confirm.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { parseTypesOrAll } from "./event-types.ts";
import { checkArgument } from "./ids.ts";
import { ago, clean, cleanLines, cut, fitted, note, printFields, printJson, printTable } from "./output.ts";
import { allOf } from "./pages.ts";

/** The settings of a webhook that options change. */
export interface SettingsOptions {
	readonly events?: readonly string[];
	readonly description?: string;
	readonly maxInFlight?: string;
	readonly standardWebhooks?: boolean;
}

const COLLECTION = "/v1/projects/{project_id}/webhooks";
const ONE = "/v1/projects/{project_id}/webhooks/{webhook_id}";

export async function listWebhooks(options: ConnectionOptions): Promise<void> {
	const { client, project } = await connect(options);
	const webhooks = await allWebhooks(client, project);
	if (options.json) return webhooks.forEach(printJson);
	if (webhooks.length === 0) return note("There are no webhooks yet: posthorn webhooks create URL --events TYPE,…");
	const healths = await healthsOf(client, project);
	const described = webhooks.some(({ description }) => description);
	const table = fitted(
		["ID", "HEALTH", "WAITING", "URL", ...(described ? ["DESCRIPTION"] : []), "EVENTS"],
		webhooks.map(({ id, url, description, events, backlog, ...state }) => [
			id,
			stateWord(state, healths.get(id)),
			String(backlog.events + (healths.get(id)?.waiting.count ?? 0)),
			clean(url),
			...(described ? [cut(clean(description ?? ""), DESCRIPTION_WIDTH)] : []),
			events.length === EVENT_TYPES.length ? "all" : events.join(", "),
		]),
		FLEXIBLE,
	);
	printTable(...table);
}

/** Oldest first. */
export const allWebhooks = (client: Client, project: string, signal?: AbortSignal) =>
	allOf((query) =>
		client.api.GET(COLLECTION, { params: { path: { project_id: project }, query }, ...(signal && { signal }) }),
	);

/** The most columns of a description in the table: it may have 200 characters. */
const DESCRIPTION_WIDTH = 30;
/** Columns that may be cut, the least informative first. */
const FLEXIBLE = [
	{ heading: "EVENTS", least: 10 },
	{ heading: "URL", least: 16 },
	{ heading: "DESCRIPTION", least: 10 },
];

interface Health {
	readonly state: keyof typeof COLORS;
	readonly waiting: { readonly count: number };
	readonly dead_letters: number;
}

/** By webhook. Pending retries and replays, with the backlog, are what the dashboard shows as waiting. */
export async function healthsOf({ api }: Client, project: string): Promise<ReadonlyMap<string, Health>> {
	const { data } = await api.GET(`${COLLECTION}/health`, { params: { path: { project_id: project } } });
	return new Map(data!.data.map((health) => [health.webhook_id, health]));
}

const UNREADABLE = "can't be read: nothing is sent until it is rotated";

const COLORS = { paused: "yellow", failing: "red", unstable: "yellow", healthy: "green", idle: "dim" } as const;

interface State {
	readonly status: "active" | "paused";
	/** Missing from a service of an earlier version. */
	readonly secret_state?: "usable" | "unreadable" | "lost";
}

/** The health as the dashboard shows it: `failing`. A webhook that was just created may not have one yet. */
function stateWord({ status, secret_state = "usable" }: State, health: Health | undefined): string {
	if (status === "active" && secret_state !== "usable") return colors.red("no secret");
	const state = status === "paused" ? "paused" : (health?.state ?? "idle");
	return colors[COLORS[state]](state);
}

/** @throws CommandError if it doesn't exist */
export async function readWebhook({ api }: Client, project: string, id: string) {
	const { data } = await known(api.GET(ONE, { params: { path: { project_id: project, webhook_id: id } } }));
	return data!;
}

/**
 * A call about one webhook.
 *
 * @throws CommandError if it doesn't exist
 */
async function known<T>(call: Promise<T>): Promise<T> {
	try {
		return await call;
	} catch (error) {
		if (!(error instanceof ApiError && error.status === 404)) throw error;
		const hint =
			"It may have been deleted, or belong to another project: posthorn webhooks list shows those of this one.";
		throw new CommandError([...cleanLines(error.message).split("\n"), hint], 1);
	}
}

export async function getWebhook(id: string, options: ConnectionOptions): Promise<void> {
	checkArgument(id, "webhook");
	const { client, project } = await connect(options);
	const webhook = await readWebhook(client, project, id);
	if (options.json) return printJson(webhook);
	const { backlog, max_in_flight: inFlight } = webhook;
	const health = (await healthsOf(client, project)).get(id);
	const again = health?.waiting.count ?? 0;
	const failed = health?.dead_letters ?? 0;
	const first = backlog.oldest_at ? `${backlog.events} new, the oldest from ${ago(backlog.oldest_at)}` : "";
	const waiting = [first, again > 0 ? `${again} for a retry` : ""].filter(Boolean).join("; ");
	printFields([
		["Id", webhook.id],
		["URL", clean(webhook.url)],
		["Description", clean(webhook.description ?? "") || colors.dim("none")],
		["Status", webhook.status],
		["Health", stateWord(webhook, health)],
		...(webhook.secret_state === "usable" || webhook.secret_state === undefined
			? []
			: [["Secret", UNREADABLE] as const]),
		["Events", webhook.events.join(", ")],
		[
			"In flight",
			inFlight === 1 ? "one first attempt at a time, in order" : `up to ${inFlight} first attempts at a time`,
		],
		["Standard Webhooks", webhook.standard_webhooks ? "on" : "off"],
		["Created", `${webhook.created_at}  ${colors.dim(ago(webhook.created_at))}`],
		["Waiting", waiting || "nothing"],
		["To decide", failed > 0 ? `${failed} failed for good: replay them, or dismiss them in the dashboard` : "nothing"],
	]);
}

/** The API's fields for the settings that were given. @throws UsageError */
function settingsOf({ events, description, maxInFlight, standardWebhooks }: SettingsOptions) {
	if (maxInFlight !== undefined && !/^[1-9]\d{0,5}$/.test(maxInFlight))
		throw new UsageError([`--max-in-flight is "${maxInFlight}"; give a whole number from 1.`]);
	return {
		...(events !== undefined && { events: parseTypesOrAll(events) }),
		...(description !== undefined && { description }),
		...(maxInFlight !== undefined && { max_in_flight: Number(maxInFlight) }),
		...(standardWebhooks !== undefined && { standard_webhooks: standardWebhooks }),
	};
}

export async function createWebhook(
	url: string,
	options: ConnectionOptions & SettingsOptions & Required<Pick<SettingsOptions, "events">>,
): Promise<void> {
	const events = parseTypesOrAll(options.events);
	const settings = settingsOf(options);
	const { client, project } = await connect(options);
	const { data } = await client.api.POST(COLLECTION, {
		params: { path: { project_id: project } },
		body: { ...settings, url, events },
	});
	const webhook = data!;
	if (options.json) return printJson(webhook);
	printFields([
		["Id", webhook.id],
		["Secret", `${colors.bold(webhook.secret)}  ${colors.dim("(only shown now: give it to the receiver)")}`],
	]);
}

/** Changes the given settings, and leaves the others as they are. */
export async function updateWebhook(
	id: string,
	{ endpoint, ...options }: ConnectionOptions & SettingsOptions & { readonly endpoint?: string },
): Promise<void> {
	checkArgument(id, "webhook");
	const body = { ...(endpoint !== undefined && { url: endpoint }), ...settingsOf(options) };
	if (Object.keys(body).length === 0)
		throw new UsageError([
			"Choose what to change: --endpoint, --events, --description, --max-in-flight or --standard-webhooks.",
			"To pause or resume it: posthorn webhooks pause, posthorn webhooks resume.",
		]);
	const { client, project } = await connect(options);
	const path = { project_id: project, webhook_id: id };
	const { data } = await known(client.api.PATCH(ONE, { params: { path }, body }));
	if (options.json) return printJson(data);
	console.log(`${id} is changed.`);
}

export async function setStatus(
	id: string,
	status: "active" | "paused",
	{ from, ...options }: ConnectionOptions & { readonly from?: string },
): Promise<void> {
	checkArgument(id, "webhook");
	if (from !== undefined && from !== "now" && from !== "backlog")
		throw new UsageError([`--from is "${from}"; it must be "backlog" or "now".`]);
	const { client, project } = await connect(options);
	const { data } = await known(
		client.api.PATCH(ONE, {
			params: { path: { project_id: project, webhook_id: id } },
			body: { status, ...(from !== undefined && { from }) },
		}),
	);
	if (options.json) return printJson(data);
	console.log(`${id} is ${data!.status}.`);
}

export async function rotateSecret(id: string, options: ConnectionOptions & { readonly yes?: boolean }): Promise<void> {
	checkArgument(id, "webhook");
	const { client, project } = await connect(options);
	await confirm(`Rotate the secret of ${id}? The current one signs nothing from then on.`, options.yes);
	const path = { project_id: project, webhook_id: id };
	const { data } = await known(client.api.POST(`${ONE}/rotate-secret`, { params: { path } }));
	if (options.json) return printJson(data);
	printFields([["Secret", `${colors.bold(data!.secret)}  ${colors.dim("(only shown now: give it to the receiver)")}`]]);
}

export async function deleteWebhook(
	id: string,
	options: ConnectionOptions & { readonly yes?: boolean },
): Promise<void> {
	checkArgument(id, "webhook");
	const { client, project } = await connect(options);
	await confirm(`Delete ${id}? Its pending events won't be sent.`, options.yes);
	await known(client.api.DELETE(ONE, { params: { path: { project_id: project, webhook_id: id } } }));
	if (options.json) return printJson({ id, deleted: true });
	console.log(`${id} is deleted.`);
}
