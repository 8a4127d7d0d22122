/** Tunnels, proxies, redirects and logins between the sender and the receiver. */
import { type Advice, type Failure, SETTINGS } from "./failure.ts";
import { type AdviceRule, among, CLOUDFLARE, says } from "./rule.ts";

const isFailure = (status: number) => status >= 400;
const isRedirect = (status: number) => status >= 300 && status < 400;

const LOGIN_PATH =
	/(?:^|[/?&#=._-])(?:log[_-]?in|sign[_-]?in|wp-login|oauth2?|openid-connect|sso|saml|authorize|session)(?:$|[/?&#=._-])/i;
/** Where Shopify asks for the password of a store that isn't open yet. */
const PASSWORD_PATH = /^\/password\/?$/;
const LOGIN_HOST = /^(?:log-?in|sign-?in|auth|sso)\./;
const LOGIN_PAGE = /<input[^>]+type\s*=\s*["']?password|<title>[^<]*\b(?:log ?in|sign ?in|authentication required)\b/i;

/** Spring Security's default. */
const SPRING_REALM = /^\s*basic realm="Realm"/i;

/** Where a redirect leads; null if it doesn't say. */
function targetOf({ url, headers }: Failure): URL | null {
	const { location } = headers;
	return location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null;
}

/** A login page's path, and its host if that is another one. */
function loginOf(failure: Failure): string {
	const target = targetOf(failure);
	if (target === null) return "";
	return target.host === failure.host ? target.pathname : target.host + target.pathname;
}

/** @param why how it shows that the path requires a login */
const loginAdvice = (why: string): Advice => ({
	why: `${why}, so this path requires a login.`,
	tries: [
		"Exclude the webhook's path from the login. The signature proves where the request comes from.",
		`Check the path of the URL ${SETTINGS}: it may be a page for people.`,
	],
});

export const INTERMEDIARIES: readonly AdviceRule[] = [
	{
		name: "tunnel",
		statuses: isFailure,
		// Pages of the tunnel's own, not of a receiver that names its address.
		fits: says(
			/err_ngrok|\/\/(?:cdn|assets)[\w.-]*\.ngrok\.com|tunnel (?:not found|unavailable|is offline|error)|localtunnel|^error code: 1033\b/i,
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
		fits: ({ headers, body }) => CLOUDFLARE.test(headers.server ?? "") || CLOUDFLARE.test(body),
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
		fits: (failure) => {
			const { pathname = "", hostname = "", host = "" } = targetOf(failure) ?? {};
			const isElsewhere = host !== failure.host;
			return LOGIN_PATH.test(pathname) || PASSWORD_PATH.test(pathname) || (isElsewhere && LOGIN_HOST.test(hostname));
		},
		advice: (failure) => loginAdvice(`${failure.host} redirects to a login page (${loginOf(failure)})`),
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
		advice: ({ host, headers }) => ({
			why: `${host} asks for a user name and password (HTTP authentication).`,
			tries: [
				"Exclude this path from HTTP authentication. Webhooks can't log in; the signature proves where the request comes from.",
				...(SPRING_REALM.test(headers["www-authenticate"] ?? "")
					? [
							"With Spring Security, also exclude it from CSRF protection (ignoringRequestMatchers): without a token, a POST may get 401, too.",
						]
					: []),
			],
		}),
	},
	{
		name: "login page",
		statuses: isFailure,
		fits: says(LOGIN_PAGE),
		advice: ({ host }) => loginAdvice(`${host} shows a login page`),
	},
];
