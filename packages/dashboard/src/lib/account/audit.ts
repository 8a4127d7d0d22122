import { listWithAnd } from "../text/list.ts";
import { isolated } from "../text/names.ts";
import { plural } from "../text/numbers.ts";
import { aRole, isRole } from "./roles.ts";

/** Who acted: a person, a program with a key, or the holder of the operator's key. */
interface AuditActor {
	readonly kind: "account" | "api_key" | "operator_key";
	readonly id: string | null;
	readonly name: string | null;
}

export interface AuditEntry {
	readonly id: string;
	readonly at: string;
	readonly actor: AuditActor;
	readonly action: string;
	readonly target: { readonly kind: string; readonly id: string | null; readonly name: string | null } | null;
	readonly detail: Readonly<Record<string, unknown>>;
}

/** The actor's name, for the beginning of a sentence. */
export function actorName({ kind, name, id }: AuditActor): string {
	if (kind === "operator_key") return "The operator's key";
	if (kind === "api_key") return `API key ${isolated(name ?? id ?? "(gone)")}`;
	return isolated(name ?? id ?? "Somebody");
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
	url: "URL",
	description: "description",
	events: "events",
	max_in_flight: "events in flight",
	standard_webhooks: "Standard Webhooks headers",
	status: "status",
};

const roleOf = (role: unknown) => (isRole(role) ? aRole(role) : "a member");

const fieldsOf = ({ fields }: AuditEntry["detail"]) =>
	Array.isArray(fields) ? listWithAnd(fields.map((field) => FIELD_WORDS[String(field)] ?? String(field))) : "settings";

/** The old and the new value, if they are short: one field with a text or a number. */
function fromTo({ fields, from, to }: AuditEntry["detail"]): string {
	const [field, ...others] = Array.isArray(fields) ? fields.map(String) : [];
	if (field === undefined || others.length > 0) return "";
	const [before, after] = [from, to].map((values) => (values as Record<string, unknown> | undefined)?.[field]);
	const isShort = (value: unknown) => typeof value === "number" || (typeof value === "string" && value !== "");
	return isShort(before) && isShort(after) ? `, from ${isolated(String(before))} to ${isolated(String(after))}` : "";
}

const deliveryCount = ({ count }: AuditEntry["detail"], kind = "") =>
	typeof count === "number" ? plural(count, `${kind}delivery`) : `several ${kind}deliveries`;

interface NamedDelivery {
	readonly webhook_id: string;
	readonly event_id: string;
}

/** The deliveries that an action on a selection names: the first ones. */
export const deliveriesIn = ({ detail: { deliveries } }: Pick<AuditEntry, "detail">): readonly NamedDelivery[] =>
	Array.isArray(deliveries) ? deliveries.filter(isNamed) : [];

function isNamed(value: unknown): value is NamedDelivery {
	const { webhook_id, event_id } = (value ?? {}) as Readonly<Record<string, unknown>>;
	return typeof webhook_id === "string" && typeof event_id === "string";
}

/** The action, as parts of a sentence around the target: `["changed the URL of ", TARGET, ""]`. */
type Phrase = readonly [before: string, after?: string];

const LOST = ", because the seal key was lost";

