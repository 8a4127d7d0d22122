import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Posthorn, unusedPort } from "@posthorn/testkit";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** Where the files in `deploy/` expect the checkout. */
const PLACE = "/opt/posthorn/";

/** A file of `deploy/`, with this checkout's path. */
const deployed = (file: string): string => readFileSync(`${ROOT}deploy/${file}`, "utf8").replaceAll(PLACE, ROOT);

/** The arguments of an instruction in the container file, which are written as JSON. */
function instruction(name: string): [string, ...string[]] {
	const [, json] = new RegExp(`^${name} (\\[.*\\])$`, "m").exec(deployed("Containerfile"))!;
	return JSON.parse(json!);
}

function run(
	[program, ...args]: readonly [string, ...string[]],
	env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; out: string }> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, { env: { PATH: "/usr/bin:/bin", ...env }, stdio: ["ignore", "pipe", "ignore"] });
		let out = "";
		child.stdout.on("data", (text) => (out += text));
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, out }));
	});
}

// npm 10, which comes with Node 22, creates no node_modules/.bin/node: a unit and an image that used it couldn't start.
test.runIf(process.platform === "linux")("the unit and the image start the command on the project's Node", async () => {
	const [, start] = /^ExecStart=(.*) serve'$/m.exec(deployed("posthorn.service"))!;
	const version = { code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) };
	expect(start).not.toContain(".bin");
	expect(await run(["/bin/sh", "-c", `${start} --version'`])).toEqual(version);
	const entry = instruction("ENTRYPOINT");
	expect(entry.join()).not.toContain(".bin");
	expect(await run([...entry, "--version"])).toEqual(version);
	expect(await run([...entry, ...instruction("CMD"), "--help"])).toMatchObject({ code: 0 });
});

test.runIf(process.platform === "linux")("the image's health is that of the node, whichever port it has", async () => {
	const cwd = mkdtempSync(join(tmpdir(), "posthorn-deploy-"));
	const settings = { POSTHORN_PORT: String(await unusedPort()) };
	const health = instruction("HEALTHCHECK CMD");
	const node = await Posthorn.start({ settings, cwd });
	expect(await run(health, settings)).toMatchObject({ code: 0 });
	await node.stop();
	expect(await run(health, settings)).toMatchObject({ code: 1 });
	rmSync(cwd, { recursive: true });
});
