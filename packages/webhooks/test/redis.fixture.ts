import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { endWithParent, until, unusedPort } from "@posthorn/testkit";

export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** Starts a Redis server without persistence, with a client that sends one command at a time. */
export async function startRedis() {
	const port = await unusedPort();
	const server = spawn("redis-server", ["--port", String(port), "--save", "", "--bind", "127.0.0.1"], {
		stdio: "ignore",
	});
	endWithParent(server);
	const socket = await until("redis-server", async () => {
		const one = connect(port, "127.0.0.1");
		return await once(one, "connect").then(
			() => one,
			() => false as const,
		);
	});
	let last: Promise<unknown> = Promise.resolve();

	async function exchange(args: readonly string[]): Promise<unknown> {
		const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
		socket.write(`*${args.length}\r\n${parts.join("")}`);
		let text = "";
		while (!isWhole(text)) text += String((await once(socket, "data"))[0]);
		return replyOf(text);
	}

	return {
		send(args: readonly string[]): Promise<unknown> {
			const reply = last.then(() => exchange(args));
			last = reply.catch(() => undefined);
			return reply;
		},
		async stop(): Promise<void> {
			socket.destroy();
			server.kill();
			await once(server, "exit");
		},
	};
}

/** Replies are simple strings, numbers, errors and bulk strings; our commands get no others. */
function isWhole(text: string): boolean {
	const [line, ...rest] = text.split("\r\n");
	if (!line || rest.length === 0) return false;
	return !line.startsWith("$") || line === "$-1" || rest.length > 1;
}

function replyOf(text: string): unknown {
	const [line = "", bulk] = text.split("\r\n");
	if (line.startsWith("-")) throw new Error(line.slice(1));
	if (line.startsWith("$")) return line === "$-1" ? null : bulk;
	return line.startsWith(":") ? Number(line.slice(1)) : line.slice(1);
}
