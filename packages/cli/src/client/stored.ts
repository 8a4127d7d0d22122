/** What the command line keeps in the user's configuration folder. Only its owner can read it. */
import {
	chmodSync,
	closeSync,
	constants,
	fstatSync,
	linkSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	type Stats,
	statSync,
	writeFileSync,
} from "node:fs";
import os from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { createSecret } from "@posthorn/protocol";
import { createFolder } from "@posthorn/server/folders";
import { CommandError } from "../command-error.ts";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** Where `posthorn login` left off. */
export interface Login {
	readonly url: string;
	readonly key: string;
	readonly project: string;
}

/** `~/.config/posthorn` on Linux, unless `XDG_CONFIG_HOME` names another place. */
export function configFolder(): string {
	const { APPDATA = "", XDG_CONFIG_HOME = "" } = process.env;
	if (process.platform === "win32")
		return join(isAbsolute(APPDATA) ? APPDATA : join(home(), "AppData/Roaming"), "posthorn/Config");
	if (process.platform === "darwin") return join(home(), "Library/Preferences/posthorn");
	return join(isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(home(), ".config"), "posthorn");
}

/** The user's home, even if HOME is empty or relative. In containers, users without a passwd entry may have none. */
function home(): string {
	try {
		const named = os.homedir();
		const path = isAbsolute(named) ? named : os.userInfo().homedir;
		// The list may name none, too.
		if (isAbsolute(path)) return path;
	} catch {}
	// No file can be stored below it, and none is found there.
	return os.devNull;
}

export const loginFile = (): string => join(configFolder(), "login.json");

/** What `posthorn login` has stored; null if nothing. @throws CommandError if it is damaged */
export const readLogin = (): Login | null =>
	readStored<Login>(
		loginFile(),
		({ url, key, project }) => [url, key, project].every((one) => typeof one === "string"),
		'Run "posthorn login" to replace it, or "posthorn logout" to delete it.',
	);

/**
 * A JSON file of the folder; null if there is none for this user.
 *
 * @param isWhole whether the object in it has the fields of a T
 * @param advice what to do if it is damaged
 * @throws CommandError if it is damaged
 */
export function readStored<T extends object>(
	path: string,
	isWhole: (value: Partial<Record<keyof T, unknown>>) => boolean,
	advice = "Delete it, and run the command again.",
): T | null {
	let text: string;
	try {
		// Without waiting for what writes to a pipe, which another user may have put there.
		const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
		try {
			if (!isTrusted(fstatSync(file))) return null;
			text = readFileSync(file, "utf8");
		} finally {
			closeSync(file);
		}
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		// Some services' users have a device as their home, such as /dev/null, and sudo may keep someone else's.
		if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return null;
		throw namingFolder(path, error);
	}
	const value = parsed(text);
	if (typeof value === "object" && value !== null && isWhole(value)) return value as T;
	throw new CommandError([`${path} is damaged. ${advice}`], 1);
}

/** Undefined if it isn't JSON. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** In a folder such as /tmp, another user may have left a login, so that keys go to a service of theirs. */
function isTrusted({ uid }: Stats): boolean {
	const own = process.getuid?.() ?? 0;
	return own === 0 || uid === 0 || uid === own;
}

/** The error, or one that says what to do if a folder is in the file's place. */
function namingFolder(path: string, error: unknown): unknown {
	return statSync(path, { throwIfNoEntry: false })?.isDirectory()
		? new CommandError([`${path} is a folder. Delete it, and run the command again.`], 1)
		: error;
}

/** Replaces a file as a whole, so that it is never half written. */
export function store(path: string, value: unknown): void {
	const written = writeBeside(path, value);
	try {
		renameSync(written, path);
	} catch (error) {
		forget(written);
		throw namingFolder(path, error);
	}
}

/** Creates a file as a whole, unless it exists. */
export function storeNew(path: string, value: unknown): void {
	const written = writeBeside(path, value);
	try {
		linkSync(written, path);
	} catch (error) {
		// Some file systems have no links.
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") renameSync(written, path);
	} finally {
		forget(written);
	}
}

/** @returns the path of a new file next to `path` */
function writeBeside(path: string, value: unknown): string {
	const folder = dirname(path);
	const written = `${path}.${process.pid}`;
	try {
		createFolder(folder, PRIVATE_FOLDER);
		// In a folder such as /tmp, another user may have created it, to read the key or to have a file overwritten.
		forget(written);
		writeFileSync(written, `${JSON.stringify(value)}\n`, { mode: PRIVATE_FILE, flag: "wx" });
		chmodSync(written, PRIVATE_FILE);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		throw new CommandError(
			[`Commands keep logins and a secret in ${folder}, which can't be written (${code}). Set HOME to another folder.`],
			1,
		);
	}
	return written;
}

export function forget(path: string): void {
	try {
		rmSync(path, { force: true });
	} catch (error) {
		// Not even its folder exists.
		if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw namingFolder(path, error);
	}
}

/**
 * The secret that `listen` and `trigger` sign with on this machine, made at first use. The service never hands out a
 * webhook's own secret, and this one has no worth elsewhere.
 */
export function localSecret(): string {
	const path = join(configFolder(), "local-secret.json");
	const isWhole = ({ secret }: { readonly secret?: unknown }) => typeof secret === "string";
	const known = () => readStored<{ readonly secret: string }>(path, isWhole)?.secret;
	// Another command may create it at the same moment, as when one script starts a receiver and `listen`.
	if (known() === undefined) storeNew(path, { secret: createSecret() });
	const secret = known();
	if (secret === undefined) throw new CommandError([`${path} is someone else's. Delete it.`], 1);
	return secret;
}
