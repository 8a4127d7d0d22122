import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { until, within } from "@posthorn/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, pack } from "../../../scripts/pack.mjs";
import { Service } from "./service.fixture.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const MODULES = join(ROOT, "node_modules");
const README = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const EXAMPLES = [...README.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code!);
const folder = mkdtempSync(join(tmpdir(), "posthorn-client-tarball-"));
const installed = join(folder, "node_modules/@posthorn/client");

let service: Service;
let env: Record<string, string>;
beforeAll(async () => {
	service = await Service.start();
	const { id } = (await service.post("/v1/projects", { name: "Store" })) as { id: string };
	const { key } = (await service.post(`/v1/projects/${id}/api-keys`, { name: "Client" })) as { key: string };
	env = { POSTHORN_URL: service.url, POSTHORN_API_KEY: key, POSTHORN_PROJECT: id, PATH: process.env.PATH ?? "" };
	mkdirSync(installed, { recursive: true });
	const client = PUBLISHED.find(({ folder }: { folder: string }) => folder === "client");
	await run("tar", ["-xzf", await pack(client), "--strip-components=1", "-C", installed]);
	// Its dependencies are the workspace's own: no test loads them from a registry.
	const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	expect(Object.keys(dependencies)).toEqual(["openapi-fetch"]);
	for (const name of ["openapi-fetch", "openapi-typescript-helpers", "@types"])
		symlinkSync(join(MODULES, name), join(folder, "node_modules", name));
	writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
	for (const [i, code] of EXAMPLES.entries()) writeFileSync(join(folder, `example-${i}.ts`), code);
});
afterAll(async () => {
	await service.close();
	rmSync(folder, { recursive: true });
});

test("has code, types, README and license, and no tests", () => {
	const files = readdirSync(installed, { recursive: true }).map(String);
	expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json", "dist/client/src/index.js"]));
	expect(files.filter((name) => /test\.|fixture|\.ts$/.test(name) && !name.endsWith(".d.ts"))).toEqual([]);
});

test("the README's examples compile against the tarball's types", async () => {
	expect(EXAMPLES.length).toBeGreaterThan(4);
	const options = { target: "es2024", module: "nodenext", strict: true, types: ["node"], noEmit: true };
	writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["example-*.ts"] }));
	const tsc = run(process.execPath, [join(MODULES, "typescript/bin/tsc"), "-p", folder]);
	expect((await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout }))).stdout).toBe("");
});

// The error used to be about the overload for lists, and said that an event has no "type".
test("the compiler says what is wrong with an event", async () => {
	const data = '{ order_id: "1", customer_email: "ann@example.com", amount_cents: 1, currency: "EUR", items: [] }';
	const code = `import { createClient } from "@posthorn/client";
const posthorn = createClient({ url: "", key: "", project: "" });
await posthorn.publish({ type: "purchase.complete", data: ${data} });
await posthorn.publish({ type: "purchase.completed", data: { order_id: "1" } });
await posthorn.publish({ type: "purchase.completed", data: ${data.replace("1,", '"1",')} });
await posthorn.publish([{ type: "purchase.completed", data: ${data} }]);
`;
	writeFileSync(join(folder, "wrong.ts"), code);
	const options = { target: "es2024", module: "nodenext", strict: true, types: ["node"], noEmit: true };
	writeFileSync(join(folder, "wrong.json"), JSON.stringify({ compilerOptions: options, include: ["wrong.ts"] }));
	const args = ["--pretty", "false", "-p", join(folder, "wrong.json")];
	const tsc = run(process.execPath, [join(MODULES, "typescript/bin/tsc"), ...args]);
	const { stdout } = await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout }));
	expect(stdout.match(/wrong\.ts\(\d+/g)).toEqual(["wrong.ts(3", "wrong.ts(4", "wrong.ts(5"]);
	expect(stdout).toMatch(/"purchase.complete"' is not assignable to type/);
	expect(stdout).not.toContain("'type' does not exist");
});

test("the guide to publishing shows the same example", () => {
	expect(readFileSync(join(ROOT, "docs/guides/publishing.md"), "utf8")).toContain(EXAMPLES[0]);
});

const RUNTIMES: readonly (readonly [name: string, ...command: string[]])[] = [
	["Node", process.execPath],
	["Bun", "bun"],
	["Deno", "deno", "run", "--allow-all"],
];

describe.each(RUNTIMES)("%s", (name, program, ...args) => {
	test.skipIf(spawnSync(program!, ["--version"]).status !== 0)("runs the README's examples", async () => {
		const example = (i: number) => join(folder, `example-${i}.ts`);
		const published = await run(program!, [...args, example(0)], { cwd: folder, env });
		expect(published.stdout).toMatch(/^evt_paid-ord_10482 is number \d+ in the log\.\n$/);
		const following = spawn(program!, [...args, example(EXAMPLES.findIndex((code) => code.includes("follow(")))], {
			cwd: folder,
			env,
			stdio: ["ignore", "pipe", "inherit"],
		});
		expect(await firstLine(following), name).toBe("ord_10482: 1999");
		const stored = () => {
			const file = readdirSync(folder).find((found) => found === "position.json");
			return file && readFileSync(join(folder, file), "utf8").includes('"after":1');
		};
		await until("the position to be stored", stored);
		following.kill();
		await once(following, "close");
		rmSync(join(folder, "position.json"));
	});
});

function firstLine(child: ChildProcess): Promise<string> {
	const line = new Promise<string>((resolve, reject) => {
		let text = "";
		child.stdout!.on("data", (chunk: Buffer) => {
			text += chunk.toString();
			if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
		});
		child.once("close", (code) => reject(new Error(`It ended with code ${code}.`)));
	});
	return within("the first line", line);
}
