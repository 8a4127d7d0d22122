import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Paths that are never dashboard pages. */
const NO_PAGE = /^\/(?:v1|assets|docs|openapi\.json|healthz|readyz|metrics)(?:[/?]|$)/;
/** The built page's placeholder for the nonce that allows its styles. */
const NONCE = "__CSP_NONCE__";
const NONCE_BYTES = 18;
/** The folder of built files whose names contain a hash. */
const ASSETS = "assets";

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Posthorn</title>
<h1>The dashboard is not built</h1>
<p>The service runs, and its API answers. To build the dashboard, run <code>npm run setup</code> in the checkout, then start again.</p>
</html>
`;

export interface Dashboard {
	/** Whether a request that matched no route is a browser's request for a page. */
	isPage(request: FastifyRequest): boolean;
	sendPage(reply: FastifyReply): FastifyReply;
}

/**
 * Serves the built dashboard: the same page for every path, which decides by its address what to show, and the files
 * that it loads.
 *
 * @param folder of the build; if null, every page says how to build it
 */
export function serveDashboard(app: FastifyInstance, folder: string | null): Dashboard {
	const page = folder === null ? null : readFileSync(join(folder, "index.html"), "utf8");
	if (folder !== null && existsSync(join(folder, ASSETS))) serveAssets(app, join(folder, ASSETS));
	return {
		isPage({ method, url, headers }) {
			if (method !== "GET" && method !== "HEAD") return false;
			return !NO_PAGE.test(url) && /\btext\/html\b/.test(headers.accept ?? "");
		},
		sendPage(reply) {
			const nonce = randomBytes(NONCE_BYTES).toString("base64url");
			return reply
				.code(page === null ? 503 : 200)
				.headers({ "Content-Security-Policy": policy(nonce), "Cache-Control": "no-cache" })
				.type("text/html; charset=utf-8")
				.send(page === null ? NOT_BUILT : page.replace(NONCE, nonce));
		},
	};
}

function serveAssets(app: FastifyInstance, folder: string): void {
	const assets = readAssets(folder);
	app.get<{ Params: { "*": string } }>(`/${ASSETS}/*`, (request, reply) => {
		const asset = assets.get(request.params["*"]);
		if (!asset) return reply.callNotFound();
		reply.headers({ "Cache-Control": "public, max-age=31536000, immutable", ETag: asset.etag });
		if (request.headers["if-none-match"]?.includes(asset.etag)) return reply.code(304).send();
		return reply.type(asset.type).send(asset.bytes);
	});
}

/** Allows only its own files, and runtime styles that carry the nonce. */
function policy(nonce: string): string {
	return [
		"default-src 'none'",
		"script-src 'self'",
		`style-src 'self' 'nonce-${nonce}'`,
		"img-src 'self' data:",
		"connect-src 'self'",
		"font-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join("; ");
}

/** For the kinds of files that the build creates. */
const TYPES: Readonly<Record<string, string>> = {
	".css": "text/css; charset=utf-8",
	".js": "application/javascript; charset=utf-8",
	".json": "application/json; charset=utf-8",
	".png": "image/png",
	".svg": "image/svg+xml",
	".woff2": "font/woff2",
};

export interface Asset {
	readonly bytes: Buffer;
	readonly type: string;
	readonly etag: string;
}

/**
 * The files of a folder by name. They are kept in memory and shared by all downloads, so a client that doesn't read
 * holds no file descriptor.
 */
export function readAssets(folder: string): ReadonlyMap<string, Asset> {
	const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
	return new Map(
		files.map(({ name }) => {
			const bytes = readFileSync(join(folder, name));
			const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
			return [name, { bytes, type: TYPES[extname(name)] ?? "application/octet-stream", etag }];
		}),
	);
}
