import { randomBytes } from "node:crypto";
import {
	closeSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	readFileSync,
	rmSync,
	statSync,
	writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { SEAL_KEY_BYTES } from "../base/seal.ts";
import { sealKey } from "./parsers.ts";

/** Nobody but the owner may read it. */
const MODE = 0o600;

/**
 * The seal key: from its file, or made and written there when there is none.
 *
 * @throws Error with a line for people when the file is malformed, cannot be read, or others may read it
 */
export function readOrMakeSealKey(file: string): { readonly key: Uint8Array; readonly made: boolean } {
	const existing = readSealKey(file);
	if (existing) return { key: existing, made: false };
	makeSealKey(file);
	return { key: readSealKey(file)!, made: true };
}

function readSealKey(file: string): Uint8Array | null {
	let text: string;
	try {
		text = readFileSync(file, "utf8").trim();
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw new Error(`The seal key ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
			cause: error,
		});
	}
	if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
		throw new Error(`The seal key ${file} can be read by others; make it private with: chmod 600 ${file}`);
	const parsed = sealKey(text);
	if (!parsed.ok)
		throw new Error(
			`The seal key ${file} is damaged: it must be ${SEAL_KEY_BYTES} bytes in base64. Put your copy back.`,
		);
	return parsed.value;
}

/** Written whole under another name, then linked: no one ever reads half a key, and an existing one is never replaced. */
function makeSealKey(file: string): void {
	mkdirSync(dirname(file), { recursive: true });
	const draft = `${file}.${process.pid}.new`;
	const descriptor = openSync(draft, "wx", MODE);
	try {
		writeSync(descriptor, `${randomBytes(SEAL_KEY_BYTES).toString("base64")}\n`);
		fsyncSync(descriptor);
		linkSync(draft, file);
	} catch (error) {
		// Another process was faster: its key stands.
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	} finally {
		closeSync(descriptor);
		rmSync(draft);
	}
}
