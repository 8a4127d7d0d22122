import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { within } from "./until.ts";

const PARENT = `
	import { spawn } from "node:child_process";
	import { once } from "node:events";
	import { endWithParent } from ${JSON.stringify(new URL("end-with-parent.ts", import.meta.url).href)};

	const start = (code) => {
		const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "inherit"] });
		endWithParent(child);
		return child;
	};
	await once(start(""), "exit");
	start("process.on('SIGTERM', () => {}); setTimeout(() => {}, 60_000); console.log('started');");
`;

// Services ran on after the tests that had started them were killed.
test.skipIf(process.platform === "win32")("a child ends with its parent, even if that is killed", async () => {
	const parent = spawn(process.execPath, ["--input-type=module", "-e", PARENT], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	let output = "";
	parent.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
		parent.kill("SIGKILL");
	});
	// Its output closes once the child that has inherited it has ended.
	await within("the child to end", once(parent, "close"));
	expect([output, parent.signalCode]).toEqual(["started\n", "SIGKILL"]);
});

test("a parent ends without its undertaker", async () => {
	const code = PARENT.replace(/start\("process[^\n]*/, "");
	const parent = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
	expect(await within("the parent to end", once(parent, "close"))).toEqual([0, null]);
});
