/** Scheme, then user and servers, then the rest. */
const PARTS = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s;

/**
 * The servers that a database URL names, separated by commas (as libpq has it: `postgres://user@a:5432,b:5433/name`), each
 * as a URL of its own.
 */
export function serverUrls(url: string): string[] {
	const [, scheme = "", authority = "", rest = ""] = PARTS.exec(url) ?? [];
	const at = authority.lastIndexOf("@") + 1;
	const user = authority.slice(0, at);
	const hosts = authority.slice(at).split(",");
	return hosts.length < 2 ? [url] : hosts.map((host) => `${scheme}${user}${host}${rest}`);
}
