// `npm run simulate`: sets up, then runs the service in simulated worlds.
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

setup();
process.exitCode = await runNode([join(ROOT, "simulation/main.ts"), ...process.argv.slice(2)]);
