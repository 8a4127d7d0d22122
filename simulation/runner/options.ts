import { availableParallelism } from "node:os";
import { NODES, type Nodes, STYLES } from "../plans/shapes.ts";
import { STORAGES, type StorageKind } from "../storage/database.ts";

export interface Options {
	/** Simulated hours at least. */
	readonly hours: number;
	readonly storage: StorageKind;
	/** Where the run starts. */
	readonly from: number;
	/** The only world; null: as many as the hours take. */
	readonly seed: number | null;
	readonly trace: boolean;
	readonly workers: number;
	/** Runs worlds with deliberate faults instead. */
	readonly bite: boolean;
	readonly style: string | undefined;
	readonly nodes: Nodes | undefined;
	readonly help: boolean;
}

/** An unknown option, or a value that it doesn't take. The message is for the person who typed it. */
export class OptionError extends Error {}

const WORKERS_PER_CORE = 4;

export const HELP = `npm run simulate -- [options]

Runs the service in simulated worlds that are hostile to it, and checks every promise it makes.
Stops at the first world that breaks one, with exit code 1, and prints the command that replays it.

  --hours N          simulate at least N hours (default 1,000)
  --storage KIND     ${STORAGES.join(", ")} (default memory)
  --from S           start with seed S and count up (default 1)
  --seed S           run only the world with seed S
  --trace            print everything that happens in it, as a timeline (needs --seed)
  --style NAME       only worlds of one style: ${STYLES.join(", ")}
  --nodes HOW        ${NODES.join(" or ")}: only worlds where one node owns the database, or where several share it
  --bite             check that deliberate faults of the service (simulation/bites) are caught
  --workers N        worlds at a time (default: one for each core; at most ${WORKERS_PER_CORE} for each)
  --help             print this text

Exit codes: 0 every promise held, 1 a world failed, 2 wrong options, 130 interrupted.
`;

const FLAGS = ["--trace", "--bite", "--help"] as const;
const VALUES = ["--hours", "--storage", "--from", "--seed", "--style", "--nodes", "--workers"] as const;

/** @throws OptionError */
export function readOptions(args: readonly string[]): Options {
	const { flags, values } = parse(args);
	const storage = choice("--storage", values, STORAGES) ?? "memory";
	const nodes = choice("--nodes", values, NODES);
	const seed = number("--seed", values, 0);
	const from = number("--from", values, 0);
	const hours = number("--hours", values, 1);
	if (flags.has("--trace") && seed === null) throw new OptionError("--trace needs --seed: it shows one world.");
	if (flags.has("--bite") && values.size > (values.has("--workers") ? 1 : 0))
		throw new OptionError("--bite brings its own worlds: it goes only with --workers.");
	if (seed !== null && ["--from", "--hours", "--workers"].some((name) => values.has(name)))
		throw new OptionError("--seed runs one world: leave out --from, --hours and --workers.");
	if (storage === "sqlite" && nodes === "many")
		throw new OptionError("SQLite belongs to one node: --storage sqlite doesn't go with --nodes many.");
	return {
		...{ storage, nodes, seed, from: from ?? 1, hours: hours ?? 1_000 },
		style: choice("--style", values, STYLES),
		workers: readWorkers(values),
		trace: flags.has("--trace"),
		bite: flags.has("--bite"),
		help: flags.has("--help"),
	};
}

/** The command that runs one world of a run again, with a timeline. */
export function replayCommand(seed: number, { storage, style, nodes }: Options): string {
	const options = { style, nodes, storage: storage === "memory" ? undefined : storage };
	const given = Object.entries(options).filter(([, value]) => value !== undefined);
	return [`npm run simulate -- --seed ${seed} --trace`, ...given.map(([name, value]) => `--${name} ${value}`)].join(
		" ",
	);
}

/** Bounded, because each worker is a process and a typo could start thousands. */
function readWorkers(values: Values): number {
	const cores = availableParallelism();
	const workers = number("--workers", values, 1) ?? cores;
	const most = WORKERS_PER_CORE * cores;
	if (workers > most)
		throw new OptionError(`--workers must be at most ${most} on this machine: ${WORKERS_PER_CORE} for each core.`);
	return workers;
}

type Values = ReadonlyMap<string, string>;

function parse(args: readonly string[]): { flags: ReadonlySet<string>; values: Values } {
	const flags = new Set<string>();
	const values = new Map<string, string>();
	const isOne = (names: readonly string[], name: string): boolean => names.includes(name);
	for (let i = 0; i < args.length; i++) {
		const [name = "", inline] = args[i]!.split(/=(.*)/s);
		if (flags.has(name) || values.has(name)) throw new OptionError(`${name} is given twice.`);
		if (isOne(FLAGS, name)) {
			if (inline !== undefined) throw new OptionError(`${name} takes no value.`);
			flags.add(name);
		} else if (isOne(VALUES, name)) {
			const value = inline ?? args[++i];
			if (value === undefined || value === "" || value.startsWith("--"))
				throw new OptionError(`${name} needs a value.`);
			values.set(name, value);
		} else throw new OptionError(`${args[i]} is not an option.`);
	}
	return { flags, values };
}

function choice<T extends string>(name: string, values: Values, choices: readonly T[]): T | undefined {
	const value = values.get(name);
	if (value === undefined || choices.includes(value as T)) return value as T | undefined;
	throw new OptionError(`${name} must be one of ${choices.join(", ")}, not ${value}.`);
}

function number(name: string, values: Values, least: number): number | null {
	const text = values.get(name);
	if (text === undefined) return null;
	const value = Number(text);
	if (!Number.isSafeInteger(value) || value < least)
		throw new OptionError(`${name} must be a whole number, ${least} or more, not ${text}.`);
	return value;
}
