import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import type { Clock } from "../base/clock.ts";

/** Minimum interval between checks of the file, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/**
 * The machine's own names (hosts(5)). Read when first needed, and again after the file has changed. A missing file
 * counts as empty.
 */
export class HostsFile {
	readonly #path: string;
	readonly #clock: Pick<Clock, "now">;
	#names: ReadonlyMap<string, readonly string[]> = new Map();
	#version = "";
	#lookedAt = Number.NEGATIVE_INFINITY;
	#looking: Promise<void> | null = null;

	constructor(path: string, clock: Pick<Clock, "now">) {
		this.#path = path;
		this.#clock = clock;
	}

	/** The addresses of a lower-case name; undefined if the file doesn't list it. */
	async addresses(name: string): Promise<readonly string[] | undefined> {
		if (Math.abs(this.#clock.now() - this.#lookedAt) >= LOOK_EVERY_MS) {
			this.#looking ??= this.#look().finally(() => {
				this.#lookedAt = this.#clock.now();
				this.#looking = null;
			});
			await this.#looking;
		}
		return this.#names.get(name);
	}

	async #look(): Promise<void> {
		try {
			const { mtimeMs, size, ino } = await stat(this.#path);
			const version = `${mtimeMs} ${size} ${ino}`;
			if (version === this.#version) return;
			this.#names = parseHosts(await readFile(this.#path, "utf8"));
			this.#version = version;
		} catch (error) {
			if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EACCES")))
				throw error;
			this.#names = new Map();
			this.#version = "";
		}
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
