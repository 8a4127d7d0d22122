import type { Client, EventType, LogEvent } from "@posthorn/client";
import { colors } from "../../colors.ts";
import { CommandError, UsageError } from "../../command-error.ts";
import { connect } from "../connection.ts";
import { parseTypes } from "../event-types.ts";
import { checkIds } from "../ids.ts";
import { clean, colored, printJson } from "../output.ts";
import type { ReplayOptions } from "../replay.ts";
import { signingSecret } from "../signing-secret.ts";
import { brandOf } from "./listen.ts";
import { parseSpan, positionSince } from "./listen-position.ts";
import { type LocalOutcome, post } from "./local-request.ts";
import { parseTarget } from "./target.ts";

const PAGE = 200;

/**
 * `posthorn replay --to`: sends events of the log to a receiver on this machine, in order, signed with this machine's
 * secret. The webhooks and their delivery log aren't involved. Exit code 1 unless each response is 2xx.
 */
export async function replayHere(to: string, options: ReplayOptions): Promise<void> {
	const { event: id, since, webhook, status, until, dryRun } = options;
	const target = parseTarget(to, options.allowRemote);
	const given = { webhook, status, until, "dry-run": dryRun };
	const others = Object.entries(given).filter(([, value]) => value !== undefined);
	if (others.length > 0)
		throw new UsageError([`--${others[0]![0]} selects deliveries to webhooks, so it can't be combined with --to.`]);
	if ((id === undefined) === (since === undefined))
		throw new UsageError(["Choose what to send: --event evt_…, or --since 2h for the events of the log since then."]);
	checkIds(options);
	const types = options.type && parseTypes(options.type);
	if (id !== undefined && types !== undefined)
		throw new UsageError(["--type selects among the events since a time, so it can't be combined with --event."]);
	const connection = await connect(options);
	const signer = { secret: signingSecret(), brand: await brandOf(connection.url) };
	const events =
		id !== undefined
			? [(await connection.client.get(id)).event]
			: eventsSince(connection.client, parseSpan(since!), types);
	let failed = 0;
	let sent = 0;
	for await (const { id: eventId, type: eventType, raw } of events) {
		const outcome = await post(target, { id: eventId, type: eventType, body: Buffer.from(raw) }, signer);
		sent += 1;
		const succeeded = outcome.kind === "responded" && outcome.status >= 200 && outcome.status < 300;
		if (!succeeded) failed += 1;
		if (options.json) printJson({ event_id: eventId, type: eventType, target: target.href, ...outcome });
		else console.log(lineOf(eventType, eventId, outcome));
		if (outcome.kind === "away") throw new CommandError([`${target.host}: ${clean(outcome.reason)}.`], 1);
	}
	if (sent === 0 && !options.json) console.log("No event matches.");
	if (failed > 0) process.exitCode = 1;
}

async function* eventsSince(
	client: Client,
	span: number,
	types: readonly EventType[] | undefined,
): AsyncGenerator<LogEvent> {
	const end = await client.end();
	let position = await positionSince(client, Date.now() - span);
	while (position.after < end.after) {
		const page = await client.read(position, { limit: PAGE, ...(types && { types }) });
		yield* page.events;
		if (page.events.length === 0) return;
		({ position } = page);
	}
}

function lineOf(type: string, id: string, outcome: LocalOutcome): string {
	const head = `${type.padEnd(21)} ${colors.dim(id)}`;
	return outcome.kind === "away"
		? `${head}  ${colors.red("✘")}`
		: `${head}  → ${colored(outcome.status)}  ${outcome.ms} ms`;
}
