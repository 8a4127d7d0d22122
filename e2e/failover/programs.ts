/** Finds the cluster's programs where Debian installs them, or installs them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { systemBinaries } from "@posthorn/testkit/postgres";

/** The oldest version Posthorn supports; there is no newest one. */
const OLDEST_POSTGRES = 14;
const NEWEST_POSTGRES = 99;
const FOLDERS = ["/usr/bin", "/usr/sbin"];
/** Debian's packages, by program. */
const PACKAGES = {
	postgres: ["postgresql"],
	patroni: ["patroni", "python3-etcd"],
	etcd: ["etcd-server"],
	haproxy: ["haproxy"],
} as const;
type Program = keyof typeof PACKAGES;

/** Debian starts a service when its package is installed. These files prevent that; we remove those we created. */
const GUARDS = [
	{ path: "/usr/sbin/policy-rc.d", text: "#!/bin/sh\nexit 101\n", mode: 0o755 },
	{ path: "/etc/postgresql-common/createcluster.d/posthorn.conf", text: "create_main_cluster = false\n", mode: 0o644 },
];

export interface Programs {
	/** The directory with `postgres`, `pg_rewind` and so on. */
	readonly postgresBin: string;
	readonly patroni: string;
	readonly etcd: string;
	readonly haproxy: string;
	/** The name of the etcd section in Patroni's configuration. */
	readonly etcdApi: "etcd" | "etcd3";
}

/** Earlier versions let a primary that was frozen overwrite its successor's leader key over etcd3. */
const SAFE_ETCD3 = [3, 0, 3] as const;

/** This machine lacks something; the message says what and what to do. */
export class NotPossible extends Error {}

/**
 * Finds the programs and installs the missing ones. Rejects with {@link NotPossible} if it can't.
 *
 * @param tell receives a line naming the packages being installed
 */
export async function findOrInstall(tell: (line: string) => void): Promise<Programs> {
	const before = await find();
	const missing = missingFrom(before);
	if (missing.length > 0) {
		install(missing, tell);
		const after = await find();
		const still = missingFrom(after);
		if (still.length > 0)
			throw new NotPossible(`apt-get succeeded, but these programs are still missing: ${still.join(", ")}.`);
		return complete(after);
	}
	return complete(before);
}

/** @param found with nothing missing */
function complete(found: Found): Programs {
	const { postgresBin, patroni, etcd, haproxy } = found as { readonly [P in keyof Found]: string };
	const { stdout } = spawnSync(patroni, ["--version"], { encoding: "utf8" });
	const version = /(\d+)\.(\d+)\.(\d+)/.exec(stdout)?.slice(1).map(Number) ?? [];
	const step = SAFE_ETCD3.map((part, i) => (version[i] ?? 0) - part).find((difference) => difference !== 0) ?? 0;
	return { postgresBin, patroni, etcd, haproxy, etcdApi: step < 0 ? "etcd" : "etcd3" };
}

interface Found {
	readonly postgresBin: string | null;
	readonly patroni: string | null;
	readonly etcd: string | null;
	readonly haproxy: string | null;
}

async function find(): Promise<Found> {
	const folders = [...(process.env.PATH ?? "").split(delimiter), ...FOLDERS];
	const place = (name: string) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
	return {
		postgresBin: await systemBinaries(OLDEST_POSTGRES, NEWEST_POSTGRES),
		patroni: place("patroni"),
		etcd: place("etcd"),
		haproxy: place("haproxy"),
	};
}

function missingFrom({ postgresBin, patroni, etcd, haproxy }: Found): Program[] {
	const places = { postgres: postgresBin, patroni, etcd, haproxy };
	return (Object.keys(PACKAGES) as Program[]).filter((program) => places[program] === null);
}

function install(missing: readonly Program[], tell: (line: string) => void): void {
	const names = missing.join(", ");
	if (spawnSync("apt-get", ["--version"]).status !== 0)
		throw new NotPossible(`Missing: ${names}. There is no apt-get to install them with, so install them yourself.`);
	const packages = missing.flatMap((program) => PACKAGES[program]);
	const command = `apt-get install --no-install-recommends ${packages.join(" ")}`;
	if (process.getuid?.() !== 0)
		throw new NotPossible(
			`Missing: ${names}. Installing them takes root: run this as root, or run this first: ${command}`,
		);
	tell(`installing from Debian: ${packages.join(" ")}`);
	const guards = GUARDS.filter(({ path }) => !existsSync(path));
	try {
		for (const { path, text, mode } of guards) {
			mkdirSync(join(path, ".."), { recursive: true });
			writeFileSync(path, text, { mode });
		}
		// An unreachable source only matters if the next command fails.
		apt("update", "-qq");
		const { status, output } = apt("install", "-y", "-qq", "--no-install-recommends", ...packages);
		if (status !== 0) throw new NotPossible(`Installing failed (${command}):\n${output.trim()}`);
	} finally {
		for (const { path } of guards) rmSync(path, { force: true });
	}
}

function apt(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
	const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
	const { status, stdout, stderr } = spawnSync("apt-get", args, { env, encoding: "utf8" });
	return { status, output: stdout + stderr };
}
