/**
 * `npm run test:container`: builds the image of deploy/Containerfile and runs it, with Podman or Docker. Options:
 * `--engine "podman --root …"`, `--base IMAGE` for another base image, `--run="--ulimit=…"` for options of every
 * container. It ends with 0 and says why if nothing here can build an image.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT, runNode, setup } from "./setup.mjs";

const text = { type: "string" };
const { values } = parseArgs({ options: { engine: text, base: text, run: text } });
const succeeds = (command, ...args) => {
	const [program, ...options] = command.split(" ");
	return spawnSync(program, [...options, ...args], { stdio: "ignore" }).status === 0;
};

const engine = [values.engine ?? ["podman", "docker"]].flat().find((name) => succeeds(name, "info"));
const pinned = /^ARG BASE=(\S+)$/m.exec(readFileSync(join(ROOT, "deploy/Containerfile"), "utf8"))[1];
const base = values.base ?? pinned;
const hasBase = engine && (succeeds(engine, "image", "inspect", base) || succeeds(engine, "pull", base));

if (!engine) console.log("Not tested: neither Podman nor a Docker daemon runs here.");
else if (!hasBase) console.log(`Not tested: ${base} isn't here, and can't be pulled. --base names another image.`);
else {
	setup();
	process.exitCode = await runNode([join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "e2e/container.test.ts"], {
		env: {
			POSTHORN_TEST_CONTAINER: engine,
			POSTHORN_TEST_CONTAINER_BASE: base,
			...(values.run && { POSTHORN_TEST_CONTAINER_RUN: values.run }),
		},
	});
}
