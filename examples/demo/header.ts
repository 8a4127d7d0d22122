import type { Project, Webhook } from "./api.ts";
import type { DashboardAccess } from "./dashboard.ts";

export interface HeaderContext {
	readonly baseUrl: string;
	readonly key: string;
	readonly project: Project;
	readonly webhooks: readonly { readonly webhook: Webhook; readonly manner: string }[];
	/** The webhook used in the commands for a single webhook. */
	readonly example: Webhook;
	readonly retryDelays: readonly number[];
	readonly attemptTimeout: number;
	readonly basketIdle: number;
	readonly seed: number;
}

type Style = (text: string) => string;

/** What the user needs to know before the feed begins, with commands to copy. `bold` and `dim` style a text. */
export function header(context: HeaderContext, bold: Style, dim: Style): string {
	const { baseUrl, key, project, webhooks, example, seed } = context;
	const projectUrl = `${baseUrl}/v1/projects/${project.id}`;
	const rows: readonly (readonly [string, string])[] = [
		["API", `${baseUrl}/v1`],
		["Reference", `${baseUrl}/docs   (OpenAPI: ${baseUrl}/openapi.json)`],
		["Project", `${project.id}   (${project.name})`],
		...webhooks.map(
			({ webhook, manner }) => [webhook.description, `${webhook.id} → ${webhook.url}   ${manner}`] as const,
		),
	];
	const commands: readonly (readonly [string, string])[] = [
		["Report an order", `${json(ORDER)} $PROJECT/orders`],
		["Publish an event yourself", `${json(EVENT)} $PROJECT/events`],
		["List failed attempts", `"$PROJECT/attempts?status=retrying" "$PROJECT/attempts?status=failed"`],
		["Send a test event", `${json({ type: "purchase.completed" })} $PROJECT/webhooks/${example.id}/test`],
		["Replay dead-lettered deliveries", `${json({ status: "failed" })} $PROJECT/webhooks/${example.id}/replay`],
	];
	return [
		bold("Posthorn: a store's events, delivered to webhooks"),
		"A made-up store reports facts to the real service, which turns them into signed events and delivers those to two HTTPS",
		"receivers on this computer. Each receiver verifies every signature.",
		"",
		...rows.map(([name, value]) => `  ${bold(name.padEnd(14))}${value}`),
		"",
		`  To show retries and baskets soon, delays are short: retries come after ${shortened(context)}`,
		`  Seed of this run: ${seed}. Stop with Ctrl-C.`,
		"",
		bold("Try it, in another terminal:"),
		`  AUTH='Authorization: Bearer ${key}'`,
		`  PROJECT=${projectUrl}`,
		...commands.flatMap(([name, rest]) => [dim(`  # ${name}`), `  curl -H "$AUTH" ${rest}`]),
		"",
	].join("\n");
}

/** How to open the dashboard. */
export function access({ url, email, password }: DashboardAccess, bold: Style, dim: Style): string {
	return `${bold("Dashboard")}  ${url}\n${dim(`           signs you in once; afterwards use ${email}, password ${password}`)}`;
}

/** Options of `curl` that send this as JSON. Its own `--json` needs version 7.82. */
const json = (body: object): string => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;

const ORDER = {
	order_id: "ord_1",
	customer_email: "you@example.com",
	amount_cents: 1999,
	currency: "EUR",
	items: [{ name: "VIP rank, 30 days", quantity: 1 }],
};
const EVENT = { type: "purchase.completed", data: { ...ORDER, order_id: "ord_2" } };

function shortened({ retryDelays, attemptTimeout, basketIdle }: HeaderContext): string {
	const delays = `${retryDelays.join(", ")} s (30 s to 1 h by default);`;
	return `${delays}\n  an attempt may take ${attemptTimeout} s (15 s by default);\n  a basket is abandoned after ${basketIdle} s (24 h by default).`;
}
