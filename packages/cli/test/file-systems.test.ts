import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	chownSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openSqliteStorage, readSqliteSetting } from "@posthorn/server/storage/sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { COMMAND } from "./doctor.fixture.ts";

const ERRORS = fileURLToPath(new URL("../../server/src/storage/sqlite/connection/errors.ts", import.meta.url));
const KEY = Buffer.alloc(32, 7).toString("base64");
/**
 * Mounts a file system, fills it, and runs a command: size, mode, mount point, content, command. Only the mount gets the
 * mode: with a whole file system, a user who isn't root would also set its owner again, which is refused.
 */
const MOUNTED = `
	mount -t tmpfs -o size="$1" tmpfs "$3" && cp -a "$4"/. "$3" && mount -o remount,bind,"$2" "$3" && shift 4 && exec "$@"`;
const own = (...args: readonly string[]): string[] => ["--map-root-user", "--mount", ...args];

/** Of a folder `mnt`, which is a file system with the content of the folder `from`. */
interface Mounted {
	readonly mode?: "ro" | "rw";
	readonly bytes?: number;
	/** How many files it has room for, including its folder; by default, any number. */
	readonly files?: number;
}

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-mounted-"));
	for (const name of ["from", "mnt"]) mkdirSync(join(folder, name));
	return () => rmSync(folder, { recursive: true });
});

