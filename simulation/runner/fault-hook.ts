/** Loaded before anything else (`--import`), it changes the source of one file as it is loaded. */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { FAULT_VARIABLE, type Fault } from "./fault.ts";

const text = process.env[FAULT_VARIABLE];
if (text !== undefined) {
	const { file, find, replace, name } = JSON.parse(text) as Fault;
	const root = fileURLToPath(new URL("../..", import.meta.url));
	const url = pathToFileURL(join(root, file)).href;
	registerHooks({
		load(loaded, context, nextLoad) {
			const module = nextLoad(loaded, context);
			if (loaded !== url) return module;
			const source = String(module.source);
			if (source.split(find).length !== 2) throw new Error(`The fault "${name}" does not apply: ${file} has changed.`);
			return { ...module, source: source.replace(find, () => replace) };
		},
	});
}
