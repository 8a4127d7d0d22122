import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { unusedPort } from "../ports.ts";
import { until, within } from "../until.ts";
import { initdb, newCluster, npmBinaries, type ServerUser, serverUser, versionOf } from "./postgres-binaries.ts";
import { sharedServer } from "./postgres-shared.ts";

export { type ServerUser, serverUser, systemBinaries } from "./postgres-binaries.ts";

const run = promisify(execFile);

/** How much of a server's output is kept to explain why it didn't start, characters. */
const KEEP_OUTPUT = 16_384;

/** A file system in memory, on Linux. */
const MEMORY = "/dev/shm";
/** What all servers of a test run may need there, bytes. Containers often have much less. */
const MEMORY_NEEDED = 4 * 1024 ** 3;

/**
 * Whether the server creates databases by copying files instead of logging each page: that takes half of the time if no
 * file has to reach the disk. PostgreSQL 15 and later.
 */
const COPIES_FILES = `SELECT current_setting('fsync') = 'off'
	AND current_setting('server_version_num')::integer >= 150000 AS copies`;

/**
 * Outlives the process that started it: when that process is gone (its pipe closes), this ends the server and removes
 * its folder.
 */
const REAPER = `
	cat > /dev/null
	pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null) && kill -QUIT "$pid" 2> /dev/null
	while [ -n "$pid" ] && kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
	rm -rf "$1"
`;

export interface PostgresOptions {
	/** The folder of `initdb` and `postgres`; by default, npm's. */
	readonly binDirectory?: string;
	/** Whether commits reach the disk before they return, which only matters to tests of crashes. */
	readonly fsync?: boolean;
	/** Starts a server even if one is named or shared, for tests that stop it or need npm's. */
	readonly own?: boolean;
	/** Additional server settings, by name. */
	readonly settings?: Readonly<Record<string, string>>;
}

/**
 * A PostgreSQL server for tests, with a folder that is removed with it. Within a test run it is the shared server, and
 * with `POSTHORN_TEST_POSTGRES_URL` (a user who may create databases) the named one: that is neither started nor
 * stopped.
 */
export class PostgresServer {
	/** Connects to the database `postgres` as a superuser. */
	readonly url: string;
	/** False if it is an existing server: it can be used, but not stopped. */
	readonly owned: boolean;
	readonly #folder: string;
	readonly #command: readonly [string, ...string[]];
	readonly #user: ServerUser;
	readonly #reaper: ChildProcess | null;
	readonly #settings: Readonly<Record<string, string>>;
	#process: ChildProcess | null = null;

	private constructor(
		url: string,
		folder: string,
		command: readonly [string, ...string[]],
		user: ServerUser,
		reaper: ChildProcess | null,
		settings: Readonly<Record<string, string>> = {},
	) {
		this.url = url;
		this.owned = reaper !== null;
		this.#folder = folder;
		this.#command = command;
		this.#user = user;
		this.#reaper = reaper;
		this.#settings = settings;
	}

