import { createHash } from "node:crypto";
import { once } from "node:events";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { gunzip as gunzipCallback } from "node:zlib";

/** The API's reference page for people, and its script. */
export interface Reference {
	readonly html: string;
	/** The script, compressed with gzip. */
	readonly script: Uint8Array;
	/** The same as it is, decompressed once for all who ask: its four megabytes are shared. */
	readonly plain: () => Promise<Uint8Array>;
}

/** What the thread makes of it. */
export type MadeReference = Pick<Reference, "html" | "script">;

const gunzip = promisify(gunzipCallback);
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

let loading: Promise<Reference> | null = null;

/** The page, made at the first call; a call that fails leaves the next one to try again. */
export function loadReference(): Promise<Reference> {
	loading ??= load().catch((error: unknown) => {
		loading = null;
		throw error;
	});
	return loading;
}

/** In a thread that ends with it: the library takes some fifty megabytes, of which the page needs one. */
async function load(): Promise<Reference> {
	const worker = new Worker(WORKER, { name: "reference", execArgv: [] });
	const [made] = (await once(worker, "message")) as [MadeReference];
	let plain: Promise<Uint8Array> | undefined;
	return {
		...made,
		plain() {
			plain ??= gunzip(made.script);
			return plain;
		},
	};
}

/**
 * What the page may do: run its own script and the one line that starts it, style itself, and speak to this API. It
 * reaches no other host, whatever the library would like to load.
 */
export function referencePolicy(html: string): string {
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
