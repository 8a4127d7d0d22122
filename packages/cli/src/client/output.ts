/** What commands print: results to standard output, everything else to standard error. */
import { stripVTControlCharacters } from "node:util";
import { colors, errorColors } from "../colors.ts";

/** Characters that could drive the terminal: controls, line separators, and marks of direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const DRIVING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g;

/** Text from elsewhere: characters that could drive the terminal become visible. */
export const clean = (text: string): string => text.replaceAll(DRIVING, "\ufffd");

/** The same for text of several lines. */
export const cleanLines = (text: string): string => text.split(/\r?\n/).map(clean).join("\n");

/** At most this many characters, with an ellipsis if there are more. */
export function cut(text: string, width: number): string {
	// Whole ones: an emoji has two code units.
	const characters = [...text];
	if (width < 1) return "";
	return characters.length > width ? `${characters.slice(0, width - 1).join("")}…` : text;
}

/**
 * The same JSON in one line, without characters that could drive the terminal. Between its values JSON has only blanks
 * of these, and within strings it may have their escapes instead.
 */
export function jsonLine(json: string): string {
	const line = json.replaceAll(/[\t\r\n]/g, " ");
	return line.replaceAll(DRIVING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export const printJson = (value: unknown): void => console.log(jsonLine(JSON.stringify(value)));

export const note = (text: string): void => console.error(errorColors.dim(text));

export const warn = (text: string): void => console.error(`${errorColors.yellow("!")} ${text}`);

/** Where something is printed. */
export interface Output {
	readonly print: (text: string) => void;
	readonly colors: typeof colors;
}

export const STANDARD_OUTPUT: Output = { print: console.log, colors };
export const STANDARD_ERROR: Output = { print: console.error, colors: errorColors };

/** Columns of the terminal. Unlimited elsewhere, and if it doesn't know them. */
export const terminalWidth = (): number => process.stdout.columns || Number.POSITIVE_INFINITY;

/** A width that only applies at a terminal: a file gets everything. */
export const atTerminal = (width: number): number => (process.stdout.isTTY ? width : Number.POSITIVE_INFINITY);

/** How many characters of a text are shown. */
export const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/** The widths of a table's columns. */
export const widthsOf = (headings: readonly string[], rows: readonly (readonly string[])[]): readonly number[] =>
	headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => widthOf(row[i] ?? ""))));

/** Rows in aligned columns, under their headings. */
export function printTable(
	headings: readonly string[],
	rows: readonly (readonly string[])[],
	{ print, colors } = STANDARD_OUTPUT,
): void {
	const widths = widthsOf(headings, rows);
	const line = (cells: readonly string[]) =>
		cells
			.map((cell, i) => (i === cells.length - 1 ? cell : cell + " ".repeat(widths[i]! - widthOf(cell))))
			.join("  ")
			.trimEnd();
	print(colors.dim(line(headings)));
	for (const row of rows) print(line(row));
}

/** Names and values, one a line. */
export function printFields(fields: readonly (readonly [name: string, value: string])[]): void {
	const width = Math.max(...fields.map(([name]) => name.length));
	for (const [name, value] of fields) console.log(`${colors.dim(name.padEnd(width))}  ${value}`);
}

const UNITS = [
	["d", 86_400_000],
	["h", 3_600_000],
	["min", 60_000],
	["s", 1_000],
] as const;

/** `5 min ago`; `now` below a second. */
export function ago(iso: string): string {
	const ms = Date.now() - Date.parse(iso);
	const [unit, size] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? [];
	if (unit === undefined) return "now";
	const count = `${Math.floor(Math.abs(ms) / size!)} ${unit}`;
	return ms < 0 ? `in ${count}` : `${count} ago`;
}

/** The current time, `12:03:11`. */
export const clockTime = (): string => colors.dim(new Date().toTimeString().slice(0, 8));

/** An HTTP status, or a text about it, in the color of its class. */
export function colored(status: number, text = String(status)): string {
	if (status < 300) return colors.green(text);
	return status < 500 ? colors.yellow(text) : colors.red(text);
}

/** `1 webhook`, `1,200 webhooks`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
	`${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

export const deliveries = (count: number): string => plural(count, "delivery", "deliveries");
