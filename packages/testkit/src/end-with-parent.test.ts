import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { within } from "./until.ts";

const unix = test.skipIf(process.platform === "win32");

/** A program that starts a child which ignores SIGTERM, and then does what `next` says. */
const parentThat = (next: string) => `
	import { spawn } from "node:child_process";
	import { endWithParent } from ${JSON.stringify(new URL("end-with-parent.ts", import.meta.url).href)};

	const code = "process.on('SIGTERM', () => {}); setTimeout(() => {}, 60_000); console.log('started');";
	const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "inherit"] });
	endWithParent(child);
	${next}
`;

const run = (code: string) =>
	spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });

// Services ran on after the tests that had started them were killed.
unix("a child ends with its parent, even if that is killed", async () => {
	const parent = run(parentThat(""));
	let output = "";
	parent.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
		parent.kill("SIGKILL");
	});
	// Its output closes once the child that has inherited it has ended.
	await within("the child to end", once(parent, "close"));
	expect([output, parent.signalCode]).toEqual(["started\n", "SIGKILL"]);
});

unix("a reaper that still waits doesn't keep the parent running", async () => {
	const parent = run(parentThat("child.unref();"));
	expect(await within("parent and child to end", once(parent, "close"))).toEqual([0, null]);
});
