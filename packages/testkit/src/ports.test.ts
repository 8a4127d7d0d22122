import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { unusedPort } from "./ports.ts";

/** Takes three ports, those that every such process would prefer, and keeps running until its input ends. */
const OTHER = `
	Math.random = () => 0;
	const { unusedPort } = await import(${JSON.stringify(new URL("./ports.ts", import.meta.url).href)});
	console.log(JSON.stringify(await Promise.all(Array.from({ length: 3 }, unusedPort))));
	process.stdin.resume();`;

test("no process listens on an unused port", async () => {
	const [error] = await once(connect(await unusedPort(), "127.0.0.1"), "error");
	expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("returns each port once, and none that the system assigns automatically", async () => {
	const ports = await Promise.all(Array.from({ length: 100 }, unusedPort));
	expect(new Set(ports).size).toBe(100);
	expect(Math.max(...ports)).toBeLessThan(32_768);
});

test("concurrent processes get different ports", async () => {
	const others = Array.from({ length: 3 }, () =>
		spawn(process.execPath, ["--input-type=module", "-e", OTHER], { stdio: ["pipe", "pipe", "inherit"] }),
	);
	const drawn = await Promise.all(
		others.map(async ({ stdout }) => JSON.parse(String((await once(stdout, "data"))[0])) as number[]),
	);
	const ended = others.map((other) => once(other, "exit"));
	for (const { stdin } of others) stdin.end();
	await Promise.all(ended);
	expect(new Set(drawn.flat()).size).toBe(9);
});
