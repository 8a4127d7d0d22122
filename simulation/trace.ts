/** A world as a readable timeline: when, which node, what happened. */
import type { NewAttempt } from "../packages/server/src/storage/port.ts";
import type { Act, Happening } from "./happenings.ts";
import type { SeenRequest } from "./network/types.ts";
import type { Breach } from "./oracle/oracle.ts";

type Paint = (code: string, text: string) => string;

const PLAIN: Paint = (_, text) => text;
const COLOURED: Paint = (code, text) => `\x1b[${code}m${text}\x1b[0m`;

const GREY = "90";
const RED = "31";
const GREEN = "32";
const YELLOW = "33";
const BLUE = "34";
const MAGENTA = "35";
const CYAN = "36";

/** A line of the timeline. */
interface Line {
	/** The node, or who else: `people`, `fault`. */
	readonly who: string;
	readonly colour: string;
	readonly verb: string;
	readonly text: string;
}

export class Trace {
	readonly #paint: Paint;
	readonly #names = new Map<string, string>();
	readonly #write: (line: string) => void;

	/** @param coloured for terminals */
	constructor(write: (line: string) => void, coloured: boolean) {
		this.#write = write;
		this.#paint = coloured ? COLOURED : PLAIN;
	}

	tell(happening: Happening): void {
		this.#learn(happening);
		const line = this.#lineOf(happening);
		if (line) this.#print(happening.at, line);
	}

