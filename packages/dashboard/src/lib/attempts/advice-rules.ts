/**
 * Advice that follows from what a receiver says about itself, in the body or the header fields of its response: the
 * pages of frameworks, proxies and hosting services, and the messages of code that checks signatures. The first rule
 * that fits counts.
 */
import type { Certificate } from "@posthorn/protocol";
import { inertText } from "../text/json-text-inert.ts";

/** Why an attempt ended as it did, and what to try. */
export interface Advice {
	readonly why: string;
	/**
	 * Most likely first; none for a delivered attempt, or for a failed one whose delivery has succeeded since. The first one
	 * makes sense without `why` and the response: a webhook's page shows only that.
	 */
	readonly tries: readonly string[];
}

/** What the advice is made from. */
export interface Failure {
	readonly url: string;
	readonly host: string;
	/** Whether more attempts follow. */
	readonly isRetried: boolean;
	/** Whether they wait until the webhook is resumed. */
	readonly isHeld: boolean;
	/** How long the attempt took: `15.0 s`. */
	readonly took: string;
	/** The beginning of the response's body. */
	readonly body: string;
	/** Some of its header fields, names in lower case. */
	readonly headers: Readonly<Record<string, string>>;
	readonly dns: string | null;
	readonly certificate: Certificate | null;
	/** When the attempt began, milliseconds since the Unix epoch. */
	readonly startedAt: number;
}

export const SETTINGS = "in the webhook's settings";

type Ahead = Pick<Failure, "isRetried" | "isHeld">;

/** How the event arrives once the cause is gone: `Once it's back, replay it.` */
export function once(isGone: string, { isRetried, isHeld }: Ahead): string {
	return `Once ${isGone}, ${isHeld ? "resume the webhook" : isRetried ? "retries arrive automatically" : "replay it"}.`;
}

export const onceFixed = (failure: Ahead): string => once("it's fixed", failure);

/** Whether retries follow without anyone doing anything. */
export const isOpen = ({ isRetried, isHeld }: Ahead): boolean => isRetried && !isHeld;

export interface AdviceRule {
	readonly name: string;
	readonly statuses: (status: number) => boolean;
	readonly fits: (failure: Failure) => boolean;
	readonly advice: (failure: Failure) => Advice;
}

const among =
	(...codes: readonly number[]) =>
	(status: number) =>
		codes.includes(status);
const isFailure = (status: number) => status >= 400;
/** Statuses with which receivers refuse a request that they have understood. */
const isRefusal = among(400, 401, 403, 419, 422);
const isRedirect = (status: number) => status >= 300 && status < 400;
const body = (pattern: RegExp) => (failure: Failure) => pattern.test(failure.body);

