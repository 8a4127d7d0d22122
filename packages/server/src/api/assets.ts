import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** Of what the build makes. */
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
 * The files of a folder by their names. They are held in memory and shared by all who download them: a client that does
 * not read holds no file descriptor.
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
