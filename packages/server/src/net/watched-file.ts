import { stat } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";

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
	return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EACCES");
}
