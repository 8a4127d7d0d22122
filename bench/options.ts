import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { NEIGHBOURS } from "./neighbours/neighbours.ts";

export const HELP = `Measures how much of the machine's limit the service reaches, and prints a table.

Usage: npm run bench -- [options]

  --webhooks LIST  how many webhooks, for example 1,100 (default 1,100,1000)
  --fanout LIST    to how many webhooks each event goes (default 1,10); only where it divides the webhooks
  --seconds N      about how long each measurement takes (default 12)
  --quick          short measurements, 2 seconds each
  --memory         also the memory with a million events waiting
  --log            only pages of a log with a million attempts, compared with an empty one
  --pending        only deliveries with ten million retries and a backlog of a million, on PostgreSQL
  --old-snapshot   only deliveries while a transaction keeps an old snapshot, on PostgreSQL
  --nodes          only two nodes on PostgreSQL compared with one, each with the same share of a core
  --idle-nodes     only the database's transactions and connections with more and more idle nodes
  --neighbours     only a quiet project's latency next to each hostile neighbor
  --neighbour NAME only the neighbors with NAME in their description
  --single         only the CPU time of one event in a request, by thread, and its latency
  --unwanted       only the CPU time of an event next to 10,000 webhooks that don't want it
  --many-webhooks  only the delivery rate of 1,000 webhooks compared with 100
  --search         only the delivery rate of events with order ids and customers, compared with events that aren't indexed
  --retention      only the delivery rate while retention deletes as much as is created
  --upgrade        only how long publishing is blocked by opening ten million events of the previous release
  --events N       how many events --upgrade writes (default 10000000)
  --client         only the CPU time of the HTTP client that sends the requests
  --soak           only what stays in memory after a hundred projects were used and left
  --against DIR    only throughput and CPU compared with another checkout in DIR, alternating
  --rounds N       how many pairs of services --against starts (default 7), or rounds --retention and --search have (default 5)
  --dashboard      only the dashboard in Chromium: pages, a long log, live rows, with goals and whether they're met
  --facts          only store facts with a million baskets and customers
  --all            everything (with --database postgres: on PostgreSQL, too)
  --database NAME  sqlite (default), or postgres: both, one after the other
  --profile DIR    also write CPU profiles of the service's threads to DIR (this slows it down)
  --json           print one JSON object instead of the table
  --help

Progress goes to standard error.
Exits with 1 if any delivery was missing or out of order, 2 on a wrong option, 130 if interrupted.
`;

const MAX_WEBHOOKS = 10_000;
const MAX_FANOUT = 100;
const MAX_ROUNDS = 100;
const MAX_SECONDS = 120;
const MAX_EVENTS = 100_000_000;
const FULL_EVENTS = 10_000_000;
const FULL_SECONDS = 12;
const QUICK_SECONDS = 2;

export type Engine = "sqlite" | "postgres";

/** Measurements that can be selected individually. */
const ALONE = [
	"log",
	"pending",
	"old-snapshot",
	"nodes",
	"idle-nodes",
	"facts",
	"neighbours",
	"single",
	"unwanted",
	"many-webhooks",
	"search",
	"retention",
	"upgrade",
	"client",
	"dashboard",
	"soak",
	"against",
] as const;
type Part = "deliveries" | "memory" | (typeof ALONE)[number];

export interface Options {
	readonly help: boolean;
	readonly json: boolean;
	readonly parts: ReadonlySet<Part>;
	readonly engines: readonly Engine[];
	readonly seconds: number;
	readonly shapes: readonly { readonly webhooks: number; readonly fanout: number }[];
	readonly profileFolder: string | null;
	/** Another checkout to compare with; null for none. */
	readonly against: string | null;
	readonly rounds: number;
	/** How many events of the previous release to write. */
	readonly events: number;
	/** Parts of the descriptions of the neighbors to include; null for all. */
	readonly neighbour: string | null;
}

/** A wrong option; the message says which and what would be right. */
export class OptionError extends Error {}

