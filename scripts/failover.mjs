// `npm run failover`: sets up, then kills the primary of a real PostgreSQL cluster under load.
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

setup();
process.exitCode = await runNode([join(ROOT, "e2e/failover/main.ts"), ...process.argv.slice(2)]);
