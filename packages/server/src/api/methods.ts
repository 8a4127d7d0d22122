import type { Route } from "./route.ts";

type Path = Pick<Route, "method" | "path">;

/** The methods that a path takes; none if no route has the path. GET includes HEAD. */
export function allowedMethods(path: string, routes: readonly Path[]): string[] {
	const parts = path.split("/");
	const matching = routes.filter((route) => matches(route.path.split("/"), parts));
	const own = matching.filter((route) => !matching.some((other) => isMoreSpecific(other.path, route.path)));
	return own.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

/**
 * Paths that this route's path matches as well, but that others serve: `/webhooks/health` isn't the webhook named
 * "health". The router chooses by method, so it would send them here with methods that the other routes don't have.
 */
export function pathsOfOthers(path: string, routes: readonly Path[]): ReadonlySet<string> {
	const pattern = path.split("/");
	const others = routes.filter((route) => isMoreSpecific(route.path, path) && matches(pattern, route.path.split("/")));
	return new Set(others.map((route) => route.path));
}

/** Whether `path` matches a URL path with these parts. */
export function matchesPath(path: string, url: string): boolean {
	return matches(path.split("/"), url.split("/"));
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
	return (
		pattern.length === parts.length &&
		pattern.every((part, i) => (part.startsWith("{") ? parts[i] !== "" : part === parts[i]))
	);
}

/** Whether `one` has a name where `other` has its first parameter that differs. */
function isMoreSpecific(one: string, other: string): boolean {
	const [ones, others] = [one.split("/"), other.split("/")];
	const first = ones.findIndex((part, i) => part !== others[i]);
	return others[first]?.startsWith("{") === true && ones[first]?.startsWith("{") === false;
}