const LOGIN_PATH =
	/(?:^|[/?&#=._-])(?:log[_-]?in|sign[_-]?in|wp-login|oauth2?|sso|saml|authorize|session)(?:$|[/?&#=._-])/i;
const LOGIN_PAGE = /<input[^>]+type\s*=\s*["']?password|<title>[^<]*\b(?:log ?in|sign ?in)\b/i;
const BOT_PROTECTION =
	/just a moment|attention required|cf-(?:chl|wrapper|error)|captcha|enable javascript and cookies|are you (?:a )?(?:human|robot)|incapsula|imperva|datadome|perimeterx|sucuri|akamai|bot (?:protection|detection)/i;
const CLOUDFLARE = /cloudflare/i;

/** Where a redirect leads; null if it doesn't say. */
function targetOf({ url, headers }: Failure): URL | null {
	const { location } = headers;
	return location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null;
}

export const ADVICE_RULES: readonly AdviceRule[] = [
	{
		name: "csrf",
		statuses: isRefusal,
		fits: body(/\b[cx]srf|authenticity.?token|forgery|page (?:has )?expired/i),
		advice: ({ host }) => ({
			why: `The framework of ${host} protects this path against cross-site requests (CSRF), and webhooks have no such token.`,
			tries: [
				"Exclude the path from CSRF protection: “except” of validateCsrfTokens in Laravel, @csrf_exempt in Django, skip_forgery_protection in Rails.",
				"The signature proves where the request comes from, so verify it instead.",
			],
		}),
	},
	{
		name: "timestamp",
		statuses: isRefusal,
		fits: body(/timestamp|too old|\bclock\b|tolerance|replay attack/i),
		advice: ({ host }) => ({
			why: `${host} says that the request's timestamp is too old or too new.`,
			tries: [
				"Synchronize the receiver's clock with NTP. Every request is signed right before it's sent.",
				"Accept timestamps within 5 minutes.",
			],
		}),
	},
	{
		name: "disallowed host",
		statuses: among(400, 403, 404),
		fits: body(/disallowedhost|invalid http_host|allowed_hosts|blocked hosts?\b|invalid host header/i),
		advice: ({ host }) => ({
			why: `The framework of ${host} doesn't accept requests for this host name.`,
			tries: [`Add ${host} to the allowed hosts: ALLOWED_HOSTS in Django, config.hosts in Rails.`],
		}),
	},
	{
		name: "client certificate",
		statuses: among(400, 401, 403),
		fits: body(/(?:no required|client) (?:ssl |tls )?certificate/i),
		advice: ({ host }) => ({
			why: `${host} requires a client certificate, which webhooks don't have.`,
			tries: ["Don't require a client certificate for this path. Verify the signature instead."],
		}),
	},
	{
		name: "signature",
		statuses: isRefusal,
		fits: body(/signature|hmac|\bsigned?\b(?! ?in\b)|verif(?:y|ication)/i),
		advice: ({ host }) => ({
			why: `${host} says that the signature is invalid.`,
			tries: [
				"Check that the receiver uses this webhook's current secret. If it's lost or was rotated, rotate it again.",
				"Verify the body exactly as received, before parsing it: parsing and serializing it again changes its bytes.",
				"Compare with the code under Verify on the webhook's page.",
			],
		}),
	},
	{
		name: "tunnel",
		statuses: isFailure,
		fits: body(/err_ngrok|ngrok|tunnel (?:not found|unavailable|is offline)|localtunnel/i),
		advice: ({ host }) => ({
			why: `The tunnel behind ${host} isn't connected to a receiver.`,
			tries: [
				"Start the tunnel and the receiver on your machine.",
				`If the tunnel got a new address, enter it ${SETTINGS}.`,
			],
		}),
	},
	{
		name: "cloudflare origin",
		statuses: (status) => status >= 520 && status <= 530,
		fits: ({ headers, body: text }) => CLOUDFLARE.test(headers.server ?? "") || CLOUDFLARE.test(text),
		advice: ({ host }) => ({
			why: `Cloudflare, in front of ${host}, gets no usable response from the server behind it.`,
			tries: [
				"Check that the server is running, and that its firewall lets Cloudflare's addresses in.",
				"For 525 and 526, check the server's own certificate.",
			],
		}),
	},
	{
		name: "bot protection",
		statuses: among(401, 403, 405, 406, 429, 503),
		fits: ({ headers, body: text }) =>
			headers["cf-mitigated"] !== undefined ||
			BOT_PROTECTION.test(text) ||
			(CLOUDFLARE.test(text) && /block|ray id/i.test(text)),
		advice: ({ host }) => ({
			why: `A bot protection or firewall in front of ${host} stops the request before it reaches the receiver.`,
			tries: [
				"Exclude the webhook's path from bot protection, for example with a rule that skips checks for POST to it.",
				"The signature already keeps strangers out.",
			],
		}),
	},
	{
		name: "redirect to login",
		statuses: isRedirect,
		fits: (failure) => LOGIN_PATH.test(targetOf(failure)?.pathname ?? ""),
		advice: (failure) => ({
			why: `${failure.host} redirects to a login page (${targetOf(failure)?.pathname}), so this path requires a login.`,
			tries: [
				"Exclude the webhook's path from the login. The signature proves where the request comes from.",
				`Check the path of the URL ${SETTINGS}: it may be a page for people.`,
			],
		}),
	},
	{
		name: "redirect to http",
		statuses: isRedirect,
		fits: (failure) => targetOf(failure)?.protocol === "http:",
		advice: ({ host }) => ({
			why: `${host} redirects to an unencrypted address (http). Redirects are never followed.`,
			tries: ["Tell the receiver that it's reached over HTTPS, for example with X-Forwarded-Proto from its proxy."],
		}),
	},
	{
		name: "redirect",
		statuses: isRedirect,
		fits: (failure) => targetOf(failure)?.protocol === "https:",
		advice: (failure) => ({
			why: `${failure.host} redirects to ${targetOf(failure)?.href}. Redirects are never followed, so that events can't be diverted.`,
			tries: [`If your receiver is at ${targetOf(failure)?.href} now, enter this address ${SETTINGS}.`],
		}),
	},
	{
		name: "basic authentication",
		statuses: among(401),
		fits: ({ headers }) => /^\s*(?:basic|digest|negotiate|ntlm)\b/i.test(headers["www-authenticate"] ?? ""),
		advice: ({ host }) => ({
			why: `${host} asks for a user name and password (HTTP authentication).`,
			tries: [
				"Exclude this path from HTTP authentication. Webhooks can't log in; the signature proves where the request comes from.",
			],
		}),
	},
	{
		name: "login page",
		statuses: isFailure,
		fits: body(LOGIN_PAGE),
		advice: ({ host }) => ({
			why: `${host} shows a login page, so this path requires a login.`,
			tries: [
				"Exclude the webhook's path from the login. The signature proves where the request comes from.",
				`Check the path of the URL ${SETTINGS}: it may be a page for people.`,
			],
		}),
	},
	{
		name: "no POST",
		statuses: isFailure,
		fits: body(
			/cannot post\b|method.{0,20}not (?:allowed|supported)|only (?:get|head)\b|rest_no_route|no route matches \[post\]/i,
		),
		advice: ({ host }) => ({
			why: `${host} has no handler for POST at this path.`,
			tries: [
				`Check the path of the URL ${SETTINGS}. It must match exactly, with or without a slash at the end.`,
				"Have the receiver handle POST there, and deploy it.",
			],
		}),
	},
	{
		name: "no application",
		statuses: among(404, 502, 503, 530),
		fits: body(
			/no such app|application (?:error|not found|failed to respond)|there isn.t a github pages site|deployment_not_found|project not found/i,
		),
		advice: ({ host }) => ({
			why: `The hosting service of ${host} has no running application there.`,
			tries: [
				"Check that the receiver is deployed and running, and look at its log there.",
				`If it has moved, enter its new URL ${SETTINGS}.`,
			],
		}),
	},
	{
		name: "maintenance",
		statuses: among(500, 502, 503),
		fits: body(/maintenance|be right back|temporarily (?:down|unavailable)/i),
		advice: (failure) => ({
			why: `${failure.host} says that it is under maintenance or temporarily unavailable.`,
			tries: [once("it's back", failure)],
		}),
	},
	{
		name: "unreadable body",
		statuses: among(400, 415, 422, 500),
		fits: body(
			/unexpected (?:token|end of)|json.{0,20}(?:parse|decode|invalid|error)|(?:parse|decode|invalid|malformed).{0,20}json|unsupported media type/i,
		),
		advice: ({ host }) => ({
			why: `${host} couldn't read the request's body.`,
			tries: [
				"Read the request's body as JSON in UTF-8 (application/json), not as a form.",
				"If something reads the body before the handler, give the handler the raw bytes: they can be read only once.",
			],
		}),
	},
	{
		name: "exception",
		statuses: (status) => status >= 500,
		fits: body(
			/traceback \(most recent call|stack ?trace|unhandled exception|\bat \S+ \(\S+:\d+:\d+\)|fatal error|exception in thread/i,
		),
		advice: (failure) => ({
			why: `The receiver at ${failure.host} failed with an exception, which its response shows.`,
			tries: [
				"Read the exception in the response, and fix what causes it.",
				onceFixed(failure),
				"Turn off debug output in production: it shows the receiver's code to anyone.",
			],
		}),
	},
	{
		name: "retry after",
		statuses: among(429, 503),
		fits: ({ headers }) => headers["retry-after"] !== undefined,
		advice: ({ host, headers, ...failure }) => ({
			why: `${host} asks to be left alone for now (Retry-After: ${inertText(headers["retry-after"] ?? "")}).${isOpen(failure) ? " The schedule of retries doesn't depend on it, but its delays grow." : ""}`,
			tries: [
				"If requests come too fast, raise the receiver's limit for this path.",
				`If more than one event is in flight at a time, lower that number ${SETTINGS}.`,
			],
		}),
	},
];
