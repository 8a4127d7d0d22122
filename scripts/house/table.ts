import { type House, LEFT_OUT_TEXT, SMALL } from "./measure.ts";
import { SERVER } from "./walks.ts";

export interface Named {
	readonly name: string;
	readonly house: House;
}

/** A checkout with another layout has many. */
const SHOWN_FAULTS = 5;

/** A label, and each checkout's columns. */
type Line = readonly [label: string, columns: readonly (readonly [string, string])[]];

/** Checkouts side by side, as readable text. */
export function tableOf(all: readonly Named[]): string {
	const line = (label: string, columns: (house: House) => readonly [string | number, string | number]): Line => [
		label,
		all.map(({ house }) => columns(house).map(text) as [string, string]),
	];
	const rooms = [...new Set(all.flatMap(({ house }) => Object.keys(house.rooms)))].sort();
	const lines: Line[] = [
		["", all.map(({ name }) => ["", name])],
		["", all.map(() => ["files", "lines"])],
		...rooms.map((room) => line(room, ({ rooms }) => [rooms[room]?.files ?? "–", rooms[room]?.lines ?? "–"])),
		line("all", ({ total }) => [total.files, total.lines]),
		line("SQL files", ({ sql }) => [sql.files, sql.lines]),
		["", []],
		line(`under ${SMALL} lines`, ({ small }) => [small, ""]),
		line("forwarding functions", ({ forwarding }) => [forwarding.functions, forwarding.lines]),
		...[...new Set(all.map(({ house }) => house.largestFolder.folder))].map((name) =>
			line(`largest folder: ${name}`, ({ largestFolder: { folder, files } }) => [folder === name ? files : "", ""]),
		),
		["", []],
		["files that an event passes", all.map(() => ["SQLite", "PostgreSQL"])],
		...all[0]!.house.walks.map(({ name }) =>
			line(name, ({ walks }) => {
				const walk = walks.find((one) => one.name === name);
				return [walk?.sqlite ?? "–", walk?.postgres ?? "–"];
			}),
		),
		line("all of these, each once", ({ stops }) => [stops.sqlite, stops.postgres]),
	];
	const width = Math.max(...lines.map(([label]) => label.length));
	const rows = lines.map(([label, columns]) =>
		[label.padEnd(width), ...columns.map(([a, b]) => `${a.padStart(8)}${b.padStart(12)}`)].join("  ").trimEnd(),
	);
	const faults = all.flatMap(({ name, house: { faults } }) => {
		if (faults.length === 0) return [];
		const more = faults.length - SHOWN_FAULTS;
		return [
			`\nThe walks don't fit ${name}, so an event passes more files there than this says:`,
			...faults.slice(0, SHOWN_FAULTS),
			...(more > 0 ? [`… and ${more} more`] : []),
		];
	});
	return [`${SERVER}, without ${LEFT_OUT_TEXT}\n`, ...rows, ...faults].join("\n");
}

const text = (value: string | number): string => (typeof value === "number" ? value.toLocaleString("en") : value);
