import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { Clock } from "../base/clock.ts";
import { WatchedFile } from "./watched-file.ts";

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
