// `npm run docs`: writes the pages that are generated from code.
import { writeFileSync } from "node:fs";
import { configurationPage } from "../packages/server/src/config/settings.ts";

writeFileSync(new URL("../docs/operations/configuration.md", import.meta.url), configurationPage());