	static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
		const named = await namedServer(options);
		if (named) return PostgresServer.at(named);
		const bin = options.binDirectory ?? (await npmBinaries());
		const user = await serverUser();
		const { folder, reaper } = await ownFolder(user, options.fsync ?? false);
		const data = join(folder, "data");
		if (options.binDirectory) await initdb(bin, data, user);
		else await run("cp", ["-a", await newCluster(bin, user), data], { ...user, cwd: folder });
		const settings = { ...settingsFor(options.fsync ?? false), ...options.settings };
		const server = await PostgresServer.#in(folder, join(bin, "postgres"), settings, user, reaper);
		await server.startAgain();
		return server;
	}

	/** A server that another process started. */
	static at(url: string): PostgresServer {
		return new PostgresServer(url, "", [""], {}, null);
	}

	static async #in(
		folder: string,
		program: string,
		settings: Readonly<Record<string, string>>,
		user: ServerUser,
		reaper: ChildProcess,
	): Promise<PostgresServer> {
		const port = String(await unusedPort());
		const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
		const command = [program, "-D", join(folder, "data"), "-p", port, ...flags] as const;
		const url = `postgres://test@127.0.0.1:${port}/postgres`;
		return new PostgresServer(url, folder, command, user, reaper, settings);
	}

	/** Which version {@link start} would start or find with these options, such as `18.4`. */
	static async version(options: PostgresOptions = {}): Promise<string> {
		const named = await namedServer(options);
		if (!named) return versionOf(options.binDirectory ?? (await npmBinaries()));
		const [row] = await execute("SHOW server_version", named);
		return row!.server_version as string;
	}

	/**
	 * A read-only server that has all of this one's data and follows it, until {@link promote}. This one is stopped while
	 * its files are copied.
	 */
	async standby(): Promise<PostgresServer> {
		await this.shutDown();
		const { folder, reaper } = await ownFolder(this.#user, this.#settings.fsync === "on");
		const as = { ...this.#user, cwd: folder };
		const data = join(folder, "data");
		await run("cp", ["-a", join(this.#folder, "data"), data], as);
		await run("touch", [join(data, "standby.signal")], as);
		await this.startAgain();
		const settings = { ...this.#settings, primary_conninfo: `host=127.0.0.1 port=${new URL(this.url).port} user=test` };
		const standby = await PostgresServer.#in(folder, this.#command[0], settings, this.#user, reaper);
		await standby.startAgain();
		return standby;
	}

	/** From now on, every user but this server's own needs a password. */
	async demandPasswords(): Promise<void> {
		await this.#setRules("('local all all trust'), ('host all test all trust'), ('host all all all scram-sha-256')");
	}

	/** Stops replication, so that standbys fall behind. Resolves once no standby is connected. */
	async refuseStandbys(): Promise<void> {
		await this.#setRules("('host replication all all reject'), ('local all all trust'), ('host all all all trust')");
		const cutOff = "SELECT pg_terminate_backend(pid) FROM pg_stat_replication";
		await until("every standby to be cut off", async () => (await this.execute(cutOff)).length === 0);
	}

	/** @param rules of pg_hba.conf, as rows */
	async #setRules(rules: string): Promise<void> {
		this.#mustBeOwned();
		const loaded = async () =>
			Number((await this.execute("SELECT extract(epoch FROM pg_conf_load_time()) AS at"))[0]!.at);
		const before = await loaded();
		const [row] = await this.execute("SHOW hba_file");
		await this.execute(`COPY (SELECT * FROM (VALUES ${rules}) AS rule) TO '${row!.hba_file}'`);
		await this.execute("SELECT pg_reload_conf()");
		// A connection made later shows whether the server has reread its files.
		await until("the server to read its rules", async () => (await loaded()) !== before);
	}

	/** Promotes a standby. Resolves when it accepts writes. */
	async promote(): Promise<void> {
		const [row] = await this.execute("SELECT pg_promote() AS promoted");
		if (row!.promoted !== true) throw new Error("The standby was not promoted in time.");
	}

	/**
	 * Limits the size of the files that the server writes to `bytes` (null: no limit). Larger tables can't grow, as on a
	 * full disk. Linux only; the server's own log needs 16 MiB.
	 */
	async limitFiles(bytes: number | null): Promise<void> {
		this.#mustBeOwned();
		const limit = async (pid: unknown): Promise<void> => {
			const args = [`--pid=${pid}`, `--fsize=${bytes ?? "unlimited"}:unlimited`];
			await run("prlimit", args, this.#user).catch((error: Error) => {
				// It has ended in the meantime.
				if (existsSync(`/proc/${pid}`)) throw error;
			});
		};
		// Every process started from now on inherits it.
		await limit(this.#process!.pid);
		for (const { pid } of await this.execute("SELECT pid FROM pg_stat_activity")) await limit(pid);
	}

	/** Starts it after it was stopped or killed, with what it had on disk. */
	async startAgain(): Promise<void> {
		this.#mustBeOwned();
		const [program, ...args] = this.#command;
		const child = spawn(program, args, {
			...this.#user,
			cwd: this.#folder,
			env: { LC_ALL: "C" },
			stdio: ["ignore", "ignore", "pipe"],
		});
		this.#process = child;
		let output = "";
		const started = new Promise<void>((resolve, reject) => {
			child.once("exit", (code) => reject(new Error(`PostgreSQL did not start (exit code ${code}):\n${output}`)));
			child.stderr!.on("data", (text: Buffer) => {
				output = (output + text.toString()).slice(-KEEP_OUTPUT);
				if (/ready to accept (read-only )?connections/.test(output)) resolve();
			});
		});
		await within("PostgreSQL to start", started).catch((cause: Error) => {
			throw new Error(`${cause.message}\n${output}`, { cause });
		});
	}

	/** Ends it gracefully, cutting connections (`SIGINT`), and waits for it. */
	async shutDown(): Promise<void> {
		await this.#end("SIGINT");
	}

	/** Ends it like a crash: every process at once, with nothing written. {@link startAgain} recovers it. */
	async kill(): Promise<void> {
		await this.#end("SIGQUIT");
	}

	async restart(): Promise<void> {
		await this.shutDown();
		await this.startAgain();
	}

	/** Stops it permanently and removes its folder. */
	async stop(): Promise<void> {
		if (!this.owned) return;
		if (this.#process !== null) await this.kill();
		await rm(this.#folder, { recursive: true });
		this.#reaper!.ref();
		const gone = once(this.#reaper!, "exit");
		this.#reaper!.stdin!.end();
		await gone;
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.stop();
	}

	/** Creates an empty database. @returns its URL */
	async createDatabase(): Promise<string> {
		const name = `test_${randomBytes(8).toString("hex")}`;
		const [row] = await this.execute(COPIES_FILES);
		await this.execute(`CREATE DATABASE ${name}${row!.copies ? " STRATEGY file_copy" : ""}`);
		const url = new URL(this.url);
		url.pathname = `/${name}`;
		return url.href;
	}

	/** Removes a database that {@link createDatabase} created, even if clients are connected. */
	async dropDatabase(url: string): Promise<void> {
		await this.execute(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
	}

	/** Runs SQL on a new connection, by default in the database `postgres`. */
	execute(sql: string, url = this.url): Promise<Record<string, unknown>[]> {
		return execute(sql, url);
	}

	async #end(signal: "SIGINT" | "SIGQUIT"): Promise<void> {
		this.#mustBeOwned();
		const child = this.#process;
		if (child === null) return;
		this.#process = null;
		const exited = once(child, "exit");
		child.kill(signal);
		await within("PostgreSQL to stop", exited);
	}

	#mustBeOwned(): void {
		if (!this.owned) throw new Error("A server that is named or shared is not ours to start or stop.");
	}
}

/** The URL of an existing server that can serve these options. */
async function namedServer(options: PostgresOptions): Promise<string | undefined> {
	if (options.own) return undefined;
	return process.env.POSTHORN_TEST_POSTGRES_URL || (await sharedServer());
}

/**
 * Where servers keep data that needn't reach the disk: in memory if there is room. A database is hundreds of files, and
 * creating them on a disk costs many times as much. A server that is killed finds them there, too.
 */
async function fastFolder(): Promise<string> {
	const free = await statfs(MEMORY).then(
		({ bavail, bsize }) => bavail * bsize,
		() => 0,
	);
	return Math.min(free, process.availableMemory()) >= MEMORY_NEEDED ? MEMORY : tmpdir();
}

/** A folder that is removed when this process ends, along with the server in it. */
async function ownFolder(user: ServerUser, onDisk: boolean): Promise<{ folder: string; reaper: ChildProcess }> {
	const folder = await mkdtemp(join(onDisk ? tmpdir() : await fastFolder(), "posthorn-pg-"));
	const reaper = spawn("sh", ["-c", REAPER, "reaper", folder], {
		stdio: ["pipe", "ignore", "ignore"],
		detached: true,
	});
	reaper.unref();
	if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
	return { folder, reaper };
}

/** Runs SQL on a new connection. */
export async function execute(sql: string, url: string): Promise<Record<string, unknown>[]> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query<Record<string, unknown>>(sql)).rows;
	} finally {
		await client.end();
	}
}

function settingsFor(fsync: boolean): Record<string, string> {
	const onDisk = fsync ? "on" : "off";
	return {
		listen_addresses: "127.0.0.1",
		// A socket's path is limited to 107 bytes, and temporary folders may have longer ones.
		unix_socket_directories: "",
		max_connections: "200",
		shared_buffers: "64MB",
		fsync: onDisk,
		full_page_writes: onDisk,
		logging_collector: "off",
		log_min_messages: "log",
	};
}
