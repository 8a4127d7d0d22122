import { existsSync } from "node:fs";
import { lstat, mkdtemp, rename, rm } from "node:fs/promises";

/**
 * Makes a folder that processes share, unless it exists.
 *
 * @param owner the id of its user, by default this process's. Programs in another user's folder must not run
 */
export async function makeOnce(
	place: string,
	fill: (draft: string) => Promise<void>,
	owner = process.getuid?.(),
): Promise<void> {
	if (existsSync(place)) {
		if (owner !== undefined && (await lstat(place)).uid !== owner)
			throw new Error(`${place} belongs to another user. Delete it, or set TMPDIR to a folder of your own.`);
		return;
	}
	const draft = await mkdtemp(`${place}-`);
	try {
		await fill(draft);
		await rename(draft, place);
	} catch (error) {
		await rm(draft, { recursive: true });
		// The first process wins; the others use its result.
		const { code } = error as NodeJS.ErrnoException;
		if (!existsSync(place) || (code !== "ENOTEMPTY" && code !== "EEXIST")) throw error;
	}
}
