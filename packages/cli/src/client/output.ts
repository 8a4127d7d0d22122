/** What commands print: results to standard output, everything else to standard error. */
import measure from "fast-string-truncated-width";
import { colors, errorColors } from "../colors.ts";

/** Characters that could drive the terminal: controls, line separators, and marks of direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const DRIVING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g;

/** Text from elsewhere: characters that could drive the terminal become visible. */
export const clean = (text: string): string => text.replaceAll(DRIVING, "\ufffd");

/** The same for text of several lines. */
export const cleanLines = (text: string): string => text.split(/\r?\n/).map(clean).join("\n");

const GRAPHEMES = new Intl.Segmenter("en");

/** As much of a text without escape sequences as fits into this many columns, with an ellipsis if that isn't all. */
export function cut(text: string, width: number): string {
	if (width < 1) return "";
	if (!measure(text, { limit: width }).truncated) return text;
	let room = width - 1;
	let shown = "";
	// Whole characters: an emoji may consist of several code points.
	for (const { segment } of GRAPHEMES.segment(text)) {
		room -= widthOf(segment);
		if (room < 0) break;
		shown += segment;
	}
	return `${shown}…`;
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
	/** Columns of the terminal. Unlimited elsewhere, and if it doesn't know them. */
	readonly width: () => number;
}

/** Columns of the terminal that standard output goes to. Unlimited elsewhere, and if it doesn't know them. */
export const terminalWidth = (): number => process.stdout.columns || Number.POSITIVE_INFINITY;

export const STANDARD_OUTPUT: Output = { print: console.log, colors, width: terminalWidth };
export const STANDARD_ERROR: Output = {
	print: console.error,
	colors: errorColors,
	width: () => process.stderr.columns || Number.POSITIVE_INFINITY,
};

/** A width that only applies at a terminal: a file gets everything. */
export const atTerminal = (width: number): number => (process.stdout.isTTY ? width : Number.POSITIVE_INFINITY);

/** How many columns of a terminal a text takes: none for colors, two for an emoji or a Chinese character. */
export const widthOf = (text: string): number => measure(text).width;

/** The widths of a table's columns. */
export const widthsOf = (headings: readonly string[], rows: readonly (readonly string[])[]): readonly number[] =>
	headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => widthOf(row[i] ?? ""))));

/** What separates columns. */
export const GAP = "  ";

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
			.join(GAP)
			.trimEnd();
	print(colors.dim(line(headings)));
	for (const row of rows) print(line(row));
}

/** A column without colors, by its heading, and the least of it that is worth showing. */
export interface FlexibleColumn {
	readonly heading: string;
	readonly least: number;
}

/**
 * A table whose lines fit into the terminal, if its other columns do.
 *
 * @param flexible columns that may be cut or left out, the least informative first
 */
export function fitted(
	headings: readonly string[],
	rows: readonly (readonly string[])[],
	flexible: readonly FlexibleColumn[],
	{ width } = STANDARD_OUTPUT,
): [headings: readonly string[], rows: readonly (readonly string[])[]] {
	const full = widthsOf(headings, rows);
	const widths = [...full];
	const columns = flexible
		.map(({ heading, least }) => ({ at: headings.indexOf(heading), least }))
		.filter(({ at }) => at >= 0)
		.map(({ at, least }) => ({ at, spare: Math.max(0, full[at]! - least) }));
	let over = full.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - width();
	// Leaves columns out until it is enough to cut the others.
	while (columns.length > 0 && over > columns.reduce((sum, { spare }) => sum + spare, 0)) {
		const { at } = columns.shift()!;
		widths[at] = 0;
		over -= full[at]! + GAP.length;
	}
	for (const { at, spare } of columns) {
		const less = Math.min(Math.max(0, over), spare);
		widths[at]! -= less;
		over -= less;
	}
	// Only flexible columns are cut: others may have colors.
	const fit = (cells: readonly string[]) =>
		cells.map((cell, i) => (widths[i] === full[i] ? cell : cut(cell, widths[i]!))).filter((_, i) => widths[i]! > 0);
	return [fit(headings), rows.map(fit)];
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
