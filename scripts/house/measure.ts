import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Forwarding, forwardingOf } from "./forwarding.ts";
import { readSource } from "./source.ts";
import { ENGINES, type Engine, faultsOfWalk, filesOf, readWalks, SERVER, type Walk } from "./walks.ts";

/** Files with fewer lines are small. */
export const SMALL = 25;
/** Tests and their helpers. */
const LEFT_OUT = [/\.(?:test|fixture)\.ts$/, /^storage\/conformance\//, /^storage\/memory\//];
export const LEFT_OUT_TEXT = "tests, fixtures, storage's suite (conformance/) and its model (memory/)";

interface Size {
	readonly files: number;
	readonly lines: number;
}

export interface House {
	/** By room: a folder of the server or of its storage; "." for files directly in the server's folder. */
	readonly rooms: Readonly<Record<string, Size>>;
	readonly total: Size;
	/** Not in the total. */
	readonly sql: Size;
	readonly small: number;
	/** The folder with the most files directly in it. */
	readonly largestFolder: { readonly folder: string; readonly files: number };
	readonly forwarding: Forwarding;
	readonly walks: readonly WalkLength[];
	/** The files of all walks, each once. */
	readonly stops: Readonly<Record<Engine, number>>;
	/** Errors in the walks, whose lengths are then too short. */
	readonly faults: readonly string[];
}

interface WalkLength extends Readonly<Record<Engine, number>> {
	readonly name: string;
}

/** Measures a checkout. @param walks for a checkout that lists none */
export function measure(root: string, walks: readonly Walk[]): House {
	const server = join(root, SERVER);
	const rooms: Record<string, { files: number; lines: number }> = {};
	const folders = new Map<string, number>();
	const total = { files: 0, lines: 0 };
	const forwarding = { functions: 0, lines: 0 };
	let small = 0;
	const sql = { files: 0, lines: 0 };
	for (const file of sourceFiles(server, ".sql"))
		add(sql, readFileSync(join(server, file), "utf8").split("\n").length - 1);
	for (const file of sourceFiles(server, ".ts")) {
		const source = readSource(join(server, file));
		const room = roomOf(file);
		rooms[room] ??= { files: 0, lines: 0 };
		add(rooms[room], source.lines);
		folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
		add(total, source.lines);
		if (source.lines < SMALL) small++;
		const found = forwardingOf(source);
		forwarding.functions += found.functions;
		forwarding.lines += found.lines;
	}
	const [folder, files] = [...folders].reduce((most, one) => (one[1] > most[1] ? one : most));
	return {
		rooms,
		total,
		sql,
		small,
		largestFolder: { folder, files },
		forwarding,
		...walk(root, readWalks(root) ?? walks),
	};
}

function add(size: { files: number; lines: number }, lines: number): void {
	size.files++;
	size.lines += lines;
}

function walk(root: string, walks: readonly Walk[]): Pick<House, "walks" | "stops" | "faults"> {
	const faults = walks.flatMap((one) => faultsOfWalk(root, one));
	const lengthOf = (some: readonly Walk[], engine: Engine) =>
		filesOf(some, engine).filter((file) => existsSync(join(root, SERVER, file))).length;
	const byEngine = (some: readonly Walk[]) =>
		Object.fromEntries(ENGINES.map((engine) => [engine, lengthOf(some, engine)])) as Record<Engine, number>;
	return { walks: walks.map((one) => ({ name: one.name, ...byEngine([one]) })), stops: byEngine(walks), faults };
}

/** Paths below the server's folder, in order, with slashes. */
function sourceFiles(server: string, ending: string): string[] {
	return readdirSync(server, { recursive: true, encoding: "utf8" })
		.map((path) => path.replaceAll("\\", "/"))
		.filter((path) => path.endsWith(ending) && !LEFT_OUT.some((pattern) => pattern.test(path)))
		.sort();
}

function roomOf(file: string): string {
	const folders = file.split("/").slice(0, -1);
	if (folders.length === 0) return ".";
	return folders.slice(0, folders[0] === "storage" ? 2 : 1).join("/");
}
