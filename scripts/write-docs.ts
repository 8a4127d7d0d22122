// `npm run docs`: writes the pages that are generated from code.
import { readFileSync, writeFileSync } from "node:fs";
import { referencePage } from "../packages/cli/src/reference.ts";
import { configurationPage } from "./configuration-page.ts";
import { receivingPage } from "./receiving-page.ts";

writeFileSync(new URL("../docs/operations/configuration.md", import.meta.url), configurationPage());
writeFileSync(new URL("../docs/guides/cli.md", import.meta.url), referencePage());

const receiving = new URL("../docs/guides/receiving.md", import.meta.url);
writeFileSync(receiving, receivingPage(readFileSync(receiving, "utf8")));
