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
const body =
	(...patterns: readonly RegExp[]) =>
	(failure: Failure) =>
		patterns.some((pattern) => pattern.test(failure.body));

const LOGIN_PATH =
	/(?:^|[/?&#=._-])(?:log[_-]?in|sign[_-]?in|wp-login|oauth2?|sso|saml|authorize|session)(?:$|[/?&#=._-])/i;
const LOGIN_PAGE = /<input[^>]+type\s*=\s*["']?password|<title>[^<]*\b(?:log ?in|sign ?in|authentication required)\b/i;
const BOT_PROTECTION =
	/just a moment|attention required|cf-(?:chl|wrapper|error)|captcha|enable (?:javascript|js) and|\b(?:a human|a robot|(?:are|not|you) human|human verification)\b|incapsula|imperva|datadome|perimeterx|sucuri|akamai|edgesuite|wordfence|mod_?security|web application firewall|request (?:was )?blocked|bot (?:protection|detection)/i;
const CLOUDFLARE = /cloudflare/i;

/** Where a redirect leads; null if it doesn't say. */
function targetOf({ url, headers }: Failure): URL | null {
	const { location } = headers;
	return location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null;
}

export const ADVICE_RULES: readonly AdviceRule[] = [
	{
		name: "disallowed host",
		statuses: among(400, 403, 404),
		fits: body(/disallowedhost|invalid http_host|allowed_?hosts|blocked hosts?\b|invalid host header/i),
		advice: ({ host }) => ({
			why: `The framework of ${host} doesn't accept requests for this host name.`,
			tries: [
				`Add ${host} to the allowed hosts: ALLOWED_HOSTS in Django, config.hosts in Rails, server.allowedHosts in Vite.`,
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
		name: "csrf",
		statuses: isRefusal,
		// Any page of Rails or Laravel has a field or meta tag of that name.
		fits: body(
			/(?<!name=["']?)\b[cx]srf|invalid.?authenticity.?token|forgery|page (?:has )?expired|the change you wanted was rejected/i,
		),
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
		// The errors of Spring and others have the time in a member or line of that name.
		fits: body(
			/(?<!missing[^.]{0,20}\b)timestamp\b(?!["']?\s*[:=>]|[^.]{0,20}\b(?:missing|required|header))|too (?:old|new)\b|\bclock\b|tolerance|replay attack/i,
		),
		advice: ({ host }) => ({
			why: `${host} says that the request's timestamp is too old or too new.`,
			tries: [
				"Synchronize the receiver's clock with NTP. Every request is signed right before it's sent.",
				"Accept timestamps within 5 minutes.",
			],
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
		name: "access token",
		statuses: among(400, 401, 403),
		fits: (failure) =>
			/^\s*bearer\b/i.test(failure.headers["www-authenticate"] ?? "") ||
			body(
				/\b(?:missing|no|without|invalid|provide|requires?)\b.{0,30}\b(?:authori[sz]ation|bearer|jwt|api.?key|access.?token)|authori[sz]ation header|does not have permission to get url/i,
			)(failure),
		advice: ({ host }) => ({
			why: `${host} asks for an access token or API key, which webhooks don't have.`,
			tries: [
				"Exclude this path from the check for tokens: verify_jwt = false in Supabase, “Allow public access” in Cloud Run.",
				"The signature proves where the request comes from, so verify it instead.",
			],
		}),
	},
	{
		name: "API gateway",
		statuses: among(403),
		fits: body(/missing authentication token/i),
		advice: ({ host }) => ({
			why: `The API gateway at ${host} has no such path and method. Its “Missing Authentication Token” usually means that.`,
			tries: [
				`Check the path of the URL ${SETTINGS}, including the stage, such as /prod.`,
				"Check that POST to this path is deployed to that stage.",
			],
		}),
	},
	{
		name: "WordPress",
		statuses: among(401, 403),
		fits: body(/rest_(?:forbidden|cannot_\w+|not_logged_in|login_required|user_cannot\w*)/i),
		advice: ({ host }) => ({
			why: `WordPress at ${host} lets only people who are logged in use this path.`,
			tries: [
				"Let the path's permission_callback return true, and verify the signature in its handler.",
				"If a security plugin restricts the REST API, add an exception for this path.",
			],
		}),
	},
	{
		name: "signature",
		statuses: isRefusal,
		fits: body(
			/signature|hmac|\b(?:un|not )signed\b|\bsigned (?:request|payload|body)|verification failed|(?:failed to|could ?n.t|cannot) verify/i,
		),
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
		// Pages of the tunnel's own, not of a receiver that names its address.
		fits: body(
			/err_ngrok|\/\/(?:cdn|assets)[\w.-]*\.ngrok\.com|tunnel (?:not found|unavailable|is offline|error)|localtunnel/i,
		),
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
		name: "automation",
		statuses: among(400, 404, 410),
		fits: body(/webhook.{0,90}not registered|no scenario listening/i),
		advice: ({ host }) => ({
			why: `${host} has no active workflow at this address.`,
			tries: [
				"Activate the workflow (n8n) or turn on the scenario (Make) that should receive the events.",
				`If the URL is the one for tests, which expects a single event, enter the production URL ${SETTINGS}.`,
			],
		}),
	},
	{
		name: "no POST",
		statuses: among(400, 403, 404, 405, 500, 501),
		fits: body(
			/cannot post\b|method.{0,20}not (?:allowed|supported)|only (?:get|head)\b|supports only cachable|rest_no_route|no route (?:matches \[post\]|found for .?post)/i,
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
		statuses: among(402, 403, 404, 502, 503, 530),
		fits: body(
			/no such app|application (?:error|not found|failed to respond)|there isn.t a github pages site|deployment_(?:not_found|disabled|paused)|project not found|web app.{0,40}(?:stopped|not found|unavailable)|default backend - 404/i,
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
		name: "no upstream",
		statuses: among(500, 502, 503, 504),
		fits: body(
			/no (?:healthy upstream|available server)|no server is available|upstream connect error|connect(?:ion)? refused|econnrefused|error reaching (?:the )?(?:backend|origin)/i,
		),
		advice: (failure) => ({
			why: `A proxy in front of ${failure.host} can't reach the receiver behind it, or the receiver can't reach a service that it needs.`,
			tries: ["Check that the receiver is running, and that its health check passes.", onceFixed(failure)],
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
			/unexpected (?:token|end of)|json.{0,20}(?:pars|decod|invalid|malformed|error|not be converted)|(?:pars|decod|invalid|malformed|read).{0,40}json|invalid character .{1,6} looking for|parsing request parameters|unsupported media type/i,
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
			/traceback \(most recent call|stack ?trace|unhandled exception|\bat \S+ \(\S+:\d+:\d+\)|\bat [\w.$<>]{1,200}\(\w{1,60}\.\w{1,6}:\d+\)|fatal error|exception in thread/i,
			// `TypeError: …`, `NoMethodError in …`, `<title>ValueError at /in`, but not the name of a status.
			/\b(?!(?:Internal)?ServerError)[A-Z]\w{1,60}(?:Error|Exception)(?::| at | in )/,
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
