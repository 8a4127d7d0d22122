import { randomBytes, randomUUID } from "node:crypto";
import {
	closeSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { SEAL_KEY_BYTES } from "../base/seal.ts";
import { sealKey } from "./parsers.ts";

/** Nobody but the owner may read it. */
const MODE = 0o600;
/** The database will lie in this folder, too. */
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/**
 * The seal key: from its file, or made and written there when neither it nor the database that it is for exists yet.
 *
 * @throws Error with a line for people when the file is malformed, cannot be read or made, or others may read it; and
 * when the database is there without its key, for a new one could not open what the old one sealed
 */
export function readOrMakeSealKey(
	file: string,
	database: string,
): { readonly key: Uint8Array; readonly made: boolean } {
	// Asked before the key is: another process that is just starting makes the key first.
	const begun = (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0;
	const existing = readSealKey(file, database, begun);
	if (existing) return { key: existing, made: false };
	const made = makeSealKey(file);
	return { key: readKeyFile(file)!, made };
}

/**
 * The seal key as it is: null when it is still to be made, with the database.
 *
 * @throws Error as {@link readOrMakeSealKey} does
 */
export function readSealKey(
	file: string,
	database: string,
	begun = (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0,
): Uint8Array | null {
	const existing = readKeyFile(file);
	if (existing === null && begun)
		throw new Error(
			`The database ${database} is there, but its seal key ${file} is not: put your copy of the key back, or give it ` +
				"as POSTHORN_SEAL_KEY.",
		);
	return existing;
}

function readKeyFile(file: string): Uint8Array | null {
	const text = orExplain(`The seal key ${file} cannot be read`, () => {
		try {
			return readFileSync(file, "utf8").trim();
		} catch (error) {
			if (codeOf(error) === "ENOENT") return null;
			throw error;
		}
	});
	if (text === null) return null;
	// Windows keeps who may read a file elsewhere than in its mode.
	if (process.platform !== "win32" && (statSync(file).mode & OTHERS) !== 0)
		throw new Error(`The seal key ${file} can be read by others; make it private with: chmod 600 ${file}`);
	const parsed = sealKey(text);
	if (!parsed.ok)
		throw new Error(
			`The seal key ${file} is damaged: it must be ${SEAL_KEY_BYTES} bytes in base64. Put your copy back.`,
		);
	return parsed.value;
}

/**
 * Written whole under another name, then linked: no one ever reads half a key, and an existing one is never replaced.
 *
 * @returns whether it was made here; false when another process was faster, whose key stands
 */
function makeSealKey(file: string): boolean {
	const folder = dirname(file);
	const draft = `${file}.${randomUUID()}.new`;
	return orExplain(
		`The seal key ${file} cannot be made; let this user write to ${folder}, or choose another place`,
		() => {
			mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
			try {
				flushed(openSync(draft, "wx", MODE), `${randomBytes(SEAL_KEY_BYTES).toString("base64")}\n`);
				linkSync(draft, file);
			} catch (error) {
				if (codeOf(error) === "EEXIST") return false;
				throw error;
			} finally {
				rmSync(draft, { force: true });
			}
			// Windows flushes no directories, and keeps names without being asked.
			if (process.platform !== "win32") flushed(openSync(folder, "r"));
			return true;
		},
	);
}

/** Writes, waits until it is on disk, and closes. */
function flushed(descriptor: number, text?: string): void {
	try {
		if (text !== undefined) writeFileSync(descriptor, text);
		fsyncSync(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

function orExplain<T>(what: string, action: () => T): T {
	try {
		return action();
	} catch (cause) {
		throw new Error(`${what} (${codeOf(cause)}).`, { cause });
	}
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