/** Runs a command in namespaces of its own. */
async function unshared(...command: readonly string[]) {
	const env = { PATH: process.env.PATH, NO_COLOR: "1", POSTHORN_SEAL_KEY: KEY };
	const child = spawn("unshare", own(...command), { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
	const [out, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
	return { code: code as number, said: said.trim(), out };
}

async function posthorn(args: readonly string[], { mode = "ro", bytes = 2 ** 25, files = 0 }: Mounted = {}) {
	const mounted = [`${bytes},nr_inodes=${files}`, mode, "mnt", "from", process.execPath, COMMAND, ...args];
	const { code, said } = await unshared("sh", "-c", MOUNTED, "sh", ...mounted);
	return { code, said };
}

/** A database with this setting; `isKilled`: as a killed service leaves it, with commits in its log. */
async function makeDatabase(path: string, value: string, isKilled = false): Promise<void> {
	const storage = await openSqliteStorage({ path: join(folder, "live.db"), clock: { now: Date.now } });
	await storage.setSetting({ name: "made", value });
	if (isKilled) for (const end of ["", "-wal"]) cpSync(join(folder, `live.db${end}`), join(folder, `${path}${end}`));
	await storage.close();
	if (!isKilled) cpSync(join(folder, "live.db"), join(folder, path));
}

const at = (path: string): string[] => ["--database-url", `sqlite:${path}`];

describe.skipIf(spawnSync("unshare", own("true")).status !== 0)("on a file system that is", () => {
	// SQLite couldn't open it, and the advice was to give it to the right user.
	test("read-only, a database can be backed up, and its copy restored", async () => {
		await makeDatabase("from/posthorn.db", "1");
		expect(await posthorn(["backup", "copy.db", ...at("mnt/posthorn.db")])).toEqual({ code: 0, said: "" });
		expect(readSqliteSetting(join(folder, "copy.db"), "made")).toBe("1");
		expect(await posthorn(["restore", "mnt/posthorn.db", ...at("restored.db")])).toEqual({ code: 0, said: "" });
		expect(readSqliteSetting(join(folder, "restored.db"), "made")).toBe("1");
	});

	test("read-only, a database whose log has its last commits has to be copied first", async () => {
		await makeDatabase("from/posthorn.db", "1", true);
		const says = expect.stringMatching(
			/^mnt\/posthorn\.db is on a read-only .* are in .+mnt\/posthorn\.db-wal: copy both/,
		);
		const refused = { code: 1, said: says };
		expect(await posthorn(["backup", "copy.db", ...at("mnt/posthorn.db")])).toEqual(refused);
		expect(await posthorn(["restore", "mnt/posthorn.db", ...at("restored.db")])).toEqual(refused);
		expect(readdirSync(folder).sort()).toEqual(["from", "live.db", "live.db.lock", "mnt"]);
		cpSync(join(folder, "from"), join(folder, "copied"), { recursive: true });
		expect(await posthorn(["restore", "copied/posthorn.db", ...at("restored.db")])).toEqual({ code: 0, said: "" });
		expect(readSqliteSetting(join(folder, "restored.db"), "made")).toBe("1");
	});

	// They advised to choose another path.
	test("read-only, commands that write say so", async () => {
		await makeDatabase("from/posthorn.db", "1");
		cpSync(join(folder, "from/posthorn.db"), join(folder, "backup.db"));
		const refused = { code: 1, said: expect.stringMatching(/mnt\/\w+\.db is on a read-only file system: remount it/) };
		expect(await posthorn(["operator-key", "--new", ...at("mnt/posthorn.db")])).toEqual(refused);
		expect(await posthorn(["restore", "backup.db", "--yes", ...at("mnt/posthorn.db")])).toEqual(refused);
		expect(await posthorn(["backup", "mnt/copy.db", ...at("backup.db")])).toEqual(refused);
	});

	// They promised that the service would continue automatically.
	test("full, commands ask for space and another try", async () => {
		await makeDatabase("backup.db", "1");
		const { size } = statSync(join(folder, "backup.db"));
		const refused = {
			code: 1,
			said: expect.stringMatching(/^The disk of .+\/mnt\/\w+\.db is full: free some space\. Then try again\.$/),
		};
		const half = { mode: "rw", bytes: size / 2 } as const;
		expect(await posthorn(["backup", "mnt/copy.db", ...at("backup.db")], half)).toEqual(refused);
		expect(await posthorn(["restore", "backup.db", ...at("mnt/posthorn.db")], half)).toEqual(refused);
		// There is room for the copy and the lock, but not to mark it.
		const barely = { mode: "rw", bytes: size + 12_288 } as const;
		expect(await posthorn(["restore", "backup.db", ...at("mnt/posthorn.db")], barely)).toEqual(refused);
	});

	// SQLite's journal stayed there, although the copy was deleted.
	test("full, a backup leaves no file", async () => {
		// Larger than SQLite's cache: otherwise it needs no journal before the disk is full.
		await makeDatabase("backup.db", "x".repeat(2 ** 23));
		const half = String(statSync(join(folder, "backup.db")).size / 2);
		const command = [process.execPath, COMMAND, "backup", "mnt/copy.db", ...at("backup.db")];
		const listed = ["sh", "-c", '"$@"; ls -A mnt', "sh", ...command];
		const { said, out } = await unshared("sh", "-c", MOUNTED, "sh", half, "rw", "mnt", "from", ...listed);
		expect(said).toContain("is full");
		expect(out).toBe("");
	});

	// SQLite calls it a disk I/O error, so the advice was to check the disk, and /readyz was well while publishing failed.
	test("too full for the index of the write-ahead log, they say the same", async () => {
		await makeDatabase("from/posthorn.db", "1", true);
		const [size, log] = ["", "-wal"].map((end) => statSync(join(folder, `from/posthorn.db${end}`)).size);
		const barely = { mode: "rw", bytes: Math.ceil((size! + log!) / 4_096) * 4_096 + 8_192 } as const;
		expect(await posthorn(["backup", "copy.db", ...at("mnt/posthorn.db")], barely)).toEqual({
			code: 1,
			said: "The disk of mnt/posthorn.db is full: free some space. Then try again.",
		});
	});

	// The advice was to give the database and its folder to the service's user. XFS does the same without a free block.
	test("out of room for another file, they say the same", async () => {
		await makeDatabase("from/posthorn.db", "1");
		for (const files of [2, 3])
			expect(await posthorn(["operator-key", "--new", ...at("mnt/posthorn.db")], { mode: "rw", files })).toEqual({
				code: 1,
				said: "The disk of mnt/posthorn.db is full: free some space. Then try again.",
			});
	});

	// While the service ran, it said that storage failed, or didn't respond. SQLite calls a used-up quota an I/O error.
	test("too full to write to, an I/O error of SQLite counts as a full disk", async () => {
		writeFileSync(join(folder, "from/filler"), Buffer.alloc(4_096));
		const code = `
			import { storageError } from ${JSON.stringify(ERRORS)};
			for (const errcode of [778, 266]) console.log(storageError(Object.assign(new Error("disk I/O error"), { errcode }), "mnt/posthorn.db").code)`;
		const command = [process.execPath, "--input-type=module", "-e", code];
		const { out, said } = await unshared("sh", "-c", MOUNTED, "sh", "4096", "rw", "mnt", "from", ...command);
		expect([out, said]).toEqual(["full\nlost\n", ""]);
	});

	// It said that a disk was full of which nothing was used.
	test("too small, the service says how much it needs", async () => {
		const small = { mode: "rw", bytes: 12_288_000 } as const;
		expect(await posthorn(["serve", "--port", "0", ...at("mnt/posthorn.db")], small)).toEqual({
			code: 1,
			said: expect.stringMatching(
				/Only 12\.3 MB are free on the disk of .+, and the service needs 16 MB to start: free/,
			),
		});
	});

	// It said that 0.0 GB were free.
	test("almost full, posthorn doctor says how much is left", async () => {
		const mounted = [String(24_576_000), "rw", "mnt", "from", process.execPath, COMMAND];
		const args = ["doctor", "--port", "0", ...at("mnt/posthorn.db")];
		const { out } = await unshared("sh", "-c", MOUNTED, "sh", ...mounted, ...args);
		expect(out).toMatch(/Only 24\.6 MB are free on the disk of .+: free some space\./);
	});

	// It advised to give the folder's parent, such as /, to the service's user.
	test.skipIf(process.getuid?.() !== 0)("another user's, a missing folder is named", async () => {
		mkdirSync(join(folder, "theirs"));
		chmodSync(join(folder, "theirs"), 0o755);
		chownSync(join(folder, "theirs"), 65_534, 65_534);
		const says =
			/There is no folder .+theirs\/new\/data, and the service may not create it in .+theirs \(EACCES\): create it/;
		const run = (...args: string[]) =>
			unshared(process.execPath, COMMAND, ...args, "--port", "0", ...at("theirs/new/data/p.db"));
		expect(await run("doctor")).toMatchObject({ code: 1, out: expect.stringMatching(says) });
		expect(await run("serve")).toMatchObject({ code: 1, said: expect.stringMatching(says) });
		// It advised to give the folder in it to the service's user.
		chmodSync(join(folder, "theirs"), 0o700);
		const entered = /theirs\/new\/data\/p\.db cannot be reached, because the service's user may not enter .+theirs \(/;
		expect(await run("doctor")).toMatchObject({ code: 1, out: expect.stringMatching(entered) });
	});

	// Root in a namespace may not use the files of users outside of it.
	test.skipIf(process.getuid?.() !== 0)("another user's in part, the file is named", async () => {
		await makeDatabase("posthorn.db", "1");
		const run = (...args: string[]) => unshared(process.execPath, COMMAND, ...args, ...at("posthorn.db"));
		writeFileSync(join(folder, "posthorn.db.lock"), "");
		chownSync(join(folder, "posthorn.db.lock"), 65_534, 65_534);
		chmodSync(join(folder, "posthorn.db.lock"), 0o600);
		const says = /posthorn\.db\.lock cannot be written to \(EACCES\): give it to the service's user/;
		expect(await run("operator-key", "--new")).toMatchObject({ code: 1, said: expect.stringMatching(says) });
		expect(await run("doctor", "--port", "0")).toMatchObject({ code: 1, out: expect.stringMatching(says) });
		expect(await run("serve", "--port", "0")).toMatchObject({ code: 1, said: expect.stringMatching(says) });
	});
});
