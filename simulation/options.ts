import { cpus } from "node:os";
import type { StorageKind } from "./storage/database.ts";

export interface Options {
	/** Simulated hours at least; null: one seed. */
	readonly hours: number;
	readonly storage: StorageKind;
	/** The first seed; with `trace` the only one. */
	readonly seed: number | null;
	readonly trace: boolean;
	readonly workers: number;
	readonly style: string | undefined;
	readonly help: boolean;
}

/** An argument that there is not, or that has no such value: told to whoever gave it. */
export class OptionError extends Error {}

const STORAGES: readonly StorageKind[] = ["memory", "sqlite", "postgres"];

export const HELP = `npm run simulate -- [options]

Runs the service in simulated worlds that are hostile to it, and checks every promise that it makes.
Stops at the first world in which one is broken, with exit code 1.

  --hours N          simulate at least so many hours (default 1,000)
  --storage KIND     memory (default), sqlite or postgres
  --seed S           run the world of this seed only
  --trace            print everything that happens in it, as a timeline (needs --seed)
  --style NAME       only worlds of this style: long, shop, shared, crowd or fan
  --workers N        worlds at a time (default: one for each core)
  --help             this text
`;

/** @throws OptionError */
export function readOptions(args: readonly string[]): Options {
	const given = new Map<string, string>();
	const flags = new Set<string>();
	for (let i = 0; i < args.length; i++) {
		const arg = args[i]!;
		if (arg === "--trace" || arg === "--help") flags.add(arg);
		else if (["--hours", "--storage", "--seed", "--style", "--workers"].includes(arg)) {
			const value = args[++i];
			if (value === undefined || value.startsWith("--")) throw new OptionError(`${arg} needs a value.`);
			given.set(arg, value);
		} else throw new OptionError(`There is no option ${arg}.`);
	}
	const storage = given.get("--storage") ?? "memory";
	if (!STORAGES.includes(storage as StorageKind))
		throw new OptionError(`--storage must be one of ${STORAGES.join(", ")}, not ${storage}.`);
	const style = given.get("--style");
	if (style !== undefined && !["long", "shop", "shared", "crowd", "fan"].includes(style))
		throw new OptionError(`--style must be long, shop, shared, crowd or fan, not ${style}.`);
	const seed = number("--seed", given, 0);
	if (flags.has("--trace") && seed === null) throw new OptionError("--trace needs --seed: it shows one world.");
	return {
		hours: number("--hours", given, 1) ?? 1_000,
		storage: storage as StorageKind,
		seed,
		trace: flags.has("--trace"),
		workers: number("--workers", given, 1) ?? cpus().length,
		style,
		help: flags.has("--help"),
	};
}

function number(name: string, given: ReadonlyMap<string, string>, least: number): number | null {
	const text = given.get(name);
	if (text === undefined) return null;
	const value = Number(text);
	if (!Number.isSafeInteger(value) || value < least)
		throw new OptionError(`${name} must be a whole number, ${least} or more, not ${text}.`);
	return value;
}
