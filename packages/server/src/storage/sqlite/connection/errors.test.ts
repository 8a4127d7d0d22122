import { constants } from "node:os";
import { expect, test } from "vitest";
import { storageError } from "./errors.ts";

// Node gives it no name: backups and restores said that the path couldn't be opened.
test.skipIf(process.platform === "win32")("a used-up quota counts as a full disk", () => {
	const errno = -constants.errno.EDQUOT;
	const code = `Unknown system error ${errno}`;
	const error = Object.assign(new Error(`${code}: ${code}, write`), { errno, code, syscall: "write" });
	expect(storageError(error, "posthorn.db")).toMatchObject({ code: "full" });
});
