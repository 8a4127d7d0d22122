import { randomBytes, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { dirname } from "node:path";
import { codeOf, createFolder } from "../base/folders.ts";
import { IF_SEAL_KEY_LOST, SEAL_KEY_BYTES } from "../base/seal.ts";
import { sealKeys } from "./parsers.ts";

/** Only its owner may read it. */
const MODE = 0o600;
/** The database is in this folder too. */
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/**
 * Reads the seal key from its file, or creates it there if neither it nor its database exists yet. The file may have
 * several keys, one in each line.
 *
 * @throws Error with a message for users if the file is malformed, can't be read or created, or is readable by others;
 * if the database exists without its key, since a new key couldn't open what the old one sealed; and if the key exists
 * without its database, which was lost
 */
export function readOrMakeSealKeys(
	file: string,
	database: string,
): { readonly keys: readonly Uint8Array[]; readonly made: boolean } {
	const existing = readSealKeys(file, database);
	return existing ? { keys: existing, made: false } : makeSealKeys(file, database);
}

/**
 * Creates a key in the file, or reads it if another process was faster. Makes an empty database if there is none.
 *
 * @throws Error with a message for users
 */
export function makeSealKeys(
	file: string,
	database: string,
): { readonly keys: readonly Uint8Array[]; readonly made: boolean } {
	const made = writeNewKey(file, database);
	const keys = readSealKeyFile(file);
	// Its name exists, so it wasn't created, and leads nowhere.
	if (keys === null)
		throw new Error(`The seal key ${file} is a link to a file that doesn't exist: restore that, or delete the link.`);
	return { keys, made };
}

/**
 * Reads the existing seal key; null if it is yet to be created, with the database.
 *
 * @throws Error as {@link readOrMakeSealKeys} does
 */
export function readSealKeys(file: string, database: string): readonly Uint8Array[] | null {
	// Another process that is just starting creates an empty database, then the key, and then fills the database. So
	// whether it has begun is checked before the key is read, and whether it exists, afterwards.
	const begun = (fs.statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0;
	const existing = readSealKeyFile(file);
	if (existing === null && begun)
		throw new Error(
			`The database ${database} exists, but its seal key ${file} is missing: restore your copy of the key, or set it ` +
				`as POSTHORN_SEAL_KEY. ${IF_SEAL_KEY_LOST}`,
		);
	if (existing !== null && !fs.existsSync(database))
		throw new Error(
			`The seal key ${file} exists, but its database ${database} is missing: put it back, or restore a backup with ` +
				"posthorn restore. To start with an empty database, first create an empty file there.",
		);
	return existing;
}

/**
 * The keys in the file; null if there is none.
 *
 * @throws Error with a message for users if it is malformed, can't be read, or is readable by others
 */
export function readSealKeyFile(file: string): readonly Uint8Array[] | null {
	let text: string;
	try {
		text = fs.readFileSync(file, "utf8");
	} catch (cause) {
		if (codeOf(cause) === "ENOENT") return null;
		throw new Error(`The seal key ${file} cannot be read (${codeOf(cause)}): give it to the service's user.`, {
			cause,
		});
	}
	// On Windows, the mode doesn't say who may read a file.
	if (process.platform !== "win32" && (fs.statSync(file).mode & OTHERS) !== 0)
		throw new Error(`The seal key ${file} can be read by other users; make it private with: chmod 600 ${file}`);
	const parsed = sealKeys(text);
	if (!parsed.ok)
		throw new Error(
			`The seal key ${file} is damaged: each line must be ${SEAL_KEY_BYTES} bytes in base64. Restore your copy. ${IF_SEAL_KEY_LOST}`,
		);
	return parsed.value;
}

/**
 * Writes the key under another name, then links it: no process ever reads half a key, and an existing key is never
 * replaced. Makes an empty database before: if this process dies in between, the next start doesn't miss one.
 *
 * @returns whether it was created here; false if another process was faster and its key counts
 */
function writeNewKey(file: string, database: string): boolean {
	// A link that leads nowhere: an empty database would look like the real one once the link leads to the key again.
	if (fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined) return false;
	const folder = dirname(file);
	const draft = `${file}.${randomUUID()}.new`;
	try {
		createFolder(folder, FOLDER_MODE);
		makeEmpty(database);
		try {
			flushed(fs.openSync(draft, "wx", MODE), `${randomBytes(SEAL_KEY_BYTES).toString("base64")}\n`);
			fs.linkSync(draft, file);
		} catch (error) {
			if (codeOf(error) === "EEXIST") return false;
			throw error;
		} finally {
			fs.rmSync(draft, { force: true });
		}
		// Windows doesn't flush directories, and keeps names anyway.
		if (process.platform !== "win32") flushed(fs.openSync(folder, "r"));
		return true;
	} catch (cause) {
		if (codeOf(cause) === undefined) throw cause;
		const why = `The seal key ${file} cannot be created; let this user write to ${folder}, or choose another location`;
		throw new Error(`${why} (${codeOf(cause)}).`, { cause });
	}
}

function makeEmpty(database: string): void {
	try {
		fs.closeSync(fs.openSync(database, "a", MODE));
	} catch (cause) {
		if (!fs.lstatSync(database, { throwIfNoEntry: false })?.isSymbolicLink()) throw cause;
		const why = `The database ${database} is a link to a file that cannot be created (${codeOf(cause)})`;
		throw new Error(`${why}: check where it leads, and let this user write to that folder.`, { cause });
	}
}

/** Writes, waits until it is on disk, and closes. */
function flushed(descriptor: number, text?: string): void {
	try {
		if (text !== undefined) fs.writeFileSync(descriptor, text);
		fs.fsyncSync(descriptor);
	} finally {
		fs.closeSync(descriptor);
	}
}
