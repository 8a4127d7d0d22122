import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MODULE = fileURLToPath(new URL("log-output.ts", import.meta.url));

/** Stops the clock that finds a reader too slow: a busy machine may only delay it. */
const UNHURRIED = "performance.now = () => 0;";

/** Runs a script with an output on standard output; the log's reader is `read`. */
async function run(script: string, read: "all" | "nothing" | "closed") {
	const source = `import { LogOutput } from ${JSON.stringify(MODULE)};
		const output = new LogOutput(1, (lines) => output.write("dropped " + lines + "\\n"));
		${read === "all" ? UNHURRIED : ""} ${script}`;
	const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", source], {
		stdio: ["pipe", "pipe", "inherit"],
	});
	const code = new Promise((resolve) => child.once("exit", resolve));
	if (read === "closed") child.stdout.destroy();
	const out = read === "all" ? text(child.stdout) : "";
	// The script waits for this, so that the pipe is closed when it writes.
	child.stdin.end();
	const result = [await code, await out];
	child.stdout.destroy();
	return result;
}

const BEGIN = `await new Promise((resolve) => process.stdin.resume().once("end", resolve));`;
const LINES = `for (let n = 0; n < 20_000; n++) output.write("line " + n + "\\n");`;
const WRITTEN = Array.from({ length: 20_000 }, (_, n) => `line ${n}\n`).join("");

test("writes all lines in order, even if the process exits immediately afterwards", async () => {
	expect(await run(`${BEGIN} ${LINES}`, "all")).toEqual([0, WRITTEN]);
	expect(await run(`${BEGIN} process.stdout; ${LINES} output.flushSync(); process.exit(0)`, "all")).toEqual([
		0,
		WRITTEN,
	]);
});

// The first line was left to a thread, and came after the others if that was busy.
test("writes the lines of a process that exits in order, even if no thread is free to write", async () => {
	const busy = `import { pbkdf2 } from "node:crypto"; process.env.UV_THREADPOOL_SIZE = "1";
		pbkdf2("password", "salt", 1_000_000, 64, "sha512", () => {});`;
	const lines = `for (const line of ["first", "second"]) output.write(line + "\\n"); output.flushSync(); process.exit(0);`;
	expect(await run(`${busy} ${lines}`, "all")).toEqual([0, "first\nsecond\n"]);
});

// A thread had written part of them, and what it had left was lost: a line ended in its middle.
test("writes all lines of a process that exits while it writes", async () => {
	const long = `const line = "x".repeat(199_999) + "\\n"; for (let n = 0; n < 10; n++) output.write(line);`;
	// Its timer is set after the output's, and so fires in the same turn, when the first write has begun.
	const exit = `setTimeout(() => { output.write("last\\n"); output.flushSync(); process.exit(0); });`;
	const [code, out] = await run(`${BEGIN} process.stdout; ${long} ${exit}`, "all");
	expect([
		code,
		String(out)
			.split("\n")
			.map((line) => line.length),
	]).toEqual([0, [...Array(10).fill(199_999), 4, 0]]);
});

// A reader that had stopped made them fill the memory.
test("holds only so many lines for a slow reader, and says how many it dropped", async () => {
	const [code, out] = await run(
		`${BEGIN} process.stdout; const line = "x".repeat(999) + "\\n";
		for (let n = 0; n < 20_000; n++) output.write(line);`,
		"all",
	);
	const lines = String(out).trimEnd().split("\n");
	const dropped = Number(/^dropped (\d+)$/.exec(lines.pop()!)?.[1]);
	expect([code, lines.length + dropped]).toEqual([0, 20_000]);
	expect(lines.length).toBeLessThan(4_200);
});

test("drops what can't be written, and lets the process exit", async () => {
	expect(await run(`${BEGIN} ${LINES} output.flushSync(); process.exit(0)`, "closed")).toEqual([0, ""]);
	// Node makes the pipe non-blocking when it is asked for the stream.
	expect(await run(`${BEGIN} process.stdout; ${LINES} output.flushSync(); process.exit(0)`, "nothing")).toEqual([
		0,
		"",
	]);
});
