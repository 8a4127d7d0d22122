import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(?:js|css|svg|json|txt)$/;
/** Smaller files fit one packet anyway. */
const WORTH_BYTES = 1_024;

/** Writes each text file of the build as brotli and gzip next to it, so that serving costs no computing time. */
export function compressed(): Plugin {
	let folder = "";
	return {
		name: "posthorn-compressed",
		apply: "build",
		configResolved({ root, build }) {
			folder = join(root, build.outDir, build.assetsDir);
		},
		closeBundle() {
			for (const name of readdirSync(folder)) {
				if (!TEXT.test(name)) continue;
				const path = join(folder, name);
				const bytes = readFileSync(path);
				if (bytes.length < WORTH_BYTES) continue;
				const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
				writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
				writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
			}
		},
	};
}
