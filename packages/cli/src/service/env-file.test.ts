import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { parseEnvFile } from "./env-file.ts";

const parse = (text: string) => Object.fromEntries(parseEnvFile(text).variables);

test.each([
	"A=1\nB=2",
	"A=1\r\nB=2\r\n",
	"export A=1\n A = 1 \n",
	"# A='\n\nC=1",
	"A=\nB=2",
	"A=\"\"\nB=''",
	"A=abc # comment\nB='a # b' # comment",
	'A="abc\nB=2\nC=3',
	'A="a\nb" # comment\nB=2',
	'A=a\\nb\nB="a\\nb"',
	"A=it's\nB=2\nC=that's",
	"A=1\nA=2",
	"A=x y=z\nB=$A",
	"A='x' y\nno variable\nB=2",
])("reads %j as Node does", (text) => {
	expect(parse(text)).toEqual(parseEnv(text));
});

// Node takes the next line as the value: the database's URL was lost, or an error showed a secret.
test("an empty value with a space after it doesn't take the next line", () => {
	expect(parse("A= \nB=2\nC=\t\nD=4\nE= # none\nF=6")).toEqual({ A: "", B: "2", C: "", D: "4", E: "", F: "6" });
});

// Node cuts the value there, so the operator's key differed from what systemd, a shell or a container reads.
test("a # without a space before it is part of the value", () => {
	expect(parse("A=abc#def\nB=#1\nC=a #b\nD=#1 #2")).toEqual({ A: "abc#def", B: "#1", C: "a", D: "#1" });
});

test("line breaks may be those of any system", () => {
	expect(parse("A=1\rB=2\rC='a\rb'")).toEqual({ A: "1", B: "2", C: "a\nb" });
	expect(parse("export\tA=1\n\t# B=2")).toEqual({ A: "1" });
});

// They were ignored, so the service started with the default.
test("reports lines that begin like a Posthorn variable but aren't one, and ignores other lines", () => {
	const text = [
		"# POSTHORN_HOST",
		"POSTHORN_PORT: 9000",
		"export POSTHORN_BRAND",
		"set -a",
		"",
		'POSTHORN_SEAL_KEY="a',
		'b" c',
		"POSTHORN_HOST=::",
	].join("\n");
	expect(parseEnvFile(text).wrong).toEqual([2, 3, 6]);
	expect(parse(text)).toEqual({ POSTHORN_HOST: "::" });
});

// Such files worked, and were refused as a whole.
test("names without values are fine if the file or the environment sets them", () => {
	const text = [
		"POSTHORN_HOST=::",
		"POSTHORN_PORT=80",
		"export POSTHORN_HOST POSTHORN_PORT # for sh",
		"POSTHORN_OPERATOR_KEY",
		"POSTHORN_SEAL_KEY='a'; export POSTHORN_SEAL_KEY",
		'POSTHORN_BRAND="b"; # c',
		"POSTHORN_LOG_LEVEL",
		"export OTHER POSTHORN_DATABASE_URL",
		"POSTHORN_PORT 80",
		"POSTHORN_HOST='::'; rm x",
	].join("\n");
	const { variables, wrong } = parseEnvFile(text, (name) => name === "POSTHORN_OPERATOR_KEY");
	expect(wrong).toEqual([7, 8, 9, 10]);
	expect(Object.fromEntries(variables)).toEqual({
		POSTHORN_HOST: "::",
		POSTHORN_PORT: "80",
		POSTHORN_SEAL_KEY: "a",
		POSTHORN_BRAND: "b",
	});
});
