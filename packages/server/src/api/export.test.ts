import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { exportedFile, fileNameOf, type Row } from "./routes/log/exports.ts";

async function fileOf(format: "csv" | "jsonl", pages: readonly (readonly Row[])[], maxRows = 10, isOver = () => false) {
	const options = { format, columns: ["a", "b"], pages: Readable.from(pages), maxRows, isOver, gap: null };
	const parts: string[] = [];
	for await (const part of exportedFile(options)) parts.push(part);
	return parts.join("");
}

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n=1", "＝1", '"=1'])(
	"%j isn't a formula",
	async (a) => {
		const file = await fileOf("csv", [[{ a, b: 1 }]]);
		expect(file.split("a,b\r\n")[1]).toMatch(/^"?'/);
		// JSON has no formulas.
		expect(JSON.parse(await fileOf("jsonl", [[{ a, b: 1 }]]))).toEqual({ a, b: 1 });
	},
);

// Where the list separator is a semicolon, spreadsheets split a cell there.
test("nothing after a semicolon or a tab is a formula", async () => {
	const file = await fileOf("csv", [[{ a: "https://x.example/;=1+1;\t @SUM(A1)", b: ";2" }]]);
	expect(file).toBe("a,b\r\nhttps://x.example/;'=1+1;\t '@SUM(A1),;2\r\n");
});

// An order id with a line break or a quote became a formula there: the quotes around the cell mean nothing.
test.each(['x;"=1+1', "x\n=1+1", 'x\r\n ""@SUM(A1)', "x;＝1"])("no part of %j is a formula", async (b) => {
	const file = await fileOf("csv", [[{ a: "delivered", b }]]);
	const fields = file
		.split(/[;\r\n]/)
		.map((field) => field.replace(/^[\s"]*/, ""))
		.filter((field) => /^[=+\-@＝]/.test(field));
	expect(fields).toEqual([]);
});

test("cells are quoted where they must be, and everything else stays as it is", async () => {
	const rows = [
		{ a: 'say "hi", then\r\nleave', b: null },
		{ a: " padded ", b: -5 },
		{ a: "grün ✓ 日本", b: true },
	];
	expect(await fileOf("csv", [rows.slice(0, 1), [], rows.slice(1)])).toBe(
		'a,b\r\n"say ""hi"", then\r\nleave",\r\n" padded ",-5\r\ngrün ✓ 日本,true\r\n',
	);
});

test("a file that ends early says so in its last line", async () => {
	const rows = [
		{ a: "x", b: 1 },
		{ a: "y", b: 2 },
	];
	expect(await fileOf("csv", [rows, rows], 3)).toMatch(
		/x,1\r\ny,2\r\nx,1\r\nNot complete: an export has at most 3 rows/,
	);
	expect(await fileOf("jsonl", [rows, rows], 9, () => true)).toMatch(/\{"a":"y","b":2\}\n\{"incomplete":"Not complete/);
	expect(await fileOf("csv", [rows], 2)).toBe("a,b\r\nx,1\r\ny,2\r\n");
});

test("the file's name says project and range, and whether it is filtered", () => {
	const at = Date.UTC(2026, 10, 24, 10, 5, 9);
	const of = { what: "deliveries", filtered: false, since: at - 3_600_000, until: at, format: "csv" } as const;
	expect(fileNameOf({ ...of, project: "Café “Zürich” / ../x\r\n" })).toBe(
		"cafe-zu-rich-x_deliveries_2026-11-24T09-05_2026-11-24T10-05.csv".replace("zu-rich", "zu-rich"),
	);
	expect(fileNameOf({ ...of, project: "店", since: undefined })).toBe("deliveries_all_2026-11-24T10-05.csv");
	// It said "all", whatever the filter was.
	expect(fileNameOf({ ...of, project: "店", since: undefined, filtered: true })).toBe(
		"deliveries_filtered_2026-11-24T10-05.csv",
	);
	expect(fileNameOf({ ...of, project: "店", filtered: true })).toBe(
		"deliveries_filtered_2026-11-24T09-05_2026-11-24T10-05.csv",
	);
});
