import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	closeSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { flagOf, hasFlag, SETTINGS, variableOf } from "@posthorn/server/config";
import { Posthorn, until, unusedPort, within } from "@posthorn/testkit";
import { afterAll, expect, test } from "vitest";

const COMMAND = fileURLToPath(new URL("../bin/posthorn.mjs", import.meta.url));
const KEY = "an-operator-key-of-32-characters-or-more";
const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
/** The last line printed at startup says where the link is that creates the operator's account. */
const BANNER_END = /Set up +in data\/posthorn\.setuplink/;
const folders: string[] = [];
afterAll(() => {
	for (const folder of folders) rmSync(folder, { recursive: true });
});

function newFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-cli-"));
	folders.push(folder);
	return folder;
}

/** Runs the command until it ends. */
function run(
	args: readonly string[],
	env: Record<string, string> = {},
	cwd = newFolder(),
): Promise<{ code: number | null; out: string; err: string }> {
	return new Promise((resolve) => {
		const { PATH, NODE_COMPILE_CACHE } = process.env;
		const child = spawn(process.execPath, [COMMAND, ...args], { cwd, env: { PATH, NODE_COMPILE_CACHE, ...env } });
		let out = "";
		let err = "";
		child.stdout.on("data", (text) => (out += text));
		child.stderr.on("data", (text) => (err += text));
		child.on("close", (code) => resolve({ code, out, err }));
	});
}

