/** Receivers that are missing, down or failing, recognized by the pages of frameworks, proxies and hosting services. */
import { inertText } from "../../text/inert-text.ts";
import { isOpen, once, onceFixed, SETTINGS } from "./failure.ts";
import { type AdviceRule, among, says } from "./rule.ts";

export const RECEIVERS: readonly AdviceRule[] = [
	{
		name: "automation",
		statuses: among(400, 404, 410),
		fits: says(/webhook.{0,90}not registered|no scenario listening/i),
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
		fits: says(
			/(?<!\b(?:payment|shipping|delivery|refund|authentication|signature|signing|hash) )\bmethod.{0,20}not (?:allowed|supported)|supports only cachable|rest_no_route|no route (?:matches \[post\]|found for .?post)/i,
			// Not "cannot post to a closed period", nor "only get one".
			/\bCannot POST\b|\b[Oo]nly (?:GET|HEAD)\b/,
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
		fits: says(
			/no such app|application (?:error|not found|failed to respond)|there isn.t a github pages site|deployment_(?:not_found|disabled|paused)|web app.{0,40}(?:stopped|not found|unavailable|error 404)|site was paused|default backend - 404/i,
			// Not what an application says in JSON about its own projects.
			/^\s*project not found\W*$|<(?:title|h1)>\s*project not found/i,
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
		fits: says(
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
		fits: says(/maintenance|be right back|temporarily (?:down|unavailable)/i),
		advice: (failure) => ({
			why: `${failure.host} says that it is under maintenance or temporarily unavailable.`,
			tries: [once("it's back", failure)],
		}),
	},
	{
		name: "other fields",
		statuses: among(400, 422, 500),
		// They call it an error of JSON, but have read it.
		fits: says(
			/\b(?:missing|unknown|duplicate) field `|json.{0,60}(?:cannot (?:deserialize value|construct instance)|unrecognized field)|json: cannot unmarshal|json value could not be converted|invalid type: .{1,60}, expected/i,
		),
		advice: ({ host }) => ({
			why: `${host} could read the request's body, but expects other fields or types.`,
			tries: [
				"Compare what the receiver expects with the event as sent, which a delivery's page shows.",
				"Ignore fields that the receiver doesn't know: events can get more.",
			],
		}),
	},
	{
		name: "plain HTTP to HTTPS",
		statuses: among(400),
		fits: says(/plain http request was sent to https|http request to an https server|speaking plain http to an ssl/i),
		advice: ({ host }) => ({
			why: `A proxy in front of ${host} sends unencrypted HTTP to a server that expects HTTPS.`,
			tries: ["Have the proxy use HTTPS to the receiver behind it, or the receiver's port for HTTP."],
		}),
	},
	{
		name: "unreadable body",
		statuses: among(400, 415, 422, 500),
		fits: says(
			/unexpected (?:token|end of)|json.{0,20}(?:pars|decod|invalid|malformed|error)|\b(?:un)?(?:pars|decod|invalid|malformed|read).{0,40}json|is an invalid start of|invalid character .{1,6} looking for|parsing request parameters|unsupported media type/i,
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
		fits: says(
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