const PHRASES: Readonly<Record<string, (detail: AuditEntry["detail"]) => Phrase>> = {
	"project.created": () => ["created the project "],
	"project.renamed": ({ from }) => [
		"renamed the project to ",
		typeof from === "string" ? `, from ${isolated(from)}` : "",
	],
	"project.listened": ({ target }) => [
		"listened to the events of ",
		typeof target === "string" ? `, forwarding them to ${target}` : "",
	],
	"app.installed": () => ["installed the app "],
	"app.removed": () => ["removed the app ", ", which paused every webhook"],
	"webhook.created": () => ["created the webhook "],
	"webhook.changed": (detail) => [`changed the ${fieldsOf(detail)} of the webhook `, fromTo(detail)],
	"webhook.paused": ({ reason }) => ["paused the webhook ", reason === "seal_key_lost" ? LOST : ""],
	"webhook.resumed": ({ from }) => [
		"resumed the webhook ",
		from === "now" ? ", skipping its backlog" : ", starting with its backlog",
	],
	"webhook.skipped": () => ["skipped the pending deliveries of the webhook "],
	"webhook.secret_rotated": () => ["rotated the signing secret of the webhook "],
	"webhook.secret_lost": () => [
		"discarded the signing secret of the webhook ",
		`${LOST}: rotate it before you resume the webhook`,
	],
	"webhook.tested": ({ type }) => [`sent a test event${typeof type === "string" ? ` (${type})` : ""} to the webhook `],
	"webhook.deleted": () => ["deleted the webhook "],
	"api_key.created": () => ["created the API key "],
	"api_key.revoked": () => ["revoked the API key "],
	"member.invited": ({ role }) => ["invited ", ` as ${roleOf(role)}`],
	"invitation.revoked": () => ["revoked the invitation of "],
	"member.joined": ({ role }) => ["joined the project", isRole(role) ? ` as ${roleOf(role)}` : ""],
	"member.role_changed": ({ role, to }) => ["made ", ` ${roleOf(role ?? to)}`],
	"member.removed": () => ["removed ", " from the project"],
	"delivery.replayed": () => ["replayed a delivery of "],
	"sample.published": ({ type, webhooks }) => [
		"published the sample event ",
		typeof type === "string" ? ` (${type}) to ${webhooks === 1 ? "1 webhook" : `${webhooks} webhooks`}` : "",
	],
	"log.exported": ({ what, format }) => [
		`exported ${what === "attempts" ? "attempts" : "deliveries"} (${String(format)})`,
	],
	"test.cancelled": () => ["cancelled the test event "],
	"delivery.dismissed": () => ["dismissed the failed delivery of "],
	"deliveries.dismissed": (detail) => [`dismissed ${deliveryCount(detail, "failed ")} of `],
	"delivery.retried": () => ["retried a delivery early: "],
	"deliveries.retried": (detail) => [`retried ${deliveryCount(detail)} of `, " early"],
	"deliveries.replayed": (detail) => [`replayed ${deliveryCount(detail)} of `],
};

/** Phrases for invitations that name no one, because they are for anyone who has the link. */
const OPEN_INVITATION: typeof PHRASES = {
	"member.invited": ({ role }) => [`created an invitation link for ${roleOf(role)}`],
	"invitation.revoked": () => ["revoked an invitation link"],
};

const isOpenInvitation = ({ action, target }: AuditEntry) =>
	Object.hasOwn(OPEN_INVITATION, action) && (target?.name ?? "a link") === "a link";

/** Actions whose target is the actor, which the sentence already names. */
const WITHOUT_TARGET = new Set(["member.joined"]);

const APP_NAMES: Readonly<Record<string, string>> = { developer: "Developer" };

export interface AuditSentence {
	readonly actor: string;
	/** From the actor to the target. */
	readonly before: string;
	readonly target: string | null;
	readonly after: string;
}

function targetName({ action, target }: AuditEntry): string | null {
	if (WITHOUT_TARGET.has(action)) return null;
	const name = target?.name ?? target?.id ?? null;
	if (name !== null) return target?.kind === "app" ? (APP_NAMES[name] ?? name) : isolated(name);
	if (/^deliveries\.(replayed|retried|dismissed)$/.test(action)) return "the project";
	return null;
}

/** An entry of the audit log as a sentence. An unknown action appears under its own name. */
export function auditSentence(entry: AuditEntry): AuditSentence {
	const phrase = isOpenInvitation(entry)
		? OPEN_INVITATION[entry.action]
		: Object.hasOwn(PHRASES, entry.action)
			? PHRASES[entry.action]
			: undefined;
	const [before, after = ""] = phrase === undefined ? [`did ${entry.action} to `] : phrase(entry.detail);
	const target = isOpenInvitation(entry) ? null : targetName(entry);
	return {
		actor: actorName(entry.actor),
		before: target === null ? before.replace(/ (of|to)? ?$/, "") : before,
		target,
		after,
	};
}
