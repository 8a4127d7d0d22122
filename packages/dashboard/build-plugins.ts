import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
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

const FONT_LICENSE = "@fontsource-variable/inter/LICENSE";

/** Loads the font along with the first scripts, and ships its license. */
export function withFont(): Plugin {
	return {
		name: "posthorn-font",
		apply: "build",
		generateBundle() {
			const source = readFileSync(createRequire(import.meta.url).resolve(FONT_LICENSE));
			this.emitFile({ type: "asset", fileName: "assets/inter-license.txt", source });
		},
		transformIndexHtml: {
			order: "post",
			handler(_html, { bundle = {} }) {
				const font = Object.keys(bundle).find((name) => name.endsWith(".woff2"));
				if (font === undefined) throw new Error("The build has no font to load.");
				const attrs = { rel: "preload", href: `/${font}`, as: "font", type: "font/woff2", crossorigin: true };
				return [{ tag: "link", attrs, injectTo: "head" }];
			},
		},
	};
}
