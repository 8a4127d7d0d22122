import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endWithParent, within } from "@posthorn/testkit";

/** An installed `posthorn serve`, in an empty environment: all settings are flags. */
export class InstalledPosthorn {
	readonly url: string;
	/** Null unless this start created it. */
	readonly operatorKey: string | null;
	/** The token of the link that creates the first account; null if there is one. */
	readonly setupToken: string | null;
	/** The lines of its log. */
	readonly log: readonly Readonly<Record<string, unknown>>[];
	readonly #process: ChildProcess;

	private constructor(process: ChildProcess, log: readonly Record<string, unknown>[], banner: string, folder: string) {
		this.#process = process;
		this.log = log;
		this.url = /API +(\S+)\/v1/.exec(banner)![1]!;
		const keyFile = /Operator key +in (\S+)/.exec(banner)?.[1];
		this.operatorKey = keyFile ? readFileSync(join(folder, keyFile), "utf8").trim() : null;
		const setupFile = /Set up +in (\S+)/.exec(banner)?.[1];
		const setupUrl = setupFile ? readFileSync(join(folder, setupFile), "utf8").trim() : null;
		this.setupToken = setupUrl?.split("#")[1] ?? null;
	}

	/** @param node the program that runs it */
	static async serve(
		folder: string,
		flags: readonly string[],
		env: Readonly<Record<string, string>> = {},
		node = process.execPath,
	): Promise<InstalledPosthorn> {
		const command = join(folder, "node_modules/posthorn/bin/posthorn.mjs");
		const child = spawn(node, [command, "serve", "--port", "0", ...flags], {
			cwd: folder,
			env,
			stdio: ["ignore", "pipe", "pipe"],
		});
		endWithParent(child);
		const log: Record<string, unknown>[] = [];
		createInterface(child.stdout).on("line", (line) => log.push(JSON.parse(line)));
		let banner = "";
		const ready = new Promise<void>((resolve, reject) => {
			child.stderr.setEncoding("utf8").on("data", (text: string) => {
				banner += text;
				if (/ is ready\.\n\n[\s\S]*\n\n$/.test(banner)) resolve();
			});
			child.on("close", (code) => reject(new Error(`posthorn serve ended with ${code}:\n${banner}`)));
		});
		try {
			await within("the installed posthorn to start", ready);
		} catch (error) {
			child.kill("SIGKILL");
			throw error;
		}
		return new InstalledPosthorn(child, log, banner, folder);
	}

	/** Calls the API with the operator's key. Rejects unless it succeeds. */
	async call<T>(key: string, method: string, path: string, body?: object): Promise<T> {
		const response = await fetch(`${this.url}${path}`, {
			method,
			headers: { Authorization: `Bearer ${key}`, ...(body && { "Content-Type": "application/json" }) },
			body: body ? JSON.stringify(body) : null,
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return JSON.parse(text) as T;
	}

	/** Asks it to stop. @returns its exit code */
	async stop(): Promise<number | null> {
		if (this.#process.exitCode !== null) return this.#process.exitCode;
		const exited = once(this.#process, "exit");
		this.#process.kill("SIGTERM");
		const [code] = await within("the installed posthorn to stop", exited);
		return code;
	}
}
