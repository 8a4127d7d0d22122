// `npm run bench`: sets up, then measures.
import { join } from "node:path";
import { ROOT, runNode, setupToWrite } from "./setup.mjs";

setupToWrite();
process.exitCode = await runNode([join(ROOT, "bench/main.ts"), ...process.argv.slice(2)]);
