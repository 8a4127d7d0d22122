import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip as gunzipCallback } from "node:zlib";

const gunzip = promisify(gunzipCallback);

/** Scalar's script for browsers, which `scripts/write-reference.mjs` takes from its npm package. */
const SCRIPT = new URL("./scalar.js.gz", import.meta.url);

const CONFIGURATION = {
	url: "/openapi.json",
	withDefaultFonts: false,
	telemetry: false,
	showDeveloperTools: "never",
	hideClientButton: true,
	agent: { disabled: true },
	mcp: { disabled: true },
};
/** The line that starts the page. */
const START = `Scalar.createApiReference("#app", ${JSON.stringify(CONFIGURATION)})`;

export const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <title>Posthorn API</title>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
  </head>
  <body>
    <div id="app"></div>
    <script src="/docs/reference.js"></script>
    <script>${START}</script>
  </body>
</html>
`;

let compressed: Promise<Uint8Array> | undefined;
let plain: Promise<Uint8Array> | undefined;

/** The page's script, read at the first call and shared: uncompressed, it has four megabytes. */
export function referenceScript({ gzip }: { readonly gzip: boolean }): Promise<Uint8Array> {
	compressed ??= readFile(SCRIPT);
	if (gzip) return compressed;
	plain ??= compressed.then((bytes) => gunzip(bytes));
	return plain;
}

/**
 * The page may run its own script and the line that starts it, style itself, and call this API. It can't load anything
 * from other hosts.
 */
export const REFERENCE_POLICY = [
	"default-src 'none'",
	`script-src 'self' 'sha256-${hash("sha256", START, "base64")}'`,
	"style-src 'self' 'unsafe-inline'",
	"img-src 'self' data:",
	"font-src 'self' data:",
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join("; ");