/** Throws an {@link OptionError}. */
export function readOptions(args: readonly string[]): Options {
	const values = parse(args);
	const webhooks = readList("webhooks", values.webhooks ?? "1,100,1000", MAX_WEBHOOKS);
	const fanouts = readList("fanout", values.fanout ?? "1,10", MAX_FANOUT);
	const shapes = webhooks.flatMap((count) =>
		fanouts.filter((fanout) => count % fanout === 0).map((fanout) => ({ webhooks: count, fanout })),
	);
	if (shapes.length === 0) throw new OptionError("--fanout: no number of webhooks can be divided by any of these.");
	return {
		help: values.help ?? false,
		json: values.json ?? false,
		parts: readParts(values),
		engines: readEngines(values.database ?? "sqlite"),
		seconds: readSeconds(values.seconds, values.quick ?? false),
		shapes,
		profileFolder: values.profile === undefined ? null : resolve(values.profile),
		neighbour: readNeighbour(values.neighbour),
		against: readCheckout(values.against),
		rounds: readNumber("rounds", values.rounds ?? (values.retention || values.search ? "5" : "7"), MAX_ROUNDS),
		events: readNumber("events", values.events ?? String(FULL_EVENTS), MAX_EVENTS),
	};
}

function parse(args: readonly string[]) {
	const flag = { type: "boolean" } as const;
	const text = { type: "string" } as const;
	try {
		return parseArgs({
			args: [...args],
			options: {
				webhooks: text,
				fanout: text,
				seconds: text,
				quick: flag,
				memory: flag,
				log: flag,
				pending: flag,
				"old-snapshot": flag,
				nodes: flag,
				"idle-nodes": flag,
				facts: flag,
				neighbours: flag,
				neighbour: text,
				single: flag,
				unwanted: flag,
				"many-webhooks": flag,
				search: flag,
				retention: flag,
				upgrade: flag,
				events: text,
				client: flag,
				dashboard: flag,
				soak: flag,
				against: text,
				rounds: text,
				all: flag,
				database: text,
				profile: text,
				json: flag,
				help: flag,
			},
		}).values;
	} catch (error) {
		throw new OptionError(error instanceof Error ? error.message : String(error), { cause: error });
	}
}

function readParts(values: ReturnType<typeof parse>): ReadonlySet<Part> {
	if (values.all) return new Set(["deliveries", "memory", ...ALONE.filter((part) => part !== "against")]);
	const alone = ALONE.filter((part) => values[part] || (part === "neighbours" && values.neighbour !== undefined));
	if (alone.length > 0) return new Set(values.memory ? ["deliveries", "memory", ...alone] : alone);
	return new Set(values.memory ? ["deliveries", "memory"] : ["deliveries"]);
}

function readEngines(name: string): readonly Engine[] {
	if (name === "sqlite") return ["sqlite"];
	if (name === "postgres") return ["sqlite", "postgres"];
	throw new OptionError(`--database ${name}: give sqlite or postgres.`);
}

function readNeighbour(name: string | undefined): string | null {
	if (name === undefined) return null;
	if (NEIGHBOURS.some((neighbour) => neighbour.name.includes(name))) return name;
	throw new OptionError(`--neighbour ${name}: no neighbor's description contains this.`);
}

/** The root of another checkout, which must be set up already. */
function readCheckout(folder: string | undefined): string | null {
	if (folder === undefined) return null;
	const root = resolve(folder);
	if (folder === "" || !existsSync(join(root, "packages/cli/bin/posthorn.mjs")))
		throw new OptionError(`--against ${folder}: this is not a checkout of Posthorn.`);
	if (!existsSync(join(root, "node_modules")))
		throw new OptionError(`--against ${folder}: this checkout isn't set up. Run npm run setup there.`);
	return root;
}

function readList(name: string, text: string, max: number): number[] {
	const values = text.split(",").map(Number);
	if (values.every((value) => isWhole(value, max))) return values;
	throw new OptionError(`--${name} ${text}: give whole numbers from 1 to ${max}, separated by commas.`);
}

function readNumber(name: string, text: string, max: number): number {
	const value = Number(text);
	if (isWhole(value, max)) return value;
	throw new OptionError(`--${name} ${text}: give a whole number from 1 to ${max}.`);
}

const isWhole = (value: number, max: number): boolean => Number.isInteger(value) && value >= 1 && value <= max;

function readSeconds(text: string | undefined, quick: boolean): number {
	if (text === undefined) return quick ? QUICK_SECONDS : FULL_SECONDS;
	const seconds = Number(text);
	if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
	throw new OptionError(`--seconds ${text}: give a number above 0, at most ${MAX_SECONDS}.`);
}
