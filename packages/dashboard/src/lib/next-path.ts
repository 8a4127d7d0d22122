/** Where to go after signing in: a path of this dashboard and nothing else, so that no link leads people elsewhere. */
export function safeNext(next: string | undefined): string {
	if (next === undefined || !next.startsWith("/")) return "/";
	try {
		const url = new URL(next, "https://dashboard.invalid");
		return url.origin === "https://dashboard.invalid" ? `${url.pathname}${url.search}${url.hash}` : "/";
	} catch {
		return "/";
	}
}
