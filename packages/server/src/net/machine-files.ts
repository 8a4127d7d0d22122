import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import type { Clock } from "../base/clock.ts";
import { codeOf } from "./errors.ts";

/** The machine's own names (hosts(5)). A missing file counts as empty. */
export class HostsFile {
	readonly #file: WatchedFile;
	#names: ReadonlyMap<string, readonly string[]> = new Map();

	constructor(path: string, clock: Pick<Clock, "now">) {
		this.#file = new WatchedFile(path, clock, async (exists) => {
			this.#names = exists ? parseHosts(await readFile(path, "utf8")) : new Map();
		});
	}

	/** The addresses of a lower-case name; undefined if the file doesn't list it. */
	async addresses(name: string): Promise<readonly string[] | undefined> {
		await this.#file.check();
		return this.#names.get(name);
	}
}

/** Parses lines of an address and its names; `#` starts a comment. Names are lower-cased. */
export function parseHosts(text: string): Map<string, string[]> {
	const names = new Map<string, string[]>();
	for (const line of text.split("\n")) {
		const [address = "", ...aliases] = line.replace(/#.*/, "").trim().split(/\s+/);
		if (isIP(address) === 0) continue;
		for (const alias of aliases) {
			const name = alias.toLowerCase();
			const known = names.get(name);
			if (known === undefined) names.set(name, [address]);
			else if (!known.includes(address)) known.push(address);
		}
	}
	return names;
}

/** Minimum interval between checks of the file, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** A file of the machine's configuration, loaded when first needed, and again after it has changed. */
export class WatchedFile {
	readonly #path: string;
	readonly #clock: Pick<Clock, "now">;
	readonly #load: (exists: boolean) => Promise<void> | void;
	/** Empty if the file is missing; null before it was loaded. */
	#version: string | null = null;
	#lookedAt = Number.NEGATIVE_INFINITY;
	#looking: Promise<void> | null = null;

	constructor(path: string, clock: Pick<Clock, "now">, load: (exists: boolean) => Promise<void> | void) {
		this.#path = path;
		this.#clock = clock;
		this.#load = load;
	}

	/** Loads the file if it has changed. Rejects if it can't be examined or loaded. */
	async check(): Promise<void> {
		if (Math.abs(this.#clock.now() - this.#lookedAt) < LOOK_EVERY_MS) return;
		this.#looking ??= this.#look().finally(() => {
			this.#lookedAt = this.#clock.now();
			this.#looking = null;
		});
		await this.#looking;
	}

	async #look(): Promise<void> {
		const version = await versionOf(this.#path);
		if (version === this.#version) return;
		try {
			await this.#load(version !== "");
			this.#version = version;
		} catch (error) {
			if (!isMissing(error)) throw error;
			await this.#load(false);
			this.#version = "";
		}
	}
}

async function versionOf(path: string): Promise<string> {
	try {
		const { mtimeMs, size, ino } = await stat(path);
		return `${mtimeMs} ${size} ${ino}`;
	} catch (error) {
		if (!isMissing(error)) throw error;
		return "";
	}
}

/** A file that this process may not read counts as missing. */
function isMissing(error: unknown): boolean {
	return error instanceof Error && ["ENOENT", "EACCES"].includes(codeOf(error));
}
