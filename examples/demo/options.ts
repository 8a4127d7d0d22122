import { parseArgs } from "node:util";

export interface Options {
	readonly help: boolean;
	/** Events to publish; Infinity if not given. */
	readonly events: number;
	/** Seconds to publish for; Infinity if not given. */
	readonly seconds: number;
	/** Null chooses a free one. */
	readonly port: number | null;
	readonly seed: number;
	/** How many times faster the store sells. */
	readonly speed: number;
}

export const HELP = `Demonstrates Posthorn: a made-up store reports facts to the real service, which turns them into events and
delivers those over HTTPS to two receivers on this computer. Runs until Ctrl-C by default.

  npm start -- [options]

  --events N     stop after N events, once all are delivered or dead-lettered
  --seconds N    publish for N seconds, then stop as above
  --port N       port of the service (default: 8420 if it is free, otherwise any)
  --seed N       repeat the run with this seed (default: random)
  --speed N      the store sells N times as fast, 0.1 to 50 (default: 1)
  --help         print this text

Exit codes: 0 if it finished or was stopped, 1 if the service could not start or died, 2 for invalid options.
Set NO_COLOR to turn colors off.`;

const MAX_PORT = 65_535;
const MAX_SEED = 2 ** 32 - 1;

/** Parses the command line. Throws an `OptionError` for unknown options and values out of range. */
export function readOptions(args: readonly string[]): Options {
	const values = parse(args);
	return {
		help: values.help === true,
		events: whole("events", values.events, 1, Number.MAX_SAFE_INTEGER) ?? Number.POSITIVE_INFINITY,
		seconds: number("seconds", values.seconds, 0.1, 86_400) ?? Number.POSITIVE_INFINITY,
		port: whole("port", values.port, 1, MAX_PORT),
		seed: whole("seed", values.seed, 0, MAX_SEED) ?? Math.floor(Math.random() * 10_000),
		speed: number("speed", values.speed, 0.1, 50) ?? 1,
	};
}

/** The command line is invalid; the message says why. */
export class OptionError extends Error {
	override readonly name = "OptionError";
}

function parse(args: readonly string[]) {
	try {
		const text = { type: "string" } as const;
		const options = { events: text, seconds: text, port: text, seed: text, speed: text } as const;
		return parseArgs({ args: [...args], options: { ...options, help: { type: "boolean", short: "h" } } }).values;
	} catch (error) {
		throw new OptionError(error instanceof Error ? error.message : String(error), { cause: error });
	}
}

function number(name: string, text: string | undefined, lowest: number, highest: number): number | null {
	if (text === undefined) return null;
	const value = Number(text);
	if (text.trim() !== "" && value >= lowest && value <= highest) return value;
	throw new OptionError(`--${name} must be a number from ${lowest} to ${highest}, not "${text}".`);
}

function whole(name: string, text: string | undefined, lowest: number, highest: number): number | null {
	const value = number(name, text, lowest, highest);
	if (value === null || Number.isInteger(value)) return value;
	throw new OptionError(`--${name} must be a whole number, not "${text}".`);
}
