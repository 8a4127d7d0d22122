import type { Route } from "./route.ts";

/** The methods that a path takes, or none when there is no such path. GET brings HEAD with it. */
export function allowedMethods(path: string, routes: readonly Pick<Route, "method" | "path">[]): string[] {
	const parts = path.split("/");
	const methods = routes.filter((route) => matches(route.path.split("/"), parts)).map(({ method }) => method);
	return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
	return (
		pattern.length === parts.length &&
		pattern.every((part, i) => (part.startsWith("{") ? parts[i] !== "" : part === parts[i]))
	);
}
