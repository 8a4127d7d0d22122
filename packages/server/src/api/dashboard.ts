import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { acceptedEncodings } from "./http/encodings.ts";

/** Paths that are never dashboard pages. */
const NO_PAGE = /^\/(?:v1|assets|docs|problems|openapi\.json|healthz|readyz|metrics)(?:[/?]|$)/;
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

/**
 * Serves the built dashboard: the same page for every path, which decides by its address what to show, and the files
 * that it loads.
 *
 * @param folder of the build; if null, every page says how to build it
 */
export function serveDashboard(app: FastifyInstance, folder: string | null) {
	const page = folder === null ? null : readFileSync(join(folder, "index.html"), "utf8");
	if (folder !== null && existsSync(join(folder, ASSETS))) serveAssets(app, join(folder, ASSETS));
	return {
		/** Whether a request that matched no route is a browser's request for a page. */
		isPage({ method, url, headers }: FastifyRequest): boolean {
			if (method !== "GET" && method !== "HEAD") return false;
			return !NO_PAGE.test(url) && /\btext\/html\b/.test(headers.accept ?? "");
		},
		sendPage(reply: FastifyReply): FastifyReply {
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
		const { bytes, etag, encoding } = bestFor(asset, request.headers["accept-encoding"]);
		reply.headers({ "Cache-Control": "public, max-age=31536000, immutable", ETag: etag, Vary: "Accept-Encoding" });
		if (request.headers["if-none-match"]?.includes(etag)) return reply.code(304).send();
		if (encoding !== null) reply.header("Content-Encoding", encoding);
		return reply.type(asset.type).send(bytes);
	});
}

/** The smallest form that the client accepts. */
function bestFor({ forms }: Asset, accepted: string | undefined): Form {
	const accepts = acceptedEncodings(accepted);
	return forms.find(({ encoding }) => encoding === null || accepts(encoding))!;
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
	".txt": "text/plain; charset=utf-8",
	".woff2": "font/woff2",
};

/** A file's bytes as they're sent. */
interface Form {
	readonly bytes: Buffer;
	readonly etag: string;
	/** Null if they're sent as they are. */
	readonly encoding: "br" | "gzip" | null;
}

interface Asset {
	readonly type: string;
	/** Smallest first; the last one isn't encoded. */
	readonly forms: readonly Form[];
}

/** The encodings that the build writes next to a file, by the end of their names. */
const ENCODINGS = [
	[".br", "br"],
	[".gz", "gzip"],
] as const;

/**
 * The files of a folder by name, with the compressed forms next to them. They are kept in memory and shared by all
 * downloads, so a client that doesn't read holds no file descriptor.
 */
function readAssets(folder: string): ReadonlyMap<string, Asset> {
	const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
	const all = new Map(names.map(({ name }) => [name, readFileSync(join(folder, name))]));
	const assets = new Map<string, Asset>();
	for (const [name, bytes] of all) {
		const base = name.replace(/\.(?:br|gz)$/, "");
		if (base !== name && all.has(base)) continue;
		const forms: Form[] = [];
		for (const [ending, encoding] of ENCODINGS) {
			const encoded = all.get(name + ending);
			if (encoded && encoded.length < bytes.length) forms.push({ bytes: encoded, etag: etagOf(encoded), encoding });
		}
		forms.push({ bytes, etag: etagOf(bytes), encoding: null });
		assets.set(name, { type: TYPES[extname(name)] ?? "application/octet-stream", forms });
	}
	return assets;
}

const etagOf = (bytes: Buffer) => `"${createHash("sha256").update(bytes).digest("base64url")}"`;
