/** Follows docs/tutorial.md with the packed packages: every command as printed, apart from `npm install` and the ports. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
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
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { until, unusedPort, within } from "@posthorn/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, pack } from "../scripts/pack.mjs";

const run = promisify(execFile);
const MODULES = join(import.meta.dirname, "../node_modules");
const PAGE = readFileSync(join(import.meta.dirname, "../docs/tutorial.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "posthorn-tutorial-"));
const terminals: Terminal[] = [];

beforeAll(async () => {
	const modules = join(folder, "node_modules");
	for (const one of PUBLISHED) {
		const target = join(modules, one.command ? "posthorn" : `@posthorn/${one.folder}`);
		mkdirSync(target, { recursive: true });
		await run("tar", ["-xzf", await pack(one), "--strip-components=1", "-C", target]);
	}
	// Their dependencies are the workspace's own: no test loads them from a registry.
	for (const name of readdirSync(MODULES))
		if (!name.startsWith(".") && !existsSync(join(modules, name)))
			symlinkSync(join(MODULES, name), join(modules, name));
	mkdirSync(join(modules, ".bin"));
	symlinkSync("../posthorn/bin/posthorn.mjs", join(modules, ".bin/posthorn"));
});
afterAll(async () => {
	for (const terminal of terminals.toReversed()) await terminal.close();
	rmSync(folder, { recursive: true });
});

/** A shell that runs commands in the folder. */
class Terminal {
	output = "";
	readonly #shell: ChildProcess;
	readonly #closed: Promise<[code: number | null]>;

	constructor(commands: string) {
		this.#shell = spawn("bash", ["-euo", "pipefail", "-c", commands], {
			cwd: folder,
			env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: folder, NO_COLOR: "1" },
			stdio: ["ignore", "pipe", "pipe"],
			// A group of its own, so that what it started ends with it.
			detached: true,
		});
		this.#closed = once(this.#shell, "close") as Promise<[number | null]>;
		for (const stream of [this.#shell.stdout!, this.#shell.stderr!])
			stream.on("data", (text: Buffer) => {
				this.output += text.toString();
			});
		terminals.push(this);
	}

	/** Resolves with all output once the commands have succeeded. */
	async end(): Promise<string> {
		const [code] = await within("the tutorial's commands", this.#closed);
		expect(code, this.output).toBe(0);
		return this.output;
	}

	/** Resolves once it has printed this. */
	prints(text: string | RegExp): Promise<void> {
		const printed = new Promise<void>((resolve, reject) => {
			const look = () => {
				if (typeof text === "string" ? this.output.includes(text) : text.test(this.output)) resolve();
			};
			for (const stream of [this.#shell.stdout!, this.#shell.stderr!]) stream.on("data", look);
			void this.#closed.then(() => reject(new Error(`The command ended without ${text}:\n${this.output}`)));
			look();
		});
		return within(`the tutorial's terminal to print ${text}`, printed);
	}

	async close(): Promise<void> {
		if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return;
		process.kill(-this.#shell.pid!, "SIGTERM");
		await within("the tutorial's terminal to close", this.#closed);
	}
}

test.skipIf(process.platform === "win32")(
	"every command and program of the tutorial works in an empty folder",
	async () => {
		const [servicePort, receiverPort] = [await unusedPort(), await unusedPort()];
		const text = PAGE.replaceAll("8420", String(servicePort))
			.replaceAll("posthorn serve", `posthorn serve --port ${servicePort}`)
			.replaceAll(/\b3000\b/g, String(receiverPort));
		const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
			language,
			code: code!,
		}));
		for (const { code } of blocks.filter(({ language }) => language === "js"))
			writeFileSync(join(folder, /^\/\/ (\S+)\n/.exec(code)![1]!), code);
		const commands = blocks.filter(({ language }) => language === "sh").map(({ code }) => code);
		expect(commands).toHaveLength(8);
		const [install, serve, create, receive, listen, publish, register, list] = commands as [string, ...string[]];

		for (const one of PUBLISHED) expect(install).toContain(` ./${(await pack(one)).split(/[\\/]/).at(-1)}`);
		await new Terminal(serve!).prints("is ready.");
		await new Terminal(create!).end();
		const receiver = new Terminal(receive!);
		await receiver.prints("Waiting for events.");
		const forwarder = new Terminal(listen!);
		await forwarder.prints("Beginning now.");
		expect(await new Terminal(publish!).end()).toBe("evt_paid-1042 is number 1 in the log.\n");
		const verified = /prints `(Verified [^`]*)`/.exec(PAGE)![1]!;
		await receiver.prints(`${verified}\n`);
		await forwarder.prints(/evt_paid-1042 +→ 200/);

		const registered = await new Terminal(register!).end();
		expect(registered).toContain("whsec_");
		expect(registered).toContain("evt_paid-1043 is number 2 in the log.");
		await receiver.prints("Verified evt_paid-1043");
		const listed = await until("an attempt in the log", async () => {
			const output = await new Terminal(list!).end();
			return output.includes("evt_paid-1043") && output;
		});
		expect(listed).toMatch(/shop\.invalid/);
	},
);
