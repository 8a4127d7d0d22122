import type { FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";

/** What a browser sends along with requests that a page of another site makes it send gives those away. */
export interface OriginCheck {
	/** Where people reach the dashboard, such as `https://hooks.example.com`: an origin, as their browsers know it. */
	readonly publicUrl: () => string;
}

/**
 * Throws 403 for a request that a page of another site has made a browser send. `Origin` comes with every such request
 * that could change something; a browser without it says `Sec-Fetch-Site`; and what says neither is no browser.
 *
 * @param required whether one of the two headers must be there
 */
export function checkOrigin(request: FastifyRequest, { publicUrl }: OriginCheck, required: boolean): void {
	const { origin, host, "sec-fetch-site": site } = request.headers;
	if (origin !== undefined) {
		if (origin === publicUrl() || (host !== undefined && hostOf(origin) === host)) return;
	} else if (site === "same-origin" || (site === undefined && !required)) return;
	throw new Problem(
		"forbidden",
		"This request comes from another site's page. If the dashboard itself is refused, POSTHORN_PUBLIC_URL is not the address that it is opened at.",
	);
}

function hostOf(origin: string): string | null {
	return URL.canParse(origin) ? new URL(origin).host : null;
}
