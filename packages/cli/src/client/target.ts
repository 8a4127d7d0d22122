import { UsageError } from "../command-error.ts";
import { isLoopback } from "./connection.ts";

/**
 * The local endpoint that a user means: `3000`, `3000/hooks`, `localhost:3000/hooks` or a URL.
 *
 * @throws UsageError if it isn't one, or another machine's without `allowRemote`
 */
export function parseTarget(text: string, allowRemote = false): URL {
	const withHost = /^:?\d+(?:\/|$)/.test(text) ? `localhost:${text.replace(/^:/, "")}` : text;
	const full = /^https?:\/\//.test(withHost) ? withHost : `http://${withHost}`;
	if (!URL.canParse(full) || /^[a-z]+:\/\//.test(text) !== /^https?:\/\//.test(text))
		throw new UsageError([`"${text}" is not an endpoint. Give one such as 3000/hooks or http://localhost:3000/hooks.`]);
	const url = new URL(full);
	if (url.username || url.password) throw new UsageError(["The endpoint must not contain a user name or password."]);
	if (!isLoopback(url) && !allowRemote)
		throw new UsageError([
			`${url.host} is not this machine. Events hold customers' data: add --allow-remote if it may have them.`,
		]);
	return url;
}
