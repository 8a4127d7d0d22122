import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { endWithParent } from "../end-with-parent.ts";
import { unusedPort } from "../ports.ts";
import { serverUser } from "./postgres-binaries.ts";

/** Where the program is: on the path, or where Debian installs it; null if it isn't installed. */
export function findPgbouncer(): string | null {
	const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
	return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path)) ?? null;
}

/** A pgbouncer in front of one database of a server that trusts everyone. */
export class Pgbouncer {
	/** The database's URL, through it. */
	readonly url: string;
	readonly #process: ChildProcess;
	readonly #folder: string;

	private constructor(url: string, process: ChildProcess, folder: string) {
		this.url = url;
		this.#process = process;
		this.#folder = folder;
	}

	/** @param settings for its `[pgbouncer]` section, such as `pool_mode` */
	static async start(
		program: string,
		databaseUrl: string,
		settings: Readonly<Record<string, string>>,
	): Promise<Pgbouncer> {
		const url = new URL(databaseUrl);
		const database = url.pathname.slice(1);
		const server = `host=${url.hostname} port=${url.port} user=${decodeURIComponent(url.username)}`;
		url.port = String(await unusedPort());
		const all = { listen_addr: "127.0.0.1", listen_port: url.port, unix_socket_dir: "", auth_type: "any", ...settings };
		const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
		const user = await serverUser();
		const folder = await mkdtemp(join(tmpdir(), "posthorn-pgbouncer-"));
		if (user.uid !== undefined) await chown(folder, user.uid, user.gid!);
		const file = join(folder, "pgbouncer.ini");
		await writeFile(file, ["[databases]", `${database} = ${server}`, "[pgbouncer]", ...lines, ""].join("\n"));
		if (user.uid !== undefined) await chown(file, user.uid, user.gid!);
		const child = spawn(program, [file], { ...user, stdio: ["ignore", "ignore", "pipe"] });
		endWithParent(child);
		let output = "";
		await new Promise<void>((resolve, reject) => {
			child.once("exit", (code) => reject(new Error(`pgbouncer did not start (exit code ${code}):\n${output}`)));
			child.stderr!.on("data", (text: Buffer) => {
				output += text.toString();
				if (output.includes("process up")) resolve();
			});
		});
		return new Pgbouncer(url.href, child, folder);
	}

	async stop(): Promise<void> {
		const exited = once(this.#process, "exit");
		this.#process.kill("SIGKILL");
		await exited;
		await rm(this.#folder, { recursive: true });
	}
}
