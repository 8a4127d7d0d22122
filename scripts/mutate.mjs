// `npm run mutate`: sets up, then tries deliberate faults.
import { join } from "node:path";
import { ROOT, runNode, setupToWrite } from "./setup.mjs";

setupToWrite();
process.exitCode = await runNode([
	"--disable-warning=ExperimentalWarning",
	join(ROOT, "mutations/runner/main.ts"),
	...process.argv.slice(2),
]);
