import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeOnce } from "./make-once.ts";

/** Where systems install it. */
const PLACES = [
	"/usr/bin/chromium",
	"/usr/bin/chromium-browser",
	"/usr/bin/google-chrome",
	"/opt/google/chrome/chrome",
];

export interface Chromium {
	readonly executablePath: string;
	readonly args: string[];
	readonly env?: NodeJS.ProcessEnv;
}

/**
 * A Chromium for tests: the one that `CHROMIUM` names, the machine's own, or the one from npm, in this order.
 * `CHROMIUM=npm` always uses the last one.
 */
export async function findChromium(): Promise<Chromium> {
	const named = process.env.CHROMIUM;
	const own = named === "npm" ? undefined : [named, ...PLACES].find((path) => path && existsSync(path));
	if (named && named !== "npm" && own !== named) throw new Error(`CHROMIUM names ${named}, which doesn't exist.`);
	// The sandbox doesn't work as root; only our own pages are opened.
	const args = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--no-first-run"];
	if (own) return { executablePath: own, args };
	const place = await unpacked();
	const { LD_LIBRARY_PATH: libraries } = process.env;
	const path = [join(place, "al2023", "lib"), ...(libraries ? [libraries] : [])].join(":");
	return { executablePath: join(place, "chromium"), args, env: { ...process.env, LD_LIBRARY_PATH: path } };
}

/**
 * The folder with the Chromium from npm. Unpacked once per version and user, because the package itself trusts a folder
 * that all users and versions share.
 */
async function unpacked(): Promise<string> {
	const { default: chromium, inflate } = await import("@sparticuz/chromium");
	const file = (path: string) => fileURLToPath(new URL(path, import.meta.resolve("@sparticuz/chromium")));
	const { version } = JSON.parse(readFileSync(file("../package.json"), "utf8")) as { version: string };
	const place = join(tmpdir(), `posthorn-chromium-${version}-${process.getuid?.()}`);
	await makeOnce(place, async (draft) => {
		const { TMPDIR: before } = process.env;
		process.env.TMPDIR = draft;
		try {
			await chromium.executablePath();
			// It includes the libraries that a minimal machine lacks.
			await inflate(file("../bin/al2023.tar.br"));
		} finally {
			if (before === undefined) delete process.env.TMPDIR;
			else process.env.TMPDIR = before;
		}
	});
	return place;
}
