/** The commands for developers and publishers, which talk to a service through its API. */
import { type Command, Option } from "commander";

export const CLIENT_EXAMPLES: Readonly<Record<string, string>> = {
	login: `
POSTHORN_URL, POSTHORN_API_KEY and POSTHORN_PROJECT take precedence over stored values, even without a terminal.
POSTHORN_API_KEY_FILE names a file with the key instead.

Examples:
  posthorn login --url https://hooks.example.com
  POSTHORN_API_KEY=phk_… posthorn login --url http://127.0.0.1:8420`,
	logout: `
Examples:
  posthorn logout`,
	listen: `
Events are signed with a secret of this machine, which is printed as WEBHOOK_SECRET=…, and sent in order, one at a time.
Any response counts as received, even 503. While the receiver is away (nothing listens, the connection breaks, or a
proxy responds with 502 or 504), the same event is sent again. The position is stored after each event: a restart within
a day continues there, a later one starts with new events.

The delivery log isn't affected. The project's audit log says who listened, when, and to which types. Replays and test
events go to webhooks, not here: "posthorn replay --event evt_… --to 3000/hooks" sends one here. At a terminal, r sends
the last event again, and q quits.

Examples:
  posthorn listen 3000/hooks
  posthorn listen 3000/hooks --events purchase.completed,purchase.refunded --since 2h
  WEBHOOK_SECRET=$(posthorn listen --print-secret) node server.mjs`,
	trigger: `
With --to the event is the catalogue's sample, signed with the secret of "posthorn listen" (or WEBHOOK_SECRET) and sent
from this machine: it needs neither a service nor a key. Exit code 1 unless the receiver responds with 2xx.

Examples:
  posthorn trigger --list
  posthorn trigger purchase.completed --to 3000/hooks
  posthorn trigger purchase.completed --to 3000/hooks --set order_id=ord_7 --set items.0.quantity=3
  posthorn trigger purchase.completed --to 3000/hooks --raw broken.json
  posthorn trigger purchase.completed --webhook wh_…
  posthorn trigger delivery.success --data @event.json --publish`,
	verify: `
Give the raw body and the headers as they arrived. The secret comes from WEBHOOK_SECRET, --secret-file or a prompt. With
--event it fetches the bytes that were sent, and shows the first that differs; with --json, "byte" counts from 0. Exit
code 1 if anything is wrong.

Examples:
  posthorn verify --body body.json --timestamp 1795232856 --signature 5257a8…
  posthorn verify --body body.json -H "X-Service-Timestamp: 1795232856" -H "X-Service-Signature: 5257a8…"
  posthorn verify --body body.json --event evt_…`,
	events: `
Examples:
  posthorn events list
  posthorn events list --type purchase.completed --since 2h --json
  posthorn events get evt_…`,
	logs: `
In a list, ✔ marks attempts that were delivered, ↻ those with a retry, and ✘ the last ones of failed deliveries. #2 is a
delivery's second attempt, #1r3 the first one of its third replay. Ids tell apart webhooks with the same URL.

Examples:
  posthorn logs tail
  posthorn logs tail --webhook wh_… --status failed
  posthorn logs list --since 1h --limit 200 --json
  posthorn logs get att_…
  posthorn logs get evt_… --webhook wh_…`,
	replay: `
Shows how many deliveries match and asks. By default, it replays failed (dead-lettered) ones. Receivers get the same
event ids, so those that skip duplicates won't handle an event twice.

With --to no webhook is involved: events of the log, or a test event, are sent to a receiver on this machine, in order
and signed with its secret, as "posthorn listen" sends them. Exit code 1 unless it responds with 2xx.

Examples:
  posthorn replay --webhook wh_… --since 2h
  posthorn replay --event evt_… --status any --yes
  posthorn replay --since 1d --dry-run
  posthorn replay --event evt_… --to 3000/hooks`,
	retry: `
With --webhook it shows how many deliveries wait for a retry there, and asks. With --event it doesn't ask. An early
retry counts like any other, so a delivery gets no extra attempts. Finished deliveries aren't sent again: "posthorn
replay" does that.

Examples:
  posthorn retry --event evt_…
  posthorn retry --event evt_… --webhook wh_…
  posthorn retry --webhook wh_…
  posthorn retry --webhook wh_… --yes`,
	webhooks: `
Examples:
  posthorn webhooks list
  posthorn webhooks get wh_…
  posthorn webhooks create https://example.com/hooks --events purchase.completed,purchase.refunded
  posthorn webhooks create https://example.com/hooks --events all
  posthorn webhooks update wh_… --endpoint https://example.com/new
  posthorn webhooks update wh_… --events all --description Accounting
  posthorn webhooks pause wh_…
  posthorn webhooks resume wh_… --from now
  posthorn webhooks rotate-secret wh_…
  posthorn webhooks delete wh_… --yes`,
};

