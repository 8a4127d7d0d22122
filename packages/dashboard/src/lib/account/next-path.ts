/** Where to go after signing in: only a path of this dashboard, so that no link can lead users elsewhere. */
export function safeNext(next: string | undefined): string {
	if (next === undefined || !next.startsWith("/")) return "/";
	try {
		const url = new URL(next, "https://dashboard.invalid");
		return url.origin === "https://dashboard.invalid" ? `${url.pathname}${url.search}${url.hash}` : "/";
	} catch {
		return "/";
	}
}
