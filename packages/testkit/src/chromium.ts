import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
	const { default: chromium, inflate } = await import("@sparticuz/chromium");
	const executablePath = await chromium.executablePath();
	// It includes the libraries that a minimal machine lacks.
	await inflate(fileURLToPath(new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"))));
	const { LD_LIBRARY_PATH: libraries } = process.env;
	const path = [join(tmpdir(), "al2023", "lib"), ...(libraries ? [libraries] : [])].join(":");
	return { executablePath, args, env: { ...process.env, LD_LIBRARY_PATH: path } };
}
