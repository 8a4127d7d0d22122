import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The code of the operating system's error, such as `ENOENT`; undefined if it is another error. */
export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * Creates a folder and its missing parents, unless the name is taken. Throws the system's error if that fails.
 *
 * Node's `recursive` never returns where the system refuses a folder with ENOENT although its parent exists, such as in
 * `/proc`, which is the home of some services' users.
 */
export function createFolder(path: string, mode: number): void {
	const missing: string[] = [];
	for (let at = resolve(path); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
	for (const folder of missing)
		try {
			mkdirSync(folder, { mode });
		} catch (error) {
			// Another process was faster.
			if (codeOf(error) !== "EEXIST") throw error;
		}
}
