/**
 * `posthorn listen`: forwards a project's events to a receiver on this machine.
 *
 * Events come from the log, in order and one at a time. An event is done once the receiver has responded, with whatever
 * status; then its position is stored. While nothing listens there, the connection breaks, or a proxy in front can't reach
 * the receiver (502 and 504, which receivers don't send themselves), the same event is sent again. So whichever side
 * restarts, nothing is lost and the order stays; the event in flight may arrive twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type EventType, type LogEvent, type Position } from "@posthorn/client";
import { DEFAULT_BRAND } from "@posthorn/protocol";
import { colors } from "../../colors.ts";
import { UsageError } from "../../command-error.ts";
import { listenForStop } from "../../stop-signals.ts";
import { type Connection, type ConnectionOptions, connect } from "../connection.ts";
import { parseTypes } from "../event-types.ts";
import { ago, clean, clockTime, colored, note, printJson, warn } from "../output.ts";
import { localSecret } from "../stored.ts";
import { hasKeys, watchKeys } from "./keys.ts";
import { ProgressFile, parseSpan, positionBefore, positionSince } from "./listen-position.ts";
import { type LocalOutcome, post, type Signer } from "./local-request.ts";
import { parseTarget } from "./target.ts";

export interface ListenOptions extends ConnectionOptions {
	readonly events?: readonly string[];
	readonly since?: string;
	readonly from?: string;
	readonly allowRemote?: boolean;
	readonly printSecret?: boolean;
}

/** How long to wait before sending to a receiver that is away again, milliseconds. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 3_000;
/** A delivery would have failed by now. */
const SLOW_MS = 15_000;
const BODY_CHARACTERS = 120;
/** What a proxy in front of the receiver responds while it can't reach it. */
const UNREACHED: Readonly<Record<number, string>> = { 502: "502 Bad Gateway", 504: "504 Gateway Timeout" };

export async function listen(to: string | undefined, options: ListenOptions): Promise<void> {
	const secret = localSecret();
	if (options.printSecret) return options.json ? printJson({ secret }) : console.log(secret);
	if (to === undefined)
		throw new UsageError(["Where should events go? Name the receiver, such as: posthorn listen 3000/hooks"]);
	const target = parseTarget(to, options.allowRemote);
	const types = options.events && parseTypes(options.events);
	if (options.since !== undefined && options.from !== undefined)
		throw new UsageError(["--since and --from can't be combined."]);
	const { since, from } = options;
	if (from !== undefined && from !== "now" && !from.startsWith("evt_"))
		throw new UsageError([`--from is "${from}"; it must be "now" or the id of an event, evt_….`]);
	const span = since === undefined ? null : { text: since, ms: parseSpan(since) };
	const stop = new AbortController();
	let forwarder: Forwarder | undefined;
	const releaseKeys = watchKeys({
		r: () => forwarder?.resend(stop.signal),
		// Until there is something to stop, such as while the service hangs, it ends the process, as Ctrl-C does.
		q: () => (forwarder === undefined ? process.exit(130) : stop.abort(new Stopped())),
	});
	try {
		const connection = await connect(options);
		const progress = new ProgressFile(connection.url, connection.project, target, types ?? null);
		const start = await startingPoint(connection, progress, from, span);
		await record(connection, target, types);
		const signer = { secret, brand: await brandOf(connection.url) };
		forwarder = new Forwarder(target, signer, options.json === true);

		const signals = listenForStop();
		void signals.first.then(() => stop.abort(new Stopped()));
		void signals.second.then(() => process.exit(130));

		if (!options.json) console.log(`WEBHOOK_SECRET=${secret}`);
		note(`Forwarding ${types ? types.join(", ") : "all events"} of ${connection.project} to ${target.href}`);
		note(start.message);
		note(`Replays and test events go to webhooks, not here. Send one here: posthorn replay --event evt_… --to ${to}`);
		if (hasKeys()) note("r sends the last event again, q or Ctrl-C ends.");
		if (options.json)
			printJson({ kind: "ready", target: target.href, project: connection.project, from: start.position });
		await forward(connection, forwarder, progress, start, types, stop.signal);
	} catch (error) {
		if (!(stop.signal.reason instanceof Stopped)) throw error;
	} finally {
		releaseKeys();
	}
	note("Stopped. Run the same command to continue from here.");
}

/** Records in the audit log who listens. Services of earlier versions lack this route. */
async function record({ client, project }: Connection, { host }: URL, types: readonly EventType[] | undefined) {
	try {
		await client.api.POST("/v1/projects/{project_id}/listeners", {
			params: { path: { project_id: project } },
			body: { target: host, ...(types && { types: [...new Set(types)] }) },
		});
	} catch (error) {
		if (!(error instanceof ApiError && error.status === 404)) throw error;
	}
}

/** Reads the log and hands each event on, storing the position after each. */
async function forward(
	{ client }: Connection,
	forwarder: Forwarder,
	progress: ProgressFile,
	start: Start,
	types: readonly EventType[] | undefined,
	signal: AbortSignal,
): Promise<void> {
	let position = start.position;
	let { delivered } = start;
	let isAway = false;
	progress.write(position, delivered);
	const pages = client.follow({
		from: position,
		...(types && { types }),
		signal,
		onRetry(error) {
			if (!isAway) warn(`${clean(error.message)} Waiting for the service.`);
			isAway = true;
		},
		onLogBehind: (error) => warn(`The log has lost events: ${clean(error.detail)} Continuing from there.`),
	});
	for await (const { events, position: end } of pages) {
		if (isAway) note("The service is back.");
		isAway = false;
		for (const event of afterDelivered(events, delivered)) {
			await forwarder.deliver(event, signal);
			delivered = event.id;
			progress.write(position, delivered);
		}
		delivered = undefined;
		position = end;
		progress.write(position);
	}
}

