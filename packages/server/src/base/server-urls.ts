/** Scheme, then user and servers, then the rest. */
const PARTS = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s;

/**
 * Splits a database URL with several servers, separated by commas (as in libpq: `postgres://user@a:5432,b:5433/name`),
 * into one URL for each server.
 */
export function serverUrls(url: string): string[] {
	const [, scheme = "", authority = "", rest = ""] = PARTS.exec(url) ?? [];
	const at = authority.lastIndexOf("@") + 1;
	const user = authority.slice(0, at);
	const hosts = authority.slice(at).split(",");
	return hosts.length < 2 ? [url] : hosts.map((host) => `${scheme}${user}${host}${rest}`);
}
