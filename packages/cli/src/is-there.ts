import { accessSync, constants } from "node:fs";
import { CommandError } from "./command-error.ts";

/** Whether a file of the service exists. Throws a CommandError if this user can't read it, or can't tell. */
export function isThere(path: string): boolean {
	try {
		accessSync(path, constants.R_OK);
		return true;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return false;
		throw new CommandError([`${path} cannot be read (${code}): run this command as the service's user.`], 1);
	}
}
