import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SIGNATURE_VECTORS } from "@posthorn/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, pack } from "../../../scripts/pack.mjs";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const MODULES = join(ROOT, "node_modules");
const VECTORS = join(ROOT, "packages/protocol/src/vectors.json");
const README = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "posthorn-tarball-"));
const installed = join(folder, "node_modules/@posthorn/webhooks");

beforeAll(async () => {
	const tarball = await pack(PUBLISHED.find(({ folder }: { folder: string }) => folder === "webhooks"));
	// The environment is empty and the registry unreachable, so everything must be in the tarball.
	await run("npm", ["install", "--no-audit", "--no-fund", "--registry=http://127.0.0.1:9", tarball], {
		cwd: folder,
		env: { PATH: process.env.PATH, HOME: folder },
		shell: process.platform === "win32",
	});
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program of this folder with an empty environment. */
async function node(source: string): Promise<string> {
	const file = join(folder, `program-${source.length}.mjs`);
	writeFileSync(file, source);
	return (await run(process.execPath, [file], { cwd: folder, env: {} })).stdout;
}

test("the tarball installs alone, with code, types, README and license, and without tests", async () => {
	expect(readdirSync(join(folder, "node_modules"))).toEqual(expect.not.arrayContaining(["pg", "fastify", "express"]));
	expect(readdirSync(join(folder, "node_modules/@posthorn"))).toEqual(["webhooks"]);
	const files = readdirSync(installed, { recursive: true }).map(String);
	expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
	expect(files.filter((name) => /test\.|fixture|\.ts$/.test(name) && !name.endsWith(".d.ts"))).toEqual([]);
	const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	expect(manifest).not.toHaveProperty("dependencies");
	expect(manifest).not.toHaveProperty("private");
});

test("every entry works from the tarball", async () => {
	const output = await node(`
		import { createServer } from "node:http";
		import { once } from "node:events";
		import { DatabaseSync } from "node:sqlite";
		import { createReceiver, memoryStore, verify, WebhookError } from "@posthorn/webhooks";
		import { fetchHandler } from "@posthorn/webhooks/fetch";
		import { nodeHandler } from "@posthorn/webhooks/node";
		import { fastifyWebhooks } from "@posthorn/webhooks/fastify";
		import { sqliteStore } from "@posthorn/webhooks/sqlite";
		import { postgresStore } from "@posthorn/webhooks/postgres";
		import { redisStore } from "@posthorn/webhooks/redis";
		import { sampleEvent, signEvent } from "@posthorn/webhooks/testing";

		const secret = "whsec_test";
		const signed = await signEvent(sampleEvent("purchase.completed", { amount_cents: 500 }), secret);
		const results = [(await verify(signed.body, signed.headers, secret)).data.amount_cents];
		results.push(await verify("{}", signed.headers, secret).catch((error) => error instanceof WebhookError && error.status));
		const on = { "purchase.completed": ({ data }) => results.push(data.currency) };
		const receiver = createReceiver({ secret, store: sqliteStore(new DatabaseSync(":memory:")), on });
		const server = createServer(nodeHandler(receiver)).listen(0, "127.0.0.1");
		await once(server, "listening");
		const url = "http://127.0.0.1:" + server.address().port;
		const send = async () => (await (await fetch(url, { method: "POST", ...signed })).json()).result;
		results.push(await send(), await send());
		server.close();
		server.closeAllConnections();
		const request = new Request("http://localhost", { method: "POST", ...signed });
		const fetched = fetchHandler(createReceiver({ secret, store: memoryStore(), on: {} }));
		results.push((await fetched(request)).status);
		results.push([fastifyWebhooks, postgresStore, redisStore].every((entry) => typeof entry === "function"));
		console.log(JSON.stringify(results));
	`);
	expect(JSON.parse(output)).toEqual([500, 401, "EUR", "handled", "duplicate", 200, true]);
});

const RUNTIMES: readonly (readonly [name: string, ...command: string[]])[] = [
	["Node", process.execPath],
	["Bun", "bun"],
	["Deno", "deno", "run", "--allow-read", "--allow-net=127.0.0.1"],
];
/** What a receiver responds: see adapters.program.mjs. */
const ANSWERS = { genuine: 200, repeated: 200, large: 200, rotated: 200, altered: 401, stale: 400, unsigned: 400 };

describe.each(RUNTIMES)("%s", (name, program, ...args) => {
	const there = test.skipIf(spawnSync(program!, ["--version"]).status !== 0);

	async function runThere(source: string, ...more: string[]): Promise<string> {
		const file = join(folder, source);
		copyFileSync(join(import.meta.dirname, source), file);
		const env = { HOME: folder, PATH: process.env.PATH };
		return (await run(program!, [...args, file, ...more], { cwd: folder, env })).stdout;
	}

	there("serves receivers with its own server and with node:http", async () => {
		const answers = JSON.parse(await runThere("adapters.program.mjs"));
		expect(answers).toEqual(name === "Node" ? { node: ANSWERS } : { node: ANSWERS, fetch: ANSWERS });
	});

	there("knows the signature vectors", async () => {
		const stdout = await runThere("vectors.program.mjs", VECTORS);
		// The file's, and three bodies that JSON can't hold.
		expect(Number(stdout)).toBe(SIGNATURE_VECTORS.length + 3);
	});
});

test("a CommonJS program can load it", async () => {
	const file = join(folder, "program.cjs");
	writeFileSync(file, `console.log(typeof require("@posthorn/webhooks").verify)`);
	expect((await run(process.execPath, [file], { cwd: folder, env: {} })).stdout).toBe("function\n");
});

test("the code of the README and of the page on alerts compiles against the tarball's types, and its examples verify", async () => {
	const examples = [...README.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);
	expect(examples.length).toBeGreaterThan(3);
	// That of alerts read a property that the type of their data lacks.
	const alerts = readFileSync(join(ROOT, "docs/operations/alerts.md"), "utf8");
	const [, receiver] = /^```ts\n([\s\S]*?)^```$/m.exec(alerts)!;
	for (const [i, code] of [...examples, receiver!].entries()) writeFileSync(join(folder, `example-${i}.ts`), code);
	symlinkSync(join(MODULES, "@types"), join(folder, "node_modules/@types"));
	const options = {
		target: "es2024",
		module: "nodenext",
		strict: true,
		types: ["node"],
		noEmit: true,
		skipLibCheck: false,
	};
	writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["example-*.ts"] }));
	writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
	const tsc = run(process.execPath, [join(MODULES, "typescript/bin/tsc"), "-p", folder]);
	const { stdout } = await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout }));
	expect(stdout).toBe("");

	// The first example is shown elsewhere, too.
	for (const path of ["README.md", "docs/guides/receiving.md"]) {
		expect(readFileSync(join(ROOT, path), "utf8")).toContain(examples[0]);
	}
	const verifies = examples.findIndex((code) => code.includes("await verify("));
	const output = await node(`
		import { sampleEvent, signEvent } from "@posthorn/webhooks/testing";
		process.env.WEBHOOK_SECRET = "whsec_test";
		for (const example of ["./example-0.ts", "./example-${verifies}.ts"]) {
			const { POST } = await import(example);
			for (const secret of ["whsec_test", "whsec_other"]) {
				const { headers, body } = await signEvent({ ...sampleEvent("purchase.completed"), id: "evt_7" }, secret);
				const response = await POST(new Request("http://localhost", { method: "POST", headers, body }));
				const { message, ...rest } = await response.json();
				console.log(response.status, JSON.stringify(rest));
			}
		}
	`);
	const refused = '401 {"code":"signature_mismatch"}';
	expect(output.trimEnd().split("\n")).toEqual([
		expect.stringMatching(/ has paid\.$/),
		'200 {"result":"handled"}',
		refused,
		'200 {"received":"evt_7"}',
		refused,
	]);
});