test("help lists every setting with its flag, variable and default", async () => {
	const { code, out } = await run(["serve", "--help"]);
	expect(code).toBe(0);
	expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
	const text = out.replaceAll(/\s+/g, " ");
	for (const setting of Object.values(SETTINGS)) {
		if (hasFlag(setting)) expect(text).toContain(flagOf(setting));
		else expect(text).not.toContain(flagOf(setting));
		expect(text).toContain(variableOf(setting));
		expect(text).toContain(`Default: ${setting.defaultText ?? setting.default}.`);
	}
	expect((await run([])).out).toContain("Examples:");
	expect((await run(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

// It said to restart the service, or that the database belongs to another user.
test.runIf(process.platform === "linux").each(["serve", "doctor"])(
	"%s says that the limit on open files is too low",
	(command) => {
		const cwd = newFolder();
		const { PATH = "" } = process.env;
		const script = ["-c", 'ulimit -n 30 && exec "$0" "$@"', process.execPath, COMMAND, command];
		const { status, stdout, stderr } = spawnSync("sh", script, { cwd, env: { PATH }, encoding: "utf8" });
		expect([status, stdout + stderr]).toEqual([
			command === "serve" ? 2 : 1,
			expect.stringContaining("✘ Open files     30 at most, which is too few to start: set LimitNOFILE= or ulimit -n"),
		]);
		expect(readdirSync(cwd)).toEqual([]);
	},
);

test("exits with 2 on wrong usage, and lists all faults of a wrong configuration without creating anything", async () => {
	expect(await run(["serv"])).toMatchObject({ code: 2, err: expect.stringContaining("serve") });
	expect(await run(["serve", "--prot", "1"])).toMatchObject({ code: 2, err: expect.stringContaining("--port") });
	expect(await run(["bogus"])).toMatchObject({ code: 2, err: expect.stringContaining("posthorn --help") });
	const cwd = newFolder();
	const { code, err } = await run(["serve", "--port", "x"], { POSTHORN_BRAND: "a b" }, cwd);
	expect(code).toBe(2);
	expect(err.trim().split("\n")).toHaveLength(2);
	expect(readdirSync(cwd)).toEqual([]);
});

test("refuses secrets as flags, and says what to use instead", async () => {
	const cwd = newFolder();
	const { code, err } = await run(["serve", "--operator-key", KEY], {}, cwd);
	expect([code, err]).toEqual([
		2,
		"--operator-key would show a secret in the list of processes; set POSTHORN_OPERATOR_KEY, or POSTHORN_OPERATOR_KEY_FILE to a file with it.\n",
	]);
	const backup = await run(["backup", "copy.db", "--database-url", "postgres://u:hunter2@h/d"], {}, cwd);
	expect(backup).toMatchObject({ code: 2, err: expect.stringMatching(/^--database-url would show a secret/) });
	expect(readdirSync(cwd)).toEqual([]);
});

test("warns if it listens to other machines over plain HTTP", async () => {
	const warned = async (settings: Record<string, string>) => {
		const port = String(await unusedPort());
		const service = await Posthorn.start({ settings: { POSTHORN_PORT: port, ...settings }, cwd: newFolder() });
		// The warning follows the banner, and the stop is logged after both.
		await service.stopWith(0);
		return service.output.includes("over plain HTTP");
	};
	expect(await warned({ POSTHORN_HOST: "0.0.0.0" })).toBe(true);
	expect(await warned({})).toBe(false);
	expect(await warned({ POSTHORN_HOST: "0.0.0.0", POSTHORN_PUBLIC_URL: "https://hooks.example.com" })).toBe(false);
});

const accepts = async (url: string, key: string): Promise<boolean> =>
	(await fetch(`${url}/v1/projects`, { headers: { authorization: `Bearer ${key}` } })).status === 200;

// It went to the journal or the container's log, for anyone who may read those.
test("the first start that succeeds leaves the operator's key in a private file if it would be logged", async () => {
	const cwd = newFolder();
	const file = join(cwd, "data/posthorn.operatorkey");
	const settings = { POSTHORN_PORT: String(await unusedPort()) };
	// A failed start once stored the hash of a key that it hadn't shown.
	const taken = createServer().listen(Number(settings.POSTHORN_PORT), "127.0.0.1");
	await once(taken, "listening");
	const refused = await run(["serve"], settings, cwd);
	expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`port ${settings.POSTHORN_PORT}`) });
	expect(existsSync(file)).toBe(false);
	taken.close();
	await once(taken, "close");

	let service = await Posthorn.start({ settings, cwd });
	await service.hasPrinted(BANNER_END);
	expect(service.output).toMatch(/Operator key +in data\/posthorn\.operatorkey/);
	expect(service.output).not.toContain("pho_");
	expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
	const key = readFileSync(file, "utf8").trim();
	expect(key).toMatch(/^pho_[\w-]{43}$/);
	await service.stopWith(0);
	rmSync(file);
	service = await Posthorn.start({ settings, cwd });
	await service.hasPrinted(BANNER_END);
	expect(service.output).not.toContain("Operator key");
	expect(existsSync(file)).toBe(false);
	expect(await accepts(service.url, key)).toBe(true);
	await service.stop();
});

test.skipIf(!existsSync("/usr/bin/script"))("in a terminal, the first start prints the operator's key", async () => {
	const cwd = newFolder();
	const port = String(await unusedPort());
	// script(1) runs a command in a terminal of its own.
	const child = spawn("/usr/bin/script", ["-qec", 'exec "$NODE" "$COMMAND" serve', "/dev/null"], {
		cwd,
		env: { PATH: process.env.PATH, NODE: process.execPath, COMMAND, NO_COLOR: "1", POSTHORN_PORT: port },
		stdio: ["ignore", "pipe", "ignore"],
	});
	let shown = "";
	child.stdout.on("data", (chunk) => {
		shown += String(chunk);
	});
	try {
		await until("the operator's key to be shown", () => /pho_[\w-]{43}\s/.test(shown));
		expect(await accepts(`http://127.0.0.1:${port}`, /pho_[\w-]+/.exec(shown)![0])).toBe(true);
		expect(readdirSync(join(cwd, "data"))).not.toContain("posthorn.operatorkey");
	} finally {
		const ended = once(child, "close");
		child.kill();
		await ended;
	}
});

test("refuses a second process, a taken port and a wrong seal key, each with one clear line", async () => {
	const cwd = newFolder();
	const port = await unusedPort();
	const service = await Posthorn.start({ settings: { POSTHORN_PORT: String(port) }, cwd });
	const second = await run(["serve", "--port", "0"], {}, cwd);
	expect(second.code).toBe(1);
	expect(second.err).toContain(String(service.process.pid));
	expect(second.err.trim().split("\n")).toHaveLength(1);
	const taken = await run(["serve", "--port", String(port)]);
	expect(taken).toMatchObject({ code: 1, err: expect.stringContaining(`port ${port}`) });
	await service.stop();
	const wrong = await run(["serve", "--port", "0"], { POSTHORN_SEAL_KEY: Buffer.alloc(32, 7).toString("base64") }, cwd);
	// The exit code of a wrong configuration, so that a supervisor doesn't keep restarting it.
	expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("seal key") });
});

