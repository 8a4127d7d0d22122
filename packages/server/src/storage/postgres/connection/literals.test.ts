import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../../testkit/src/postgres.ts";
import { idArray, numberArray, textArray } from "./literals.ts";

let server: PostgresServer;

beforeAll(async () => {
	server = await PostgresServer.start();
}, START_TIMEOUT_MS);
afterAll(() => server.stop());

/** How PostgreSQL reads an array literal in this format. */
async function read(literal: string, type: string): Promise<unknown> {
	const [row] = await server.execute(`SELECT to_json($posthorn$${literal}$posthorn$::${type}[]) AS value`, server.url);
	return row!.value;
}

test("numbers are read back as written, including integers of any size and NULL", async () => {
	const numbers = [0, -1, null, 42, 2 ** 53 - 1, -(2 ** 53), 1_767_225_600_123];
	expect(await read(numberArray(numbers), "bigint")).toEqual(numbers);
	expect(await read(numberArray([]), "bigint")).toEqual([]);
	expect(await read(numberArray([null]), "integer")).toEqual([null]);
});

test("ids are read back as written", async () => {
	const ids = ["01jd0000000000000000000000", "0000000000000000000000null", "7zzzzzzzzzzzzzzzzzzzzzzzzz"];
	expect(await read(idArray(ids), "text")).toEqual(ids);
	expect(await read(idArray([]), "text")).toEqual([]);
});

test("texts with any content are read back as written", async () => {
	const texts = [
		"",
		"NULL",
		"null",
		null,
		'a "quoted" one',
		"back\\slash",
		"{a,b}",
		" around ",
		"new\nline",
		"ü\u{1f600}",
		"\\n",
	];
	expect(await read(textArray(texts), "text")).toEqual(texts);
});
