// `npm start`: sets up, then shows the main job at work.
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

setup();
process.exitCode = await runNode([join(ROOT, "examples/demo/main.ts"), ...process.argv.slice(2)]);
