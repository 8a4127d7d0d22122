import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { UsageError } from "../../command-error.ts";
import { isLoopback } from "../connection.ts";

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
	if (!isLoopback(url) && !isLocalName(url.hostname) && !allowRemote)
		throw new UsageError([
			`${url.host} is not this machine. Events hold customers' data: add --allow-remote if it may receive them.`,
		]);
	return url;
}

/** Names that mean this machine (RFC 6761, 6.3). */
const isLocalName = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");

const LOOPBACK_ADDRESSES = [
	{ address: "127.0.0.1", family: 4 },
	{ address: "::1", family: 6 },
];

/** Resolves the names of this machine to loopback without asking DNS, which may send them elsewhere; others with DNS. */
export const lookupTarget: LookupFunction = (name, options, callback) => {
	if (!isLocalName(name)) lookup(name, options, callback);
	else if (options.all) callback(null, LOOPBACK_ADDRESSES);
	else callback(null, "127.0.0.1", 4);
};
