/**
 * Runs worlds with a deliberate fault. For each fault, the process loads the changed file and all modules that lead to it
 * again. It shares all other modules, already compiled, among faults.
 */
import { registerHooks } from "node:module";
import type { Fault } from "./fault.ts";

type TaskModule = typeof import("./task.ts");

/** A fault, and the modules that are loaded again for it. */
interface Faulty {
	readonly fault: Fault;
	/** The changed file. */
	readonly url: string;
	/** The changed file, and all modules that import it, directly or not. */
	readonly affected: ReadonlySet<string>;
	/** Whether the changed file has been loaded. */
	applied: boolean;
}

const ROOT = new URL("../..", import.meta.url);
const TASK = new URL("task.ts", import.meta.url).href;
/** In the URL of a module that is loaded for a fault: follows its file's URL, and precedes the fault's index. */
const MARK = "?fault=";

/** For each module, those that import it, in the product without a fault. */
const importers = new Map<string, Set<string>>();
const faulties: Faulty[] = [];
/** By the fault as JSON. */
const loaded = new Map<string, Promise<TaskModule>>();

registerHooks({
	resolve(specifier, context, nextResolve) {
		const resolved = nextResolve(specifier, context);
		const [importer = "", no] = (context.parentURL ?? "").split(MARK);
		if (no !== undefined)
			return faulties[Number(no)]!.affected.has(resolved.url)
				? { ...resolved, url: `${resolved.url}${MARK}${no}` }
				: resolved;
		const known = importers.get(resolved.url);
		if (known) known.add(importer);
		else importers.set(resolved.url, new Set([importer]));
		return resolved;
	},
	load(address, context, nextLoad) {
		const module = nextLoad(address, context);
		const [url, no] = address.split(MARK);
		const faulty = faulties[Number(no)];
		if (faulty === undefined || faulty.url !== url) return module;
		const { find, replace, name, file } = faulty.fault;
		const source = String(module.source);
		if (source.split(find).length !== 2) throw new Error(`The fault "${name}" does not apply: ${file} has changed.`);
		faulty.applied = true;
		return { ...module, source: source.replace(find, () => replace) };
	},
});

/** Imports the module that runs tasks, with this fault. Rejects if the fault doesn't apply, or worlds don't load its file. */
export function importFaulty(fault: Fault): Promise<TaskModule> {
	const key = JSON.stringify(fault);
	const known = loaded.get(key) ?? load(fault);
	loaded.set(key, known);
	return known;
}

async function load(fault: Fault): Promise<TaskModule> {
	// Fills `importers`.
	await import("./task.ts");
	const url = new URL(fault.file, ROOT).href;
	const faulty: Faulty = { fault, url, affected: leadingTo(url), applied: false };
	const no = faulties.push(faulty) - 1;
	const module: TaskModule = await import(`${TASK}${MARK}${no}`);
	if (!faulty.applied) throw new Error(`The fault "${fault.name}" has no effect: worlds don't load ${fault.file}.`);
	return module;
}

function leadingTo(url: string): ReadonlySet<string> {
	const all = new Set([url]);
	for (const one of all) for (const importer of importers.get(one) ?? []) all.add(importer);
	return all;
}