// It named only a relative path, and didn't say how to name another.
test("backup in another folder says where it looked, and how to name the database", async () => {
	const cwd = newFolder();
	expect(await run(["backup", "copy.db"], {}, cwd)).toMatchObject({
		code: 1,
		err: `There is no database at ${join(realpathSync(cwd), "data/posthorn.db")}: run this in the service's folder, or name its database with\n--database-url or POSTHORN_DATABASE_URL.\n`,
	});
});

// As for a user who may not look into the service's folder.
test.skipIf(process.platform === "win32")(
	"says which file of the service can't be read, not that it's missing",
	async () => {
		const cwd = newFolder();
		symlinkSync("data", join(cwd, "data"));
		for (const [args, file] of [
			[["setup-link"], "data/posthorn.setuplink"],
			[["operator-key", "--new"], "data/posthorn.db"],
			[["backup", "copy.db"], "data/posthorn.db"],
			[["quarantine"], "data/posthorn.operatorkey"],
		] as const)
			expect(await run(args, {}, cwd)).toEqual({
				code: 1,
				out: "",
				err: `${file} cannot be read (ELOOP): run this command as the service's user.\n`,
			});
	},
);

test("a reader that closes the pipe early causes no error", async () => {
	const child = spawn(process.execPath, [COMMAND, "serve", "--help"], { stdio: ["ignore", "pipe", "pipe"] });
	child.stdout.destroy();
	let err = "";
	child.stderr.on("data", (chunk) => {
		err += String(chunk);
	});
	const [code] = await once(child, "close");
	expect([code, err]).toEqual([0, ""]);
});

