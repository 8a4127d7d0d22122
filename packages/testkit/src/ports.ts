import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";

/** Above those that fetch refuses: 10080 is the last. */
const FIRST = 10_240;
const LAST = 31_999;
const BLOCK = 64;
/** Fewer blocks wouldn't be enough for all concurrent processes. */
const ENOUGH = 32;
/** The range of ports that Linux assigns automatically. */
const PICKED = "/proc/sys/net/ipv4/ip_local_port_range";

const ports = drawPorts();

/**
 * Returns a TCP port of 127.0.0.1 that no process listens on. The system doesn't assign it automatically (`listen(0)`,
 * outgoing connections), and each port is returned once, to one process of the machine, so no other test takes it
 * before it is used. Rejects if none are left.
 */
export async function unusedPort(): Promise<number> {
	const { value } = await ports.next();
	if (value === undefined) throw new Error(`No port from ${FIRST} to ${LAST} is left.`);
	return value;
}

/** Whether no process is currently listening on a port of 127.0.0.1. */
export async function isUnused(port: number): Promise<boolean> {
	const server = await listen(port);
	if (server === null) return false;
	server.close();
	await once(server, "close");
	return true;
}

/** A process reserves a block of ports by listening on its first port until it exits, and returns the others. */
async function* drawPorts(): AsyncGenerator<number, undefined> {
	const blocks = countBlocks();
	// Start anywhere, so that a released port isn't soon returned again.
	const begin = Math.floor(Math.random() * blocks);
	for (let n = 0; n < blocks; n++) {
		const guard = FIRST + ((begin + n) % blocks) * BLOCK;
		const held = await listen(guard);
		if (held === null) continue;
		held.unref();
		for (let port = guard + 1; port < guard + BLOCK; port++) {
			if (await isUnused(port)) yield port;
		}
	}
}

/** How many there are below the ports that the system assigns; if it assigns nearly all, these are as good as any. */
function countBlocks(): number {
	const all = Math.floor((LAST + 1 - FIRST) / BLOCK);
	if (!existsSync(PICKED)) return all;
	const firstPicked = Number.parseInt(readFileSync(PICKED, "utf8"), 10);
	const below = Math.floor((firstPicked - FIRST) / BLOCK);
	return below < ENOUGH ? all : Math.min(all, below);
}

/** @returns null if the port is taken */
async function listen(port: number): Promise<Server | null> {
	const server = createServer().listen({ port, host: "127.0.0.1", exclusive: true });
	try {
		await once(server, "listening");
		return server;
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return null;
		throw error;
	}
}
