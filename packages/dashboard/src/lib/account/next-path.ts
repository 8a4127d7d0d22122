/** Where to go after signing in: only a path of this dashboard, so that no link can lead users elsewhere. */
export function safeNext(next: string | undefined): string {
	if (next === undefined || !next.startsWith("/")) return "/";
	try {
		const url = new URL(next, "https://dashboard.invalid");
		// "/.//" becomes "//", with which the address of another host begins.
		const isOwn = url.origin === "https://dashboard.invalid" && !url.pathname.startsWith("//");
		return isOwn ? `${url.pathname}${url.search}${url.hash}` : "/";
	} catch {
		return "/";
	}
}