	broken({ promise, message, at, projectId, webhookId, eventId }: Breach): void {
		const about = [projectId, webhookId, eventId].filter((id) => id !== undefined).map((id) => this.#name(id));
		this.#print(at, { who: "oracle", colour: RED, verb: "BROKEN", text: `${promise}: ${about.join(", ")} ${message}` });
	}

	#print(at: number, { who, colour, verb, text }: Line): void {
		const paint = this.#paint;
		this.#write(
			`${paint(GREY, timeText(at))}  ${paint(BLUE, who.padEnd(6))}  ${paint(colour, verb.padEnd(12))}  ${text}`,
		);
	}

	/** Gives everything a short name: project `p1`, its webhook `p1/w2`, its event `p1#7`. */
	#learn(happening: Happening): void {
		if (happening.kind === "project created") this.#names.set(happening.projectId, happening.name);
		else if (happening.kind === "webhook created") {
			const { id, url } = happening.webhook;
			this.#names.set(id, nameOf(url));
		} else if (happening.kind === "appended")
			for (const { id, seq } of happening.events) this.#names.set(id, `${this.#name(happening.projectId)}#${seq}`);
		else if (happening.kind === "test queued")
			this.#names.set(happening.event.id, `${this.#name(happening.projectId)} test`);
	}

	#name(id: string): string {
		return this.#names.get(id) ?? id;
	}

	#lineOf(happening: Happening): Line | null {
		const node = "node" in happening ? happening.node : "request" in happening ? happening.request.node : "";
		const line = (colour: string, verb: string, text: string, who = node): Line => ({ who, colour, verb, text });
		switch (happening.kind) {
			case "started":
			case "stopping":
			case "stopped":
				return line(MAGENTA, happening.kind, "");
			case "crashed":
			case "froze":
			case "thawed":
				return line(RED, happening.kind, "");
			case "logged":
				return line(
					GREY,
					happening.level,
					happening.text.replaceAll(/\w+_[0-9a-z]{26}/g, (id) => this.#name(id)),
				);
			case "fault":
				return line(RED, `fault ${happening.phase}`, happening.text, "world");
			case "restored":
				return line(RED, "failover", "the database continues from an earlier state", "world");
			case "calm":
				return line(MAGENTA, "calm", "all faults end", "world");
			case "asked":
				return line(CYAN, "asked", `${this.#act(happening.act)}  (call ${happening.call})`);
			case "answered":
				return line(CYAN, "answered", `${this.#act(happening.act)}: ${happening.answer}  (call ${happening.call})`, "");
			case "unanswered":
				return line(
					YELLOW,
					"unanswered",
					`${this.#act(happening.act)}: ${happening.why}  (call ${happening.call})`,
					"",
				);
			case "appended":
				return line(GREEN, "appended", happening.events.map(({ id, type }) => `${this.#name(id)} ${type}`).join(", "));
			case "webhook created":
				return line(
					GREEN,
					"stored",
					`${this.#name(happening.webhook.id)} for ${happening.webhook.events.length} types, ${happening.webhook.maxInFlight} in flight`,
				);
			case "webhook updated":
				return line(GREEN, "stored", `${this.#name(happening.webhookId)} ${JSON.stringify(happening.patch)}`);
			case "secret rotated":
				return line(GREEN, "stored", `${this.#name(happening.webhookId)} has a new secret`);
			case "webhook deleted":
				return line(GREEN, "stored", `${this.#name(happening.webhookId)} is deleted`);
			case "app changed":
				return line(
					GREEN,
					"stored",
					`${this.#name(happening.projectId)} app ${happening.installed ? "installed" : "taken off"}`,
				);
			case "test queued":
				return line(GREEN, "stored", `test event for ${this.#name(happening.webhookId)}`);
			case "replay begun":
				return line(
					GREEN,
					"stored",
					`replay ${happening.replay} of ${this.#name(happening.eventId)} to ${this.#name(happening.webhookId)}`,
				);
			case "replays begun":
				return line(
					GREEN,
					"stored",
					`${happening.count} replays of ${this.#name(happening.webhookId ?? happening.projectId)}`,
				);
			case "retries made early":
				return line(
					GREEN,
					"stored",
					`${happening.seqs?.length ?? 1} retries of ${this.#name(happening.webhookId)} are due now`,
				);
			case "settled":
				return happening.settlement.attempts.length === 0
					? null
					: line(
							GREEN,
							"settled",
							`${happening.settlement.attempts.map((one) => this.#attempt(one)).join(", ")}${happening.handedOver ? ", handed over" : ""}  (generation ${happening.settlement.generation})`,
						);
			case "settle refused":
				return line(YELLOW, "refused", happening.attempts.map((one) => this.#attempt(one)).join(", "));
			case "leased":
			case "kept":
				return line(
					GREY,
					happening.kind,
					`${this.#name(happening.lease.projectId)}  (generation ${happening.lease.generation})`,
				);
			case "released": {
				const { lease, inFlight } = happening;
				const flying = inFlight.length > 0 ? `, ${inFlight.length} in flight` : "";
				return line(GREY, "released", `${this.#name(lease.projectId)}${flying}  (generation ${lease.generation})`);
			}
			case "swept":
				return line(
					GREY,
					"swept",
					`${happening.deleted} ${happening.what} from before ${new Date(happening.cutoff).toISOString()}`,
				);
			case "sent":
				return line(GREY, "sent", this.#request(happening.request));
			case "received":
				return line(GREY, "received", this.#request(happening.request));
			case "responded":
				return line(GREY, "responded", `${this.#request(happening.request)}: ${happening.status}`);
			case "broken":
				return line(YELLOW, "broken", `${this.#request(happening.request)}: ${happening.why}`);
			default:
				return null;
		}
	}

	#request({ no, url, headers }: SeenRequest): string {
		const eventId = headers.get("x-posthorn-event-id") ?? "";
		return `${this.#name(eventId)} to ${url}  (request ${no})`;
	}

	#attempt({ webhookId, seq, attempt, replay, status, statusCode, errorCode, nextRetryAt }: NewAttempt): string {
		const series = replay > 0 ? ` of replay ${replay}` : "";
		const due = nextRetryAt === null ? "" : `, again at ${new Date(nextRetryAt).toISOString().slice(11, 23)}`;
		return `#${seq} to ${this.#name(webhookId)} attempt ${attempt}${series}: ${statusCode ?? errorCode}, ${status}${due}`;
	}

	#act(act: Act): string {
		const project = this.#name(act.projectId);
		switch (act.act) {
			case "publish":
				return `publish ${act.ids.length} to ${project}`;
			case "fact":
				return `${act.what} in ${project}`;
			case "create":
				return `create webhook ${act.url} in ${project}`;
			case "update":
				return `update ${this.#name(act.webhookId)} ${JSON.stringify(act.patch)}`;
			case "test":
				return `test ${this.#name(act.webhookId)} with ${act.type}`;
			case "replay":
				return `replay ${this.#name(act.eventId)} to ${this.#name(act.webhookId)}`;
			case "replay matching":
				return `replay what failed of ${act.webhookId === null ? project : this.#name(act.webhookId)}`;
			case "retry now":
				return `retry what is pending for ${this.#name(act.webhookId)}`;
			case "read":
				return `read ${project} after ${act.after}`;
			case "app":
				return `${act.installed ? "install" : "take off"} the app of ${project}`;
			default:
				return `${act.act} ${this.#name(act.webhookId)}`;
		}
	}
}

/** The receiver `w2.p1.example` is that of the webhook `p1/w2`. */
function nameOf(url: string): string {
	const [webhook, project] = new URL(url).hostname.split(".");
	return `${project}/${webhook}`;
}

/** Such as `2d 03:15:00.250`. */
export function timeText(ms: number): string {
	const whole = Math.floor(ms);
	const [days, rest] = [Math.floor(whole / 86_400_000), whole % 86_400_000];
	return `${days}d ${new Date(rest).toISOString().slice(11, 23)}`.padStart(17);
}
