import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";

const gzip = promisify(gzipCallback);

/** The reference page for people, and its script. */
export interface Reference {
	readonly html: string;
	/** The script's text, which the library holds anyway. */
	readonly script: () => Promise<string>;
	readonly gzipped: Uint8Array;
}

/** Where the page finds its document and its script, relative to `/docs`. */
const OPTIONS = {
	routePrefix: "/docs",
	configuration: {
		url: "/openapi.json",
		cdn: "/docs/reference.js",
		pageTitle: "Posthorn API",
		withDefaultFonts: false,
		telemetry: false,
		showDeveloperTools: "never",
		hideClientButton: true,
		agent: { disabled: true },
		mcp: { disabled: true },
	},
} as const;

let loading: Promise<Reference> | null = null;

/** The page, made at the first call: the library is several megabytes, which most instances never need. */
export function loadReference(): Promise<Reference> {
	loading ??= load();
	return loading;
}

/** The library is a plug-in that can only be added before a server starts, so a server of its own answers for it. */
async function load(): Promise<Reference> {
	const [{ default: Fastify }, { default: scalar }] = await Promise.all([
		import("fastify"),
		import("@scalar/fastify-api-reference"),
	]);
	const inner = Fastify({ logger: false });
	await inner.register(scalar, OPTIONS);
	const read = async (url: string) => (await inner.inject({ url })).payload;
	const html = await read("/docs/");
	const script = () => read("/docs/js/scalar.js");
	return { html, script, gzipped: await gzip(await script()) };
}

/**
 * What the page may do: run its own script and the one line that starts it, style itself, and speak to this API. It
 * reaches no other host, whatever the library would like to load.
 */
export function docsCsp(html: string): string {
	const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
		([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
	);
	return [
		"default-src 'none'",
		`script-src 'self' ${inline.join(" ")}`,
		"style-src 'self' 'unsafe-inline'",
		"img-src 'self' data:",
		"font-src 'self' data:",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join("; ");
}
