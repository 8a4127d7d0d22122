import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

// Importing `node:http`, even for one function, also loads all of undici. One of the doctor's checks did so at every start.
test("the service's modules don't load undici", async () => {
	const program = `
		await import(${JSON.stringify(import.meta.resolve("./serve.ts"))});
		console.log(process.moduleLoadList.filter((name) => name.includes("undici")).join());`;
	const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
	expect(stdout).toBe("\n");
});
