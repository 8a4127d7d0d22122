/** Checks that refuse a request, in the receiver or in front of it: firewalls, frameworks, code that verifies signatures. */
import { type Advice, type Failure, SETTINGS } from "./failure.ts";
import { type AdviceRule, among, CLOUDFLARE, says } from "./rule.ts";

/** Statuses with which receivers refuse a request that they have understood. */
const isRefusal = among(400, 401, 403, 419, 422);

/** Not what a page loads, such as reCAPTCHA in its login form, or files from Akamai. */
const BOT_PROTECTION =
	/just a moment|attention required|cf-chl|used cloudflare to restrict access|^error code: 10(?:0[5-9]|1[0-2]|20)\b|security checkpoint|(?<!\bh-)\b(?:sg)?captcha|access to this (?:site|service) has been (?:limited|blocked)|enable (?:javascript|js) and|\b(?:a human|a robot|(?:are|not|you) human|human verification)\b|incapsula|imperva|datadome|perimeterx|sucuri|akamai(?!zed|hd)|edgesuite|wordfence|mod_?security|web application firewall|request (?:was )?blocked|bot (?:protection|detection)/i;
/** The title of Cloudflare's page for a server behind it that doesn't work. */
const CLOUDFLARE_OUTAGE = /\| 5\d\d: /;
/** Spring's default 403. It doesn't name CSRF protection, which is what refuses a POST without a token by default. */
const SPRING_FORBIDDEN =
	/^\s*\{"timestamp":[^,]{1,40},"status":403,"error":"Forbidden",(?:"message":"[^"]{0,100}",)?"path":/;

const badSignature = ({ host }: Failure): Advice => ({
	why: `${host} says that the signature is invalid.`,
	tries: [
		"Check that the receiver uses this webhook's current secret. If it's lost or was rotated, rotate it again.",
		"Verify the body exactly as received, before parsing it: parsing and serializing it again changes its bytes.",
		"Open Verify on the webhook's page: it finds out what differs, and has code to compare yours with.",
	],
});

export const REFUSALS: readonly AdviceRule[] = [
	{
		name: "disallowed host",
		statuses: among(400, 403, 404),
		fits: says(
			/disallowedhost|invalid http_host|allowed_?hosts|blocked hosts?\b|invalid host header|invalid hostname/i,
		),
		advice: ({ host }) => ({
			why: `The framework of ${host} doesn't accept requests for this host name.`,
			tries: [
				`Add ${host} to the allowed hosts: ALLOWED_HOSTS in Django, config.hosts in Rails, AllowedHosts in ASP.NET, server.allowedHosts in Vite.`,
			],
		}),
	},
	{
		name: "bot protection",
		statuses: among(401, 403, 405, 406, 429, 503),
		fits: ({ headers, body }) =>
			headers["cf-mitigated"] !== undefined ||
			BOT_PROTECTION.test(body) ||
			(CLOUDFLARE.test(body) && /\bblocked\b|ray id/i.test(body) && !CLOUDFLARE_OUTAGE.test(body)),
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
		// Any page of Rails or Laravel has a field or meta tag of that name, and scripts have variables of such names.
		fits: says(
			/(?<!name=["']?)\b[cx]srf(?![\w-]*["']\s*[:=]|[\w-]+\s*=)|unable to verify your data submission|invalid.?authenticity.?token|forgery|page (?:has )?expired|the change you wanted was rejected/i,
			SPRING_FORBIDDEN,
		),
		advice: ({ host }) => ({
			why: `The framework of ${host} protects this path against cross-site requests (CSRF), and webhooks have no such token.`,
			tries: [
				"Exclude the path from CSRF protection: “except” of validateCsrfTokens in Laravel, @csrf_exempt in Django, skip_forgery_protection in Rails, ignoringRequestMatchers in Spring Security.",
				"The signature proves where the request comes from, so verify it instead.",
			],
		}),
	},
	{
		name: "timestamp",
		statuses: isRefusal,
		// Not any word of it: errors have the time in a member or line of that name, and refuse fields and header fields.
		fits: says(
			/\btimestamp\b[^.,{}]{0,25}?\b(?:old|new|expired|stale|invalid|outside|out of|mismatch|within|rejected|failed|skew|drift|future)\b|(?:invalid|expired|stale|old|outdated|bad|wrong) (?:\w+ )?timestamp\b(?!["']?[:=])|(?:request|event|message|webhook|signature)(?: is| was)? too (?:old|new)\b|\bclocks? (?:skew|drift|is|are|out)\b|(?:tolerance zone|outside (?:of )?(?:the )?tolerance)|replay attack/i,
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
		fits: says(/(?:no required|client) (?:ssl |tls )?certificate/i),
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
			says(
				/\b(?:missing|no|without|invalid|provide|requires?)\b.{0,30}\b(?:authori[sz]ation|bearer|jwt|api.?key|access.?token)|authori[sz]ation header|authentication credentials?\b|missing subscription key|jwt is missing|does not have permission to get url/i,
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
		fits: says(/missing authentication token/i),
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
		fits: says(/rest_(?:forbidden|cannot_\w+|not_logged_in|login_required|user_cannot\w*)/i),
		advice: ({ host }) => ({
			why: `WordPress at ${host} lets only people who are logged in use this path.`,
			tries: [
				"Let the path's permission_callback return true, and verify the signature in its handler.",
				"If a security plugin restricts the REST API, add an exception for this path.",
			],
		}),
	},
	{
		name: "Standard Webhooks headers",
		statuses: (status) => isRefusal(status) || status === 500,
		// The text of all those libraries, whether the receiver catches the error or not.
		fits: says(/missing required headers/i),
		advice: ({ host }) => ({
			why: `${host} says that headers are missing. Libraries of Standard Webhooks say so without webhook-id, webhook-timestamp and webhook-signature.`,
			tries: [
				"If the receiver uses a library of Standard Webhooks, turn on Standard Webhooks headers in the webhook's settings.",
				"If they are on, check that nothing in front of the receiver removes them, and that it passes the request's headers to the library.",
			],
		}),
	},
	{
		name: "signature",
		statuses: isRefusal,
		fits: says(
			/signature|hmac|\b(?:un|not )signed\b(?! (?:in|up|on|out)\b)|\bsigned (?:request|payload|body)|(?<!\b(?:token|jwt|e-?mail|user|account|phone) )verification failed|(?:failed to|could ?n.t|cannot) verify(?!.{0,12}\b(?:that you|token|jwt|e-?mail|user|account))/i,
		),
		advice: badSignature,
	},
	{
		name: "signature exception",
		// Another exception may be about any signature, such as that of a program.
		statuses: among(500),
		fits: says(/\bWebhookVerification(?:Error|Exception)\b/),
		advice: badSignature,
	},
];
