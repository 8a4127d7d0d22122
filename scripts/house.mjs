// `npm run house`: measures how the service's code is laid out. Options in house/main.ts.
import { join } from "node:path";
import { install, ROOT, runNode } from "./setup.mjs";

install();
process.exitCode = await runNode([join(ROOT, "scripts/house/main.ts"), ...process.argv.slice(2)]);
