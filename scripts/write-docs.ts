// `npm run docs`: writes the pages that are generated from code.
import { writeFileSync } from "node:fs";
import { referencePage } from "../packages/cli/src/reference.ts";
import { configurationPage } from "../packages/server/src/config/settings.ts";

writeFileSync(new URL("../docs/operations/configuration.md", import.meta.url), configurationPage());
writeFileSync(new URL("../docs/guides/cli.md", import.meta.url), referencePage());
