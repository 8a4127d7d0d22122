import { expect, test } from "vitest";
import { OptionError, readOptions, replayCommand } from "./options.ts";

test.for([
	[["--hour", "3"], "--hour is not an option."],
	[["--hours"], "--hours needs a value."],
	[["--hours", "--trace"], "--hours needs a value."],
	[["--hours="], "--hours needs a value."],
	[["--hours", "1.5"], "--hours must be a whole number, 1 or more, not 1.5."],
	[["--from", "-1"], "--from must be a whole number, 0 or more, not -1."],
	[["--seed", "1", "--seed", "2"], "--seed is given twice."],
	[["--help=yes"], "--help takes no value."],
	[["--nodes", "2"], "--nodes must be one of one, many, not 2."],
	[["--trace"], "--trace needs --seed: it shows one world."],
	[["--bite", "--seed", "1"], "--bite brings its own worlds: it goes only with --workers."],
	[["--seed", "1", "--from", "2"], "--seed runs one world: leave out --from, --hours and --workers."],
	[["--seed", "1", "--workers", "2"], "--seed runs one world: leave out --from, --hours and --workers."],
	[["--storage", "sqlite", "--nodes", "many"], "SQLite belongs to one node"],
	// The machine became too busy to interrupt the run.
	[["--workers", "100000"], "--workers must be at most"],
] as const)("%j is refused", ([args, message]) => {
	expect(() => readOptions(args)).toThrow(OptionError);
	expect(() => readOptions(args)).toThrow(message);
});

test("values follow their option, or an equals sign", () => {
	const options = readOptions(["--from=7", "--hours", "20", "--storage=sqlite", "--workers", "3"]);
	expect(options).toMatchObject({ from: 7, hours: 20, storage: "sqlite", workers: 3, seed: null });
});

test("the command that replays a world names all that makes the world what it is", () => {
	expect(replayCommand(3, readOptions(["--from", "2"]))).toBe("npm run simulate -- --seed 3 --trace");
	const args = ["--style", "long", "--nodes", "many", "--storage", "postgres", "--workers", "1"];
	const command = replayCommand(3, readOptions(args));
	expect(readOptions(command.split(" ").slice(4))).toEqual({
		...readOptions(["--style", "long", "--nodes", "many", "--storage", "postgres", "--seed", "3", "--trace"]),
	});
});