/** The parent's examples of this subcommand. */
function examplesOf(parent: string, name: string): string {
	const lines = CLIENT_EXAMPLES[parent]?.split("\n").filter((line) => line.startsWith(`  posthorn ${parent} ${name}`));
	return lines === undefined || lines.length === 0 ? "" : `\nExamples:\n${lines.join("\n")}`;
}

/** Parses an option that can be repeated. */
export const many = (text: string, others: readonly string[] = []): readonly string[] => [...others, text];

/** What an option by which events are chosen is for, and its parser. */
const TYPES = ["only these types, separated by commas; can be repeated", many] as const;

/** Options of commands that talk to a service. */
function withConnection(command: Command): Command {
	return command
		.addOption(new Option("--url <url>", "the service (POSTHORN_URL)").helpGroup("Connection:"))
		.addOption(new Option("--project <id>", "the project (POSTHORN_PROJECT)").helpGroup("Connection:"));
}

/** Adds the commands. Each imports its modules when it is run. */
export function addClientCommands(program: Command): void {
	const command = (nameAndArgs: string, description: string, parent = program) => {
		const name = nameAndArgs.split(" ")[0]!;
		return parent
			.command(nameAndArgs)
			.description(description)
			.addHelpText("after", parent === program ? (CLIENT_EXAMPLES[name] ?? "") : examplesOf(parent.name(), name));
	};

	withConnection(command("login", "Store the address and API key of a service for the commands below.")).action(
		async (_, self: Command) => (await import("./login.ts")).login(self.optsWithGlobals()),
	);
	command("logout", "Delete the stored address and key.").action(async (_, self: Command) =>
		(await import("./login.ts")).logout(self.optsWithGlobals()),
	);

	withConnection(command("listen [target]", "Forward events to a receiver on this machine, signed and in order."))
		.option("--events <types>", ...TYPES)
		.option("--since <span>", "start with the events of the last 90s, 10m, 2h or 1d")
		.option("--from <event>", "start with this event, or with new ones (now)")
		.option("--allow-remote", "also forward to another machine")
		.option("--print-secret", "only print this machine's signing secret")
		.action(async (target: string | undefined, _, self: Command) =>
			(await import("./listen/listen.ts")).listen(target, self.optsWithGlobals()),
		);

	withConnection(command("trigger [type]", "Send a sample event to a receiver, signed on this machine."))
		.option("--to <target>", "the receiver, such as 3000/hooks")
		.option("--set <field=value>", "change a field of the data, such as items.0.quantity=3; can be repeated", many)
		.option("--data <json>", "the data instead of the sample: JSON, or @file")
		.option("--raw <file>", "send the bytes of this file as the body (- for standard input)")
		.option("--id <id>", "the event's id; a new one by default")
		.option("--brand <word>", "the word in the header names, if the operator changed it")
		.option("--allow-remote", "with --to, also send to another machine")
		.option("--webhook <id>", "have the service send a test event to this webhook instead")
		.option("--publish", "publish the event in the project instead; asks first")
		.option("--yes", "don't ask")
		.option("--list", "list the event types")
		.action(async (type: string | undefined, _, self: Command) =>
			(await import("./trigger.ts")).trigger(type, self.optsWithGlobals()),
		);

	withConnection(command("verify", "Check a request's signature, and find out why it doesn't match."))
		.option("--body <file>", "the raw body; standard input by default")
		.option("-H, --header <header>", '"Name: value"; can be repeated', many)
		.option("--timestamp <seconds>", "instead of the timestamp header")
		.option("--signature <hex>", "instead of the signature header")
		.option("--secret-file <file>", "a file with the signing secret (or WEBHOOK_SECRET)")
		.option("--brand <word>", "the word in the header names, if the operator changed it")
		.option("--event <id>", "compare the body with the bytes that were sent")
		.action(async (_, self: Command) => (await import("./verify.ts")).verify(self.optsWithGlobals()));

	const events = command("events", "Read the event log.");
	withConnection(command("list", "List the newest events.", events))
		.option("--type <types>", ...TYPES)
		.option("--since <span>", "only from the last 90s, 10m, 2h or 1d")
		.option("--limit <count>", "how many", "20")
		.action(async (_, self: Command) => (await import("./events.ts")).listEvents(self.optsWithGlobals()));
	withConnection(
		command("get <event>", "Show an event; with --json, exactly the bytes that were sent, and a line break.", events),
	).action(async (id: string, _, self: Command) => (await import("./events.ts")).getEvent(id, self.optsWithGlobals()));

	const logs = command("logs", "Read the delivery log.");
	const logFilters = (one: Command) =>
		withConnection(one)
			.option("--webhook <id>", "only this webhook's attempts")
			.option("--type <types>", ...TYPES)
			.option("--status <status>", "delivered, retrying or failed")
			.option("--event <id>", "only this event's attempts")
			.option("--since <span>", "only from the last 90s, 10m, 2h or 1d");
	logFilters(command("tail", "Show attempts as they are made, until Ctrl-C.", logs))
		.option("--limit <count>", "how many past attempts to show first", "10")
		.action(async (_, self: Command) => (await import("./logs/tail.ts")).tailLogs(self.optsWithGlobals()));
	logFilters(command("list", "List the newest attempts.", logs))
		.option("--limit <count>", "how many", "50")
		.action(async (_, self: Command) => (await import("./logs/list.ts")).listLogs(self.optsWithGlobals()));

	withConnection(command("get <id>", "Show an attempt in full, or an event's newest one.", logs))
		.option("--webhook <id>", "with an event: its newest attempt for this webhook")
		.action(async (id: string, _, self: Command) => (await import("./logs/get.ts")).getLog(id, self.optsWithGlobals()));

	withConnection(command("replay", "Send finished deliveries again."))
		.option("--webhook <id>", "only this webhook's")
		.option("--type <types>", ...TYPES)
		.option("--status <status>", "failed (the default), delivered or any")
		.option("--event <id>", "only this event")
		.option("--since <span>", "only if the newest attempt was in the last 90s, 10m, 2h or 1d")
		.option("--until <span>", "only if the newest attempt is older than this")
		.option(
			"--to <target>",
			"send events of the log (--event, or --since with --type) to a receiver here, not to webhooks",
		)
		.option("--allow-remote", "with --to, also send to another machine")
		.option("--dry-run", "only count them")
		.option("--yes", "don't ask")
		.action(async (_, self: Command) => (await import("./replay.ts")).replay(self.optsWithGlobals()));

	withConnection(command("retry", "Make pending retries now, instead of when they are due."))
		.option("--event <id>", "this event's deliveries")
		.option("--webhook <id>", "all deliveries to this webhook; with --event, only the one to it")
		.option("--yes", "don't ask")
		.action(async (_, self: Command) => (await import("./retry.ts")).retry(self.optsWithGlobals()));

	const webhooks = command("webhooks", "List, create and change webhooks.");
	withConnection(command("list", "List the project's webhooks.", webhooks)).action(async (_, self: Command) =>
		(await import("./webhooks.ts")).listWebhooks(self.optsWithGlobals()),
	);
	withConnection(command("get <webhook>", "Show a webhook.", webhooks)).action(async (id: string, _, self: Command) =>
		(await import("./webhooks.ts")).getWebhook(id, self.optsWithGlobals()),
	);
	const settings = (one: Command) =>
		one
			.option("--description <text>", "what it is for")
			.option("--max-in-flight <count>", "how many first attempts may be in flight; 1 keeps the order of events")
			.option("--standard-webhooks", "also send the headers of Standard Webhooks");
	settings(
		withConnection(
			command("create <endpoint>", "Register an endpoint, and print its secret once.", webhooks),
		).requiredOption("--events <types>", "the event types, separated by commas, or all", many),
	).action(async (url: string, _, self: Command) => {
		const { url: service, ...options } = self.optsWithGlobals();
		await (await import("./webhooks.ts")).createWebhook(url, { ...options, ...(service && { url: service }) });
	});
	settings(
		withConnection(
			command("update <webhook>", "Change a webhook's settings. Those that aren't given stay as they are.", webhooks),
		)
			.option("--endpoint <url>", "where events are sent from now on, retries too")
			.option("--events <types>", "all event types that it gets from now on, separated by commas, or all", many),
	)
		.option("--no-standard-webhooks", "no longer send these headers")
		.action(async (id: string, _, self: Command) =>
			(await import("./webhooks.ts")).updateWebhook(id, self.optsWithGlobals()),
		);
	withConnection(command("pause <webhook>", "Send nothing until it is resumed; events wait.", webhooks)).action(
		async (id: string, _, self: Command) =>
			(await import("./webhooks.ts")).setStatus(id, "paused", self.optsWithGlobals()),
	);
	withConnection(command("resume <webhook>", "Send again.", webhooks))
		.option("--from <where>", "backlog (the events that waited, the default) or now")
		.action(async (id: string, _, self: Command) =>
			(await import("./webhooks.ts")).setStatus(id, "active", self.optsWithGlobals()),
		);
	withConnection(command("rotate-secret <webhook>", "Replace the signing secret.", webhooks))
		.option("--yes", "don't ask")
		.action(async (id: string, _, self: Command) =>
			(await import("./webhooks.ts")).rotateSecret(id, self.optsWithGlobals()),
		);
	withConnection(command("delete <webhook>", "Delete a webhook.", webhooks))
		.option("--yes", "don't ask")
		.action(async (id: string, _, self: Command) =>
			(await import("./webhooks.ts")).deleteWebhook(id, self.optsWithGlobals()),
		);
}
