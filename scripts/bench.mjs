// `npm run bench`: sets up, then measures.
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

setup();
process.exitCode = await runNode([join(ROOT, "bench/main.ts"), ...process.argv.slice(2)]);
