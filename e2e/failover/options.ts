import { parseArgs } from "node:util";
import { FAULTS, type FaultName } from "./faults.ts";

export const HELP = `Kills the primary of a PostgreSQL cluster under load, and checks that no event is lost and that publishing resumes.

Runs three PostgreSQL servers under Patroni in synchronous mode, three etcd members, HAProxy, three Posthorn nodes and
HTTPS receivers on this machine, in a temporary folder. Installs missing programs from Debian, which takes root.

Usage: npm run failover -- [options]

  --kills N        how many times the primary fails (default 10, at most 100)
  --rate N         events published per second across 20 projects, about (default 200, at most 1000)
  --through NAME   haproxy (default): nodes connect through HAProxy; hosts: their database URL lists the servers
  --fail LIST      how it fails, taking turns (default crash,power,freeze):
                   crash   PostgreSQL is killed (kill -9), Patroni keeps running
                   power   PostgreSQL and Patroni are killed, as when the machine loses power
                   freeze  both are stopped (SIGSTOP), and resume once another server is the primary
  --keep           keep the folder with all data and logs
  --help

Exits with 1 if an event was lost, badly signed or out of order, or if publishing took more than 30 seconds to resume; with
2 on a wrong option; with 3 if this machine can't run it.
`;

const MAX_KILLS = 100;
const MAX_RATE = 1_000;

export interface Options {
	readonly help: boolean;
	readonly kills: number;
	readonly rate: number;
	readonly through: "haproxy" | "hosts";
	readonly fail: readonly FaultName[];
	readonly keep: boolean;
}

/** A wrong option; the message says which and what would be right. */
export class OptionError extends Error {}

/** Throws an {@link OptionError}. */
export function readOptions(args: readonly string[]): Options {
	const { kills = "10", rate = "200", through = "haproxy", fail = "crash,power,freeze", keep, help } = parse(args);
	if (through !== "haproxy" && through !== "hosts")
		throw new OptionError(`--through is "${through}"; it must be haproxy or hosts.`);
	return {
		help: help ?? false,
		kills: readWhole("kills", kills, MAX_KILLS),
		rate: readWhole("rate", rate, MAX_RATE),
		through,
		fail: fail.split(",").map(readFault),
		keep: keep ?? false,
	};
}

function parse(args: readonly string[]) {
	const flag = { type: "boolean" } as const;
	const text = { type: "string" } as const;
	try {
		return parseArgs({
			args: [...args],
			options: { kills: text, rate: text, through: text, fail: text, keep: flag, help: flag },
		}).values;
	} catch (error) {
		throw new OptionError((error as Error).message);
	}
}

function readWhole(name: string, text: string, most: number): number {
	const value = Number(text);
	if (!Number.isInteger(value) || value < 1 || value > most)
		throw new OptionError(`--${name} is "${text}"; it must be a whole number from 1 to ${most}.`);
	return value;
}

function readFault(name: string): FaultName {
	if (!Object.hasOwn(FAULTS, name))
		throw new OptionError(`--fail has "${name}"; it takes ${Object.keys(FAULTS).join(", ")}.`);
	return name as FaultName;
}
