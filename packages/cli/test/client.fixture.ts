import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Signal, unusedPort, verifyRequest, within } from "@posthorn/testkit";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { Service } from "../../client/test/service.fixture.ts";

export const COMMAND = fileURLToPath(new URL("../bin/posthorn.mjs", import.meta.url));

/** The command line of a user with a home of their own. */
export class User {
	readonly home = mkdtempSync(join(tmpdir(), "posthorn-user-"));
	readonly #env: Readonly<Record<string, string>>;

	constructor(env: Readonly<Record<string, string>> = {}) {
		this.#env = env;
	}

	/** Starts a command. */
	spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
		const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
		return spawn(process.execPath, [COMMAND, ...args], {
			cwd: this.home,
			env: { PATH, NODE_COMPILE_CACHE, HOME: this.home, ...this.#env, ...env },
		});
	}

	/** Runs a shell script at a terminal, with job control. `posthorn` in it is the command. */
	atTerminal(script: string): ChildProcess {
		const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
		// Variables, because paths may contain what a shell replaces between quotes.
		const program = { NODE: process.execPath, COMMAND };
		return spawn("script", ["-qfec", `set -m; posthorn() { exec "$NODE" "$COMMAND" "$@"; }; ${script}`, "/dev/null"], {
			cwd: this.home,
			env: { PATH, NODE_COMPILE_CACHE, HOME: this.home, SHELL: "/bin/sh", ...program, ...this.#env },
		});
	}

	/** Runs a script at a terminal to its end. Types `keys` once the question is shown. */
	async runAtTerminal(script: string, question = "", keys = "") {
		const shell = this.atTerminal(script);
		const ended = once(shell, "close");
		let shown = "";
		shell.stdout!.setEncoding("utf8").on("data", (text: string) => {
			const isAsked = shown.includes(question);
			shown += text;
			if (!isAsked && shown.includes(question)) shell.stdin!.write(keys);
		});
		try {
			const [code] = (await within(script, ended)) as [number | null];
			return { code, shown };
		} finally {
			shell.kill("SIGKILL");
		}
	}

	/** Runs a command to its end. */
	async run(args: readonly string[], { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {}) {
		const child = this.spawn(args, env);
		const [out, err] = [collect(child.stdout!), collect(child.stderr!)];
		// A command that refuses its options may end before it reads what is written here.
		child.stdin!.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code !== "EPIPE") throw error;
		});
		child.stdin!.end(input);
		try {
			const [code] = (await within(`posthorn ${args.join(" ")}`, once(child, "close"))) as [number | null];
			return { code, out: out(), err: err() };
		} finally {
			child.kill("SIGKILL");
		}
	}

	close(): void {
		rmSync(this.home, { recursive: true });
	}
}

function collect(stream: NodeJS.ReadableStream): () => string {
	let text = "";
	stream.setEncoding("utf8").on("data", (chunk: string) => {
		text += chunk;
	});
	return () => text;
}

/** A command that runs until it is stopped, with the JSON lines that it prints. */
export class Running {
	readonly lines: Record<string, unknown>[] = [];
	readonly #child: ChildProcess;
	readonly #ended: Promise<unknown>;
	readonly #signal = new Signal();
	#rest = "";
	#errors = "";

	constructor(child: ChildProcess) {
		this.#child = child;
		this.#ended = once(child, "close");
		child.stdout!.setEncoding("utf8").on("data", (text: string) => {
			const lines = (this.#rest + text).split("\n");
			this.#rest = lines.pop()!;
			this.lines.push(...lines.map((line) => JSON.parse(line)));
			this.#signal.look();
		});
		child.stderr!.setEncoding("utf8").on("data", (text: string) => {
			this.#errors += text;
			this.#signal.look();
		});
	}

	/** What it has printed to standard error. */
	get errors(): string {
		return this.#errors;
	}

	until(what: string, isSo: () => boolean): Promise<void> {
		return this.#signal.until(what, isSo);
	}

	async end(signal: NodeJS.Signals): Promise<number | null> {
		this.#child.kill(signal);
		await within("the command to end", this.#ended);
		return this.#child.exitCode;
	}
}

export interface Received {
	readonly id: string;
	readonly type: string;
	readonly verified: boolean;
	readonly body: string;
}

/** A receiver under development: plain HTTP on loopback, which can go away and come back. */
export class LocalReceiver {
	readonly received: Received[] = [];
	readonly port: number;
	secret = "";
	status = 200;
	readonly #signal = new Signal();
	#server: ReturnType<typeof createServer> | null = null;

	private constructor(port: number) {
		this.port = port;
	}

	static async start(): Promise<LocalReceiver> {
		const receiver = new LocalReceiver(await unusedPort());
		await receiver.open();
		return receiver;
	}

	async open(): Promise<void> {
		this.#server = createServer((request, response) => {
			void read(request).then((rawBody) => {
				this.#note(request, rawBody);
				response.writeHead(this.status, { "content-type": "text/plain" }).end(this.status < 300 ? "ok" : "no\u001b[2J");
			});
		});
		await once(this.#server.listen(this.port, "127.0.0.1"), "listening");
	}

	async close(): Promise<void> {
		const closed = this.#server && once(this.#server, "close");
		this.#server?.close();
		this.#server?.closeAllConnections();
		await closed;
		this.#server = null;
	}

	until(what: string, isSo: () => boolean): Promise<void> {
		return this.#signal.until(what, isSo);
	}

	#note({ headersDistinct }: IncomingMessage, rawBody: Buffer): void {
		const headers = Object.fromEntries(
			Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(", ")]),
		);
		this.received.push({
			id: headers["x-service-event-id"] ?? "",
			type: headers["x-service-event"] ?? "",
			verified: verifyRequest({ secret: this.secret, headers, rawBody }).ok,
			body: rawBody.toString(),
		});
		this.#signal.look();
	}
}

async function read(request: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk);
	return Buffer.concat(chunks);
}

/** Opens a server on loopback until the end of the block. */
export async function openServer(server: Server | HttpsServer) {
	await once(server.listen(0, "127.0.0.1"), "listening");
	const { port } = server.address() as AddressInfo;
	return {
		port,
		async [Symbol.asyncDispose]() {
			const closed = once(server, "close");
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
}

/** What a test's commands talk to. */
interface Stage {
	service: Service;
	receiver: LocalReceiver;
	/** A key of the project, which `user` has in the environment. */
	key: string;
	project: Awaited<ReturnType<Service["project"]>>;
	user: User;
	/** Gives the receiver the secret with which the user's commands sign. */
	shareSecret: () => Promise<void>;
}

/** A service and a receiver for the tests of a file; a project and a user for each test. */
export function useStage(): Stage {
	const on = {} as Stage;
	beforeAll(async () => {
		on.service = await Service.start();
		on.receiver = await LocalReceiver.start();
	});
	afterAll(async () => {
		await on.receiver.close();
		await on.service.close();
	});
	beforeEach(async () => {
		const { id, key } = await on.service.keyOfProject();
		on.key = key;
		on.project = on.service.clientOf(id, key);
		on.user = new User({ POSTHORN_URL: on.service.url, POSTHORN_API_KEY: key });
		on.shareSecret = async () => {
			on.receiver.secret = (await on.user.run(["listen", "--print-secret"])).out.trim();
		};
		on.receiver.secret = "";
		on.receiver.received.length = 0;
		on.receiver.status = 200;
		return () => on.user.close();
	});
	return on;
}
