import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Chosen } from "./options.ts";
import type { Verdict } from "./verdict.ts";

type Found = Pick<Verdict, "run" | "isCaught">;

interface Stored {
	readonly commit: string;
	/** By the mutation's name. */
	readonly found: Readonly<Record<string, Found>>;
}

/** The verdicts on one commit, kept in a file, so that all mutations can be run in several pieces. */
export class Results {
	readonly #commit: string | null;
	readonly #path: string;
	readonly #found = new Map<string, Found>();

	/** @param commit what is tried; null for uncommitted changes, whose verdicts aren't kept */
	constructor(path: string, commit: string | null) {
		this.#path = path;
		this.#commit = commit;
		if (commit === null || !existsSync(path)) return;
		const { commit: tried, found } = JSON.parse(readFileSync(path, "utf8")) as Stored;
		if (tried === commit) for (const [name, one] of Object.entries(found)) this.#found.set(name, one);
	}

	/** A later verdict on a mutation replaces the earlier one. */
	add({ mutation, run, isCaught }: Verdict): void {
		this.#found.set(mutation.name, { run: { ...run, output: "" }, isCaught });
		if (this.#commit === null) return;
		const stored: Stored = { commit: this.#commit, found: Object.fromEntries(this.#found) };
		mkdirSync(dirname(this.#path), { recursive: true });
		writeFileSync(this.#path, JSON.stringify(stored, null, "\t"));
	}

	has({ mutation }: Chosen): boolean {
		return this.#found.has(mutation.name);
	}

	/** The verdicts on these mutations, in order, without those that have none. */
	on(mutations: readonly Chosen[]): Verdict[] {
		return mutations.flatMap((one) => {
			const found = this.#found.get(one.mutation.name);
			return found ? [{ ...one, ...found }] : [];
		});
	}
}

/** The commit that is checked out; null with uncommitted changes or outside a checkout. */
export function commitOf(root: string): string | null {
	const git = (...args: string[]) =>
		execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
	try {
		return git("status", "--porcelain") === "" ? git("rev-parse", "HEAD") : null;
	} catch {
		return null;
	}
}