// It ended with a stack trace of Node.
test.skipIf(process.platform !== "linux")("says that its output can't be written", async () => {
	const full = openSync("/dev/full", "w");
	const child = spawn(process.execPath, [COMMAND, "serve", "--help"], { stdio: ["ignore", full, "pipe"] });
	closeSync(full);
	let err = "";
	child.stderr!.on("data", (chunk) => {
		err += String(chunk);
	});
	const [code] = await once(child, "close");
	expect([code, err]).toEqual([1, expect.stringMatching(/^The output can't be written: ENOSPC.*\n$/)]);
});

// The log's reader, such as tee or a container's runtime, may be killed; /dev/full is a file on a full disk.
test.skipIf(process.platform !== "linux").each(["a closed pipe", "a full disk"])(
	"serves and stops in order if its log and messages go to %s",
	async (where) => {
		const port = String(await unusedPort());
		const to = where === "a full disk" ? openSync("/dev/full", "w") : "pipe";
		const { PATH, NODE_COMPILE_CACHE } = process.env;
		const child = spawn(process.execPath, [COMMAND, "serve", "--port", port], {
			cwd: newFolder(),
			env: { PATH, NODE_COMPILE_CACHE, POSTHORN_OPERATOR_KEY: KEY },
			stdio: ["ignore", to, to],
		});
		const ended = once(child, "exit");
		try {
			if (typeof to === "number") closeSync(to);
			child.stdout?.destroy();
			child.stderr?.destroy();
			// Once it listens, it logs that it has started, and prints where.
			const responds = () => accepts(`http://127.0.0.1:${port}`, KEY).catch(() => false);
			await until("the service to respond", responds);
			child.kill("SIGTERM");
			expect(await ended).toEqual([0, null]);
		} finally {
			child.kill("SIGKILL");
		}
	},
);

test.skipIf(process.platform !== "linux")(
	"refuses a database on a file system without files, and names it",
	async () => {
		const { code, err } = await run(["serve", "--port", "0", "--database-url", "sqlite:/proc/posthorn/posthorn.db"]);
		expect(code).toBe(1);
		// Users who aren't root already learn that they may not create the folder.
		expect(err).toMatch(/\/proc.* (can't store files|cannot be written to)|may not create it in \/proc/);
	},
);

test("backs up a running service to a database that another one can use, and never overwrites", async () => {
	const cwd = newFolder();
	const port = String(await unusedPort());
	const service = await Posthorn.start({ settings: { POSTHORN_PORT: port, POSTHORN_OPERATOR_KEY: KEY }, cwd });
	await fetch(`${service.url}/v1/projects`, { method: "POST", headers, body: '{"name":"kept"}' });
	expect(await run(["backup", "copy.db"], {}, cwd)).toMatchObject({
		code: 0,
		out: expect.stringMatching(/^Copied .* MB in .* s\.\n$/),
		err: expect.stringContaining("seal key"),
	});
	expect(await run(["backup", "copy.db"], {}, cwd)).toMatchObject({ code: 1, err: expect.stringContaining("copy.db") });
	await service.stop();

	const restored = newFolder();
	copyFileSync(join(cwd, "copy.db"), join(restored, "posthorn.db"));
	copyFileSync(join(cwd, "data/posthorn.sealkey"), join(restored, "posthorn.sealkey"));
	const settings = {
		POSTHORN_PORT: String(await unusedPort()),
		POSTHORN_OPERATOR_KEY: KEY,
		POSTHORN_DATABASE_URL: "sqlite:./posthorn.db",
	};
	const again = await Posthorn.start({ settings, cwd: restored });
	const { data } = (await (await fetch(`${again.url}/v1/projects`, { headers })).json()) as {
		data: { name: string }[];
	};
	expect(data.map((project) => project.name)).toEqual(["kept"]);
	await again.stop();
	expect(existsSync(join(restored, "posthorn.db"))).toBe(true);
});

test.each(["sqlite-writer", "sqlite-reader"])("ends with 1 and says why when the %s thread dies", async (thread) => {
	const cwd = newFolder();
	const preload = new URL("./dying-thread.ts", import.meta.url).href;
	const service = await Posthorn.start({
		settings: { POSTHORN_PORT: String(await unusedPort()), POSTHORN_OPERATOR_KEY: KEY, DYING_THREAD: thread },
		nodeOptions: ["--import", preload],
		cwd,
	});
	const answer = await fetch(`${service.url}/v1/projects`, { method: "POST", headers, body: '{"name":"kept"}' });
	const { id } = (await answer.json()) as { id: string };
	const ended = once(service.process, "close");
	service.process.kill("SIGUSR2");
	expect(await ended).toEqual([1, null]);
	expect(service.output).toContain("posthorn.db ended unexpectedly");

	const port = String(await unusedPort());
	const again = await Posthorn.start({ settings: { POSTHORN_PORT: port, POSTHORN_OPERATOR_KEY: KEY }, cwd });
	expect((await fetch(`${again.url}/v1/projects/${id}`, { headers })).status).toBe(200);
	await again.stopWith(0);
});

// It kept writing to a file that no path led to, so the next start found none of the events that it had accepted.
test.skipIf(process.platform === "win32")("ends with 1 and says what to do when its database is deleted", async () => {
	const cwd = newFolder();
	const settings = { POSTHORN_PORT: String(await unusedPort()), POSTHORN_OPERATOR_KEY: KEY };
	const service = await Posthorn.start({ settings, cwd });
	const ended = once(service.process, "close");
	rmSync(join(cwd, "data/posthorn.db"));
	expect(await within("the service to notice", ended)).toEqual([1, null]);
	expect(service.output).toMatch(
		/posthorn\.db was moved or deleted while the service was using it\. Stop the service, and/,
	);
	// A supervisor starts it again, and it mustn't begin with an empty one.
	const again = await run(["serve"], settings, cwd);
	expect(again).toMatchObject({ code: 2, err: expect.stringContaining("posthorn.db is missing: put it back") });
	expect(existsSync(join(cwd, "data/posthorn.db"))).toBe(false);
});

// It opened Node's debugger on a port of the machine, through which any of its users could run code as the service.
test.skipIf(process.platform === "win32")("SIGUSR1, as log rotation sends it, does nothing", async () => {
	const service = await Posthorn.start({
		settings: { POSTHORN_PORT: String(await unusedPort()), POSTHORN_OPERATOR_KEY: KEY },
		cwd: newFolder(),
	});
	service.process.kill("SIGUSR1");
	expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
	await service.stopWith(0);
	expect(service.output).not.toContain("Debugger");
});

test("leaves a file that isn't a database unchanged, and says so", async () => {
	const cwd = newFolder();
	writeFileSync(
		join(cwd, "notes.txt"),
		"not a database, and longer than a hundred bytes so that it is read as one: ".repeat(5),
	);
	const { code, err } = await run(["serve", "--port", "0", "--database-url", "sqlite:./notes.txt"], {}, cwd);
	expect(code).toBe(1);
	expect(err).toContain("notes.txt");
});

test("the operator's commands print JSON, one value a line, and serve starts with one", async () => {
	const cwd = newFolder();
	// The names of files were cut off at two spaces.
	const database = "two  spaces/posthorn.db";
	const settings = { POSTHORN_DATABASE_URL: `sqlite:${database}`, POSTHORN_OPERATOR_KEY: KEY };
	const env = { POSTHORN_PORT: String(await unusedPort()), ...settings };
	const service = spawn(process.execPath, [COMMAND, "serve", "--json"], {
		cwd,
		env: { PATH: process.env.PATH, ...env },
	});
	const closed = once(service, "close");
	try {
		let err = "";
		service.stderr.on("data", (text) => (err += text));
		await until("the service to be ready", async () => err.includes("\n"));
		expect(JSON.parse(err.split("\n")[0]!)).toMatchObject({
			ready: true,
			version: expect.any(String),
			api: `http://127.0.0.1:${env.POSTHORN_PORT}/v1`,
			database,
			seal_key: "two  spaces/posthorn.sealkey",
			set_up: "in two  spaces/posthorn.setuplink",
		});
		const backup = await run(["backup", "copy.db", "--json"], env, cwd);
		expect(JSON.parse(backup.out)).toMatchObject({
			database,
			file: "copy.db",
			bytes: statSync(join(cwd, "copy.db")).size,
			seconds: expect.any(Number),
		});
		const doctor = await run(["doctor", "--json"], env, cwd);
		const findings = doctor.out
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(findings[0]).toEqual({ state: "ok", name: "Configuration", text: "All settings are valid." });
		for (const finding of findings) expect(Object.keys(finding)).toEqual(["state", "name", "text"]);
	} finally {
		service.kill();
		await closed;
	}
	const stored = join(cwd, ".config/posthorn/login.json");
	mkdirSync(dirname(stored), { recursive: true });
	writeFileSync(stored, "{}");
	const logout = () => run(["logout", "--json"], { HOME: cwd }, cwd);
	expect(JSON.parse((await logout()).out)).toEqual({ deleted: stored });
	const again = await logout();
	expect([again.code, JSON.parse(again.out)]).toEqual([0, { deleted: null }]);
	expect(again.err).toContain("Nothing was stored, so nothing was deleted.");
});
