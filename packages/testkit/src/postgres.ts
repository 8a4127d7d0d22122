import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { unusedPort } from "./ports.ts";
import { npmBinaries, type ServerUser, serverUser } from "./postgres-binaries.ts";

const run = promisify(execFile);

/** Within this a server starts, also on a machine that is busy with other tests, milliseconds. */
export const START_TIMEOUT_MS = 60_000;
/** What a server prints that is kept to tell why it did not start, characters. */
const KEEP_OUTPUT = 16_384;

/**
 * Outlives the process that started it: when that one is gone (its pipe closes), the server is ended, and its folder
 * removed.
 */
const UNDERTAKER = `
	cat > /dev/null
	pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null) && kill -QUIT "$pid" 2> /dev/null
	while [ -n "$pid" ] && kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
	rm -rf "$1"
`;

export interface PostgresOptions {
	/** Where `initdb` and `postgres` are; without it, what npm brought. */
	readonly binDirectory?: string;
	/** Whether commits reach the disk before they are answered. They do not matter to a test that does not pull plugs. */
	readonly fsync?: boolean;
	/** Starts one also where a server is named: for tests that stop it, or need what npm brought. */
	readonly own?: boolean;
	/** Further settings of the server, by name. */
	readonly settings?: Readonly<Record<string, string>>;
}

/**
 * A PostgreSQL server for tests, with a folder of its own that goes with it. With `POSTHORN_TEST_POSTGRES_URL` (a user
 * who may create databases) it stands for that server instead, which is neither started nor stopped.
 */
export class PostgresServer {
	/** Connects to the database `postgres` as one who may do everything. */
	readonly url: string;
	/** False when the server is someone else's: it can be used, but not stopped. */
	readonly owned: boolean;
	readonly #folder: string;
	readonly #command: readonly [string, ...string[]];
	readonly #user: ServerUser;
	readonly #undertaker: ChildProcess | null;
	#process: ChildProcess | null = null;
	#databases = 0;

	private constructor(
		url: string,
		folder: string,
		command: readonly [string, ...string[]],
		user: ServerUser,
		undertaker: ChildProcess | null,
	) {
		this.url = url;
		this.owned = undertaker !== null;
		this.#folder = folder;
		this.#command = command;
		this.#user = user;
		this.#undertaker = undertaker;
	}

	static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
		const { POSTHORN_TEST_POSTGRES_URL: named } = process.env;
		if (named && !options.own) return new PostgresServer(named, "", [""], {}, null);
		const bin = options.binDirectory ?? (await npmBinaries());
		const user = await serverUser();
		const folder = await mkdtemp(join(tmpdir(), "posthorn-pg-"));
		const undertaker = spawn("sh", ["-c", UNDERTAKER, "undertaker", folder], {
			stdio: ["pipe", "ignore", "ignore"],
			detached: true,
		});
		undertaker.unref();
		if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
		const data = join(folder, "data");
		const initdb = ["-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
		await run(join(bin, "initdb"), initdb, { ...user, cwd: folder, env: { LC_ALL: "C" } });
		const port = await unusedPort();
		const settings = { ...settingsFor(options.fsync ?? false), ...options.settings };
		const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
		const command = [join(bin, "postgres"), "-D", data, "-p", String(port), "-k", folder, ...flags] as const;
		const url = `postgres://test@127.0.0.1:${port}/postgres`;
		const server = new PostgresServer(url, folder, command, user, undertaker);
		await server.startAgain();
		return server;
	}

	/** Starts it where it was stopped or killed, with what it had on disk. */
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
		await new Promise<void>((resolve, reject) => {
			child.once("exit", (code) => reject(new Error(`PostgreSQL did not start (exit code ${code}):\n${output}`)));
			child.stderr!.on("data", (text: Buffer) => {
				output = (output + text.toString()).slice(-KEEP_OUTPUT);
				if (output.includes("ready to accept connections")) resolve();
			});
		});
		child.removeAllListeners("exit");
	}

	/** Ends it in good order, cutting connections (`SIGINT`), and waits until it is gone. */
	async shutDown(): Promise<void> {
		await this.#end("SIGINT");
	}

	/** Ends it as a crash does: every process at once, nothing written. Then {@link startAgain} recovers. */
	async kill(): Promise<void> {
		await this.#end("SIGQUIT");
	}

	async restart(): Promise<void> {
		await this.shutDown();
		await this.startAgain();
	}

	/** Stops it for good and removes its folder. */
	async stop(): Promise<void> {
		if (!this.owned) return;
		if (this.#process !== null) await this.kill();
		await rm(this.#folder, { recursive: true });
		this.#undertaker!.ref();
		const gone = once(this.#undertaker!, "exit");
		this.#undertaker!.stdin!.end();
		await gone;
	}

	/** A new and empty database. @returns the URL that it is reached at */
	async createDatabase(): Promise<string> {
		const name = `test_${process.pid}_${Date.now().toString(36)}_${this.#databases++}`;
		await this.execute(`CREATE DATABASE ${name}`);
		const url = new URL(this.url);
		url.pathname = `/${name}`;
		return url.href;
	}

	/** Removes a database that {@link createDatabase} made, whoever is connected to it. */
	async dropDatabase(url: string): Promise<void> {
		await this.execute(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
	}

	/** Runs SQL on a connection of its own, in the database `postgres` unless another is named. */
	async execute(sql: string, url = this.url): Promise<Record<string, unknown>[]> {
		const client = new Client({ connectionString: url });
		await client.connect();
		try {
			return (await client.query<Record<string, unknown>>(sql)).rows;
		} finally {
			await client.end();
		}
	}

	async #end(signal: "SIGINT" | "SIGQUIT"): Promise<void> {
		this.#mustBeOwned();
		const child = this.#process;
		if (child === null) return;
		this.#process = null;
		const exited = once(child, "exit");
		child.kill(signal);
		await exited;
	}

	#mustBeOwned(): void {
		if (!this.owned) throw new Error("The server that POSTHORN_TEST_POSTGRES_URL names is not ours to start or stop.");
	}
}

function settingsFor(fsync: boolean): Record<string, string> {
	const onDisk = fsync ? "on" : "off";
	return {
		listen_addresses: "127.0.0.1",
		max_connections: "200",
		shared_buffers: "64MB",
		fsync: onDisk,
		synchronous_commit: onDisk,
		full_page_writes: onDisk,
		logging_collector: "off",
		log_min_messages: "log",
	};
}
