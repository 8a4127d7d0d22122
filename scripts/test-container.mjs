// `npm run test:container`: builds the image of deploy/Containerfile and runs it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readArguments } from "./arguments.mjs";
import { ROOT, runNode, setup } from "./setup.mjs";

const USAGE = `npm run test:container -- [options]

Builds the image of deploy/Containerfile and runs it, with Podman or Docker.
Ends with 0 and says why if nothing here can build an image.

  --engine COMMAND  such as "podman --root DIR"
  --base IMAGE      another base image
  --run=OPTIONS     for every container, such as --run="--ulimit=nofile=1024"`;
const text = { type: "string" };
const values = readArguments({ engine: text, base: text, run: text }, USAGE);
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
