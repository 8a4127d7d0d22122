/** Lists as files: CSV (RFC 4180) for spreadsheets, and JSON lines for programs. */

export const EXPORT_FORMATS = {
	csv: "text/csv",
	jsonl: "application/jsonl",
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

type Cell = string | number | boolean | null;
export type Row = Readonly<Record<string, Cell>>;

/** Spreadsheets take a cell that begins like this for a formula, which could read or send other cells. */
const FORMULA = /^[\s]*[=+\-@\t\r]/;

/** So is the rest of a cell after what some of them take for a separator. */
const AFTER_SEPARATOR = /([;\t]\s*)([=+\-@])/g;

/** A text that is an identifier or came from a receiver must not become a formula: an apostrophe before it makes it text. */
function csvCell(cell: Cell): string {
	if (cell === null) return "";
	if (typeof cell !== "string") return String(cell);
	const text = (FORMULA.test(cell) ? `'${cell}` : cell).replaceAll(AFTER_SEPARATOR, "$1'$2");
	return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;

export interface ExportOptions {
	readonly format: ExportFormat;
	/** The names of the columns, in their order. */
	readonly columns: readonly string[];
	/** The next rows, or null after the last. */
	readonly next: () => Promise<readonly Row[] | null>;
	/** Rows after which it ends. */
	readonly maxRows: number;
	/** Whether to end it early: its time is up. */
	readonly isOver: () => boolean;
	/** Why rows may be missing although it reached the end; null if none are. */
	readonly gap?: string | null;
}

/** The file in pieces. If it ends early, its last line says so. */
export async function* exportedFile({
	format,
	columns,
	next,
	maxRows,
	isOver,
	gap = null,
}: ExportOptions): AsyncGenerator<string> {
	const note = (why: string) => (format === "csv" ? csvLine([why]) : `${JSON.stringify({ incomplete: why })}\n`);
	if (format === "csv") yield csvLine(columns);
	let left = maxRows;
	for (let rows = await next(); rows !== null; rows = await next()) {
		const these = rows.slice(0, left);
		left -= these.length;
		if (these.length > 0)
			yield these
				.map((row) => (format === "csv" ? csvLine(columns.map((name) => row[name]!)) : `${JSON.stringify(row)}\n`))
				.join("");
		if (these.length === rows.length && !isOver()) continue;
		const why =
			these.length === rows.length
				? "Not complete: the export took too long. Narrow the filters."
				: `Not complete: an export has at most ${maxRows.toLocaleString("en-US")} rows. Narrow the filters.`;
		yield note(why);
		return;
	}
	if (gap !== null) yield note(gap);
}

interface FileName {
	readonly project: string;
	readonly what: string;
	/** Milliseconds since the Unix epoch; undefined if unbounded. */
	readonly since: number | undefined;
	readonly until: number;
	readonly format: ExportFormat;
}

/** `acme-shop_deliveries_2026-11-23T10-00_2026-11-24T10-00.csv`, in ASCII, with times in UTC. */
export function fileNameOf({ project, what, since, until, format }: FileName): string {
	const slug = project
		.normalize("NFKD")
		.replaceAll(/[^A-Za-z0-9]+/g, "-")
		.replaceAll(/^-|-$/g, "")
		.slice(0, 60)
		.toLowerCase();
	const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replaceAll(":", "-");
	const from = since === undefined ? "all" : time(since);
	return `${[...(slug === "" ? [] : [slug]), what, from, time(until)].join("_")}.${format}`;
}