/** The events of a page that are still to be delivered; all, if the last delivered one isn't among them. */
function afterDelivered(events: readonly LogEvent[], delivered: string | undefined): readonly LogEvent[] {
	return events.slice(events.findIndex(({ id }) => id === delivered) + 1);
}

/** Ctrl-C or `q`. */
class Stopped extends Error {}

interface Start {
	readonly position: Position;
	readonly delivered?: string | undefined;
	/** For people: where it begins, and why. */
	readonly message: string;
}

async function startingPoint(
	{ client }: Connection,
	progress: ProgressFile,
	from: string | undefined,
	span: { readonly text: string; readonly ms: number } | null,
): Promise<Start> {
	if (span !== null) {
		const position = await positionSince(client, Date.now() - span.ms);
		return { position, message: `Starting with events from the last ${span.text}.` };
	}
	if (from === "now") return { position: await client.end(), message: "Beginning now." };
	if (from !== undefined) return { position: await positionBefore(client, from), message: `Starting with ${from}.` };
	const stored = progress.read();
	if (stored === null) return { position: await client.end(), message: "Beginning now." };
	const since = ago(new Date(stored.at).toISOString());
	return { ...stored, message: `Continuing where it stopped ${since}. To skip the events since then: --from now` };
}

/** The word in the service's header names, which only its OpenAPI document tells; the default if it can't be read. */
export async function brandOf(url: string): Promise<string> {
	try {
		const document = await (await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(SLOW_MS) })).text();
		return /"X-([A-Za-z0-9-]+)-Event-Id"/.exec(document)?.[1] ?? DEFAULT_BRAND;
	} catch {
		return DEFAULT_BRAND;
	}
}

/** Sends events to the receiver, one at a time, and shows the results. */
class Forwarder {
	readonly #target: URL;
	readonly #signer: Signer;
	readonly #json: boolean;
	/** The requests so far, so that the next one waits for them. */
	#sending: Promise<void> = Promise.resolve();
	#last: LogEvent | undefined;
	/** Why the receiver is away, as last shown; null while it responds. */
	#away: string | null = null;
	#hasFailed = false;

	constructor(target: URL, signer: Signer, json: boolean) {
		this.#target = target;
		this.#signer = signer;
		this.#json = json;
	}

	/** Resolves once the receiver has responded, however long it is away. */
	async deliver(event: LogEvent, signal: AbortSignal): Promise<void> {
		const delivering = this.#sending.then(() => this.#untilThere(event, signal));
		this.#sending = delivering.catch(() => {});
		await delivering;
		this.#last = event;
	}

	/** Sends the last event again. */
	resend(signal: AbortSignal): void {
		const event = this.#last;
		if (event === undefined) {
			note("There is no event to send again yet.");
			return;
		}
		this.#sending = this.#sending
			.then(async () => {
				this.#show(event, await this.#post(event, signal), "again");
			})
			.catch(() => {});
	}

	async #untilThere(event: LogEvent, signal: AbortSignal): Promise<void> {
		for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
			const outcome = await this.#post(event, signal);
			const reason = awayReason(outcome);
			if (reason === null) {
				if (this.#away !== null) note("The receiver is back.");
				this.#away = null;
				return this.#show(event, outcome);
			}
			if (reason !== this.#away) this.#showAway(event, reason);
			this.#away = reason;
			await sleep(wait, undefined, { signal });
		}
	}

	async #post(event: LogEvent, signal: AbortSignal): Promise<LocalOutcome> {
		const slow = setTimeout(
			() => warn(`${event.id}: no response for ${SLOW_MS / 1_000} s; a delivery would have failed by now.`),
			SLOW_MS,
		);
		try {
			const { id, type, raw } = event;
			return await post(this.#target, { id, type, body: Buffer.from(raw) }, this.#signer, signal);
		} finally {
			clearTimeout(slow);
		}
	}

	#showAway(event: LogEvent, reason: string): void {
		if (this.#json) printJson({ kind: "receiver_away", event_id: event.id, type: event.type, reason });
		else warn(`${this.#target.host}: ${clean(reason)}. Waiting for it; ${event.type} ${event.id} comes first.`);
	}

	#show({ id, type, created_at }: LogEvent, outcome: LocalOutcome, how = ""): void {
		if (this.#json) {
			const { kind, ...rest } = outcome;
			printJson({ kind, event_id: id, type, created_at, ...rest, ...(how && { resent: true }) });
			return;
		}
		const head = `${clockTime()}  ${type.padEnd(21)} ${colors.dim(id)}`;
		if (outcome.kind === "away") {
			console.log(`${head}  ${colors.red("✘")} ${clean(outcome.reason)}`);
			return;
		}
		const { status, ms, body } = outcome;
		const said = status < 300 ? "" : `  ${clean(body.trim().slice(0, BODY_CHARACTERS))}`;
		console.log(`${head}  → ${colored(status)}  ${ms} ms${how && `  ${colors.dim(how)}`}${said}`.trimEnd());
		if (status >= 200 && status < 300) return;
		if (!this.#hasFailed) note("A webhook would get this event again later. Here it counts as received.");
		this.#hasFailed = true;
	}
}

/** Why this outcome means the receiver is away; null if the receiver itself responded. */
function awayReason(outcome: LocalOutcome): string | null {
	if (outcome.kind === "away") return outcome.reason;
	const unreached = UNREACHED[outcome.status];
	if (unreached === undefined) return null;
	const said = outcome.body.trim().slice(0, BODY_CHARACTERS);
	return `a proxy responds with ${unreached}${said && `: ${said}`}`;
}
