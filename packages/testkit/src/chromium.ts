import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where systems keep it. */
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
 * A Chromium for tests: the one that `CHROMIUM` names, else the machine's own, else the one that npm brought. With
 * `CHROMIUM=npm` it is the last one in any case.
 */
export async function findChromium(): Promise<Chromium> {
	const named = process.env.CHROMIUM;
	const own = named === "npm" ? undefined : [named, ...PLACES].find((path) => path && existsSync(path));
	if (named && named !== "npm" && own !== named) throw new Error(`CHROMIUM names ${named}, and there is no such file.`);
	// Root may not have a sandbox; nothing but our own pages is opened.
	const args = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu", "--no-first-run"];
	if (own) return { executablePath: own, args };
	const { default: chromium, inflate } = await import("@sparticuz/chromium");
	const executablePath = await chromium.executablePath();
	// The libraries that it needs and a bare machine lacks come with it.
	await inflate(fileURLToPath(new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"))));
	const { LD_LIBRARY_PATH: libraries } = process.env;
	const path = [join(tmpdir(), "al2023", "lib"), ...(libraries ? [libraries] : [])].join(":");
	return { executablePath, args, env: { ...process.env, LD_LIBRARY_PATH: path } };
}
