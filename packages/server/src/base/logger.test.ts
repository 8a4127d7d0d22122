import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MODULE = JSON.stringify(new URL("logger.ts", import.meta.url).href);
const THREAD = `
	import { parentPort } from "node:worker_threads";
	import { sendWarnings } from ${MODULE};
	sendWarnings((warning) => parentPort.postMessage(warning));
	process.emitWarning("old", { type: "DeprecationWarning", code: "DEP9999", detail: "why" });
`;
const PROGRAM = `
	import { Worker } from "node:worker_threads";
	import { emitWarningOf } from ${MODULE};
	process.removeAllListeners("warning");
	process.on("warning", ({ name, code, detail, message, stack }) =>
		console.log(name, code, detail, message, stack.includes("at ")));
	new Worker(new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(THREAD)})), { execArgv: [] })
		.on("message", emitWarningOf);
`;

// Node printed them as plain text, next to a log in JSON.
test("a thread's warnings are reported like those of the main thread", async () => {
	const { NODE_OPTIONS: _, ...env } = process.env;
	const run = async (...options: string[]) => {
		const args = [...options, "--input-type=module", "--eval", PROGRAM];
		return await promisify(execFile)(process.execPath, args, { env });
	};
	expect(await run()).toEqual({ stdout: "DeprecationWarning DEP9999 why old true\n", stderr: "" });
});
