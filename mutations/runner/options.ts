import { parseArgs } from "node:util";
import type { Areas } from "../index.ts";
import type { Mutation } from "../mutation.ts";

/** A mutation and the area that it belongs to. */
export interface Chosen {
	readonly area: string;
	readonly mutation: Mutation;
}

export interface Options {
	readonly all: readonly Chosen[];
	readonly chosen: readonly Chosen[];
	/** Whether to print only the usage. */
	readonly help: boolean;
	/** Only lists them. */
	readonly list: boolean;
	/** Only those not yet tried at this commit. */
	readonly rest: boolean;
	/** How many mutations to try concurrently. */
	readonly atOnce: number;
}

export const USAGE = `npm run mutate -- [--list] [--rest] [--at-once N] [--area AREA] … [NAME …]

Puts deliberate faults into a copy of the checkout, one at a time, and runs the tests that should notice each.
Without names and areas: all of them. --rest leaves out what has been tried at this commit, so that a whole run can be
made in pieces. --at-once says how many are tried at a time, 2 by default.`;

/** Each needs a copy of the checkout and runs the processes of its tests. */
const MAX_AT_ONCE = 16;

/** Throws an Error that says what is wrong with the arguments. */
export function readOptions(args: readonly string[], areas: Areas): Options {
	const { values, positionals } = parseArgs({
		args: [...args],
		allowPositionals: true,
		options: {
			help: { type: "boolean", default: false },
			list: { type: "boolean", default: false },
			rest: { type: "boolean", default: false },
			"at-once": { type: "string", default: "2" },
			area: { type: "string", multiple: true, default: [] },
		},
	});
	const all = Object.entries(areas).flatMap(([area, mutations]) => mutations.map((mutation) => ({ area, mutation })));
	for (const area of values.area)
		if (!(area in areas)) throw new Error(`There is no area ${area}. There are: ${Object.keys(areas).join(", ")}.`);
	for (const name of positionals)
		if (!all.some(({ mutation }) => mutation.name === name))
			throw new Error(`There is no mutation ${name}. npm run mutate -- --list names them.`);
	const atOnce = Number(values["at-once"]);
	if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > MAX_AT_ONCE)
		throw new Error(`--at-once must be a whole number from 1 to ${MAX_AT_ONCE}.`);
	const isAll = values.area.length + positionals.length === 0;
	const chosen = all.filter(
		({ area, mutation }) => isAll || values.area.includes(area) || positionals.includes(mutation.name),
	);
	return { all, chosen, help: values.help, list: values.list, rest: values.rest, atOnce };
}
