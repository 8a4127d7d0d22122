import { parseArgs } from "node:util";

export interface Options {
	readonly help: boolean;
	/** Events to publish; Infinity if not given. */
	readonly events: number;
	/** Seconds to publish for; Infinity if not given. */
	readonly seconds: number;
	/** Null: choose a free one. */
	readonly port: number | null;
	readonly seed: number;
	/** How many times faster the store sells. */
	readonly speed: number;
}

export const HELP = `Shows Posthorn at work: a made-up store reports what happens in it to the real service, which makes events of
it and delivers them over HTTPS to two receivers on this computer. Runs until Ctrl-C, unless told when to stop.

  node examples/demo/main.ts [options]

  --events N     stop after N events, once all of them are delivered or dead-lettered
  --seconds N    publish for N seconds, then stop as above
  --port N       port of the service (default: 8420 if it is free, else any)
  --seed N       make the same things happen again (default: by chance)
  --speed N      the store sells N times as fast, 0.1 to 50 (default: 1)
  --help         this text

Exit code: 0 when it ran to its end or was stopped, 1 when the service could not start or died, 2 for wrong options.
Set NO_COLOR to have no colours.`;

const MAX_PORT = 65_535;
const MAX_SEED = 2 ** 32 - 1;

/** Reads the command line. Throws an `OptionError`, for people, when something on it is unknown or out of bounds. */
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

/** The command line is wrong; the message says how. */
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
