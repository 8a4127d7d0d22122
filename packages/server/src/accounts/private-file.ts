import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/** Replaces a file by one that only this user may read. Rejects with the system's error. */
export async function writePrivately(file: string, line: string): Promise<void> {
	const draft = `${file}.${randomUUID()}.new`;
	try {
		await writeFile(draft, `${line}\n`, { mode: 0o600, flag: "wx", flush: true });
		await rename(draft, file);
	} catch (error) {
		await rm(draft, { force: true });
		throw error;
	}
}
