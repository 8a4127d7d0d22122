// The archive of the service with its dependencies and Node, for machines that have neither npm nor a recent Node. Plain
// JavaScript for Node 20 or later.
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { placesOf } from "./lock-file.mjs";
import { projectNode, ROOT } from "./setup.mjs";

/**
 * Replaces the shell by the service, so that signals reach it. Works through links to it, too. After `--` Node leaves the
 * option `--env-file` to the command.
 */
const LAUNCHER = `#!/bin/sh
lib=$(dirname "$(readlink -f "$0")")/../lib
exec "$lib/node" -- "$lib/posthorn/bin/posthorn.mjs" "$@"
`;

/**
 * Unpacks a tarball and adds the dependencies that this repository has installed; without npm or a network.
 * @param {string} target the package's new folder
 */
export function unpack(tarball, target) {
	const stage = mkdtempSync(join(dirname(target), ".unpack-"));
	execFileSync("tar", ["-xzf", tarball, "-C", stage]);
	renameSync(join(stage, "package"), target);
	rmSync(stage, { recursive: true });
	const { dependencies = {} } = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
	for (const place of placesOf(dependencies)) {
		// An optional dependency may be for other systems.
		if (!existsSync(join(ROOT, place))) continue;
		const isOwn = (path) => !path.slice(join(ROOT, place).length).includes("node_modules");
		cpSync(join(ROOT, place), join(target, place), { recursive: true, filter: isOwn });
	}
}

/**
 * Writes `posthorn-VERSION-PLATFORM.tar.gz` for this machine's platform.
 * @param {object} [options]
 * @param {boolean} [options.quick] compresses it less, in a third of the time; needs GNU tar
 * @returns {string} its path
 */
export function writeArchive(tarball, folder, { quick = false } = {}) {
	const stage = mkdtempSync(join(tmpdir(), "posthorn-archive-"));
	try {
		const { version } = JSON.parse(readFileSync(join(ROOT, "packages/cli/package.json"), "utf8"));
		const name = `posthorn-${version}-${process.platform}-${process.arch}`;
		const content = join(stage, name);
		for (const part of ["bin", "lib"]) mkdirSync(join(content, part), { recursive: true });
		writeFileSync(join(content, "bin/posthorn"), LAUNCHER, { mode: 0o755 });
		const node = projectNode();
		copyFileSync(node, join(content, "lib/node"));
		chmodSync(join(content, "lib/node"), 0o755);
		copyFileSync(join(dirname(node), "../LICENSE"), join(content, "lib/node.LICENSE"));
		unpack(tarball, join(content, "lib/posthorn"));
		for (const file of ["README.md", "LICENSE"]) copyFileSync(join(content, "lib/posthorn", file), join(content, file));
		// The service's user reads what root unpacks, whatever the umask here.
		execFileSync("chmod", ["-R", "go=u-w", content]);
		const archive = join(folder, `${name}.tar.gz`);
		const compress = quick ? ["-I", "gzip -1"] : ["-z"];
		execFileSync("tar", ["--owner=0", "--group=0", ...compress, "-cf", archive, "-C", stage, name]);
		return archive;
	} finally {
		rmSync(stage, { recursive: true, force: true });
	}
}
