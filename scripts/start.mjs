// `npm start`: sets up, then runs the demonstration.
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

setup();
process.exitCode = await runNode([join(ROOT, "examples/demo/main.ts"), ...process.argv.slice(2)]);
