/**
 * A hostile neighbor: its receiver, and what it does to the API. Only its parent's end stops it: it immediately retries
 * whatever the service refuses, and reopens closed connections.
 */
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { type Credentials, createCostlyChain, serveTlsFlood } from "@posthorn/testkit";
import { Pool } from "undici";
import { eventInput } from "../load/payload.ts";
import type { Attack, AttackOrder, Behaviour, HostileCall, HostileCommand, HostileReply } from "./hostile.ts";

const BATCH_BYTES = 2 * 1_024 * 1_024;
const BATCH_EVENTS = 1_000;
/**
 * Time between two tries of a connection that the service closed, milliseconds, because its share of a core is limited.
 */
const AGAIN_MS = 20;
const DRIP_EVERY_MS = 20;
const DRIPS = 40;
const OK = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
const INTERIM = Buffer.from("HTTP/1.1 100 \r\n\r\n".repeat(4_096));

/** A chain that the service checks to its end: it has about as many bytes as a metered handshake may have. */
const CHAIN_LENGTH = 50;
const KEY_UPDATES = 10_000;

type Project = AttackOrder["projects"][number];

const { HOSTILE_CERT: cert = "", HOSTILE_KEY: key = "", HOSTILE_TLS: tls } = process.env;
const server = tls === "key updates" ? createTcpServer(updateKeys) : createServer(credentials(), receive);
server.on("tlsClientError", () => {}); // the service may give a handshake up
server.listen(0, tls === undefined ? "127.0.0.1" : "0.0.0.0", () =>
	say({ port: (server.address() as { port: number }).port }),
);
process.on("disconnect", () => process.exit());
/** Published events and requests with a 200 response. */
let accepted = 0;
let received = 0;
let publishing: NodeJS.Timeout | undefined;
process.on("message", (command: HostileCommand) => {
	if (command.attack === null) {
		clearInterval(publishing);
		say({ accepted, received });
	} else {
		begin(command);
		say({ begun: true });
	}
});

function say(reply: HostileReply): void {
	process.send?.(reply);
}

// ── as a receiver ──

function credentials(): Credentials {
	return tls === "certificate chains" ? createCostlyChain(CHAIN_LENGTH) : { cert, key };
}

function updateKeys(raw: Socket): void {
	const { socket, flood } = serveTlsFlood(raw, { cert, key }, "key updates");
	socket.on("error", () => socket.destroy());
	socket.once("data", () => flood(KEY_UPDATES));
}

function receive(socket: TLSSocket): void {
	socket.on("error", () => socket.destroy());
	let held = "";
	let left = 0;
	let behaviour: Behaviour | null = null;
	socket.on("data", (chunk: Buffer) => {
		if (behaviour !== null && behaviour !== "ok") return;
		let at = Math.min(left, chunk.length);
		left -= at;
		while (at < chunk.length) {
			held += chunk.toString("latin1", at);
			const end = held.indexOf("\r\n\r\n");
			if (end < 0) return;
			behaviour = /^POST \/(\w+)/.exec(held)?.[1] as Behaviour;
			const length = Number(/content-length: (\d+)/.exec(held)?.[1] ?? 0);
			const come = held.length - end - 4;
			held = "";
			respond(socket, behaviour);
			left = Math.max(0, length - come);
			at = chunk.length - Math.max(0, come - length);
		}
	});
}

function respond(socket: TLSSocket, behaviour: Behaviour): void {
	if (behaviour === "ok") {
		received++;
		socket.write(OK);
	} else if (behaviour === "unread") socket.pause();
	else if (behaviour === "interim") {
		const flood = (): void => {
			while (socket.writable && socket.write(INTERIM));
		};
		socket.on("drain", flood);
		flood();
	} else if (behaviour === "drip") {
		socket.setNoDelay(true).write("HTTP/1.1 200 \r\n");
		let sent = 0;
		const timer = setInterval(() => {
			if (!socket.writable) clearInterval(timer);
			else for (let i = 0; i < DRIPS; i++) socket.write("a:\n"[sent++ % 3]!);
		}, DRIP_EVERY_MS);
	}
}

// ── as a client of the API ──

function begin({ origin, projects, attack }: AttackOrder): void {
	switch (attack.kind) {
		case "events":
			publish(origin, projects, attack);
			break;
		case "batches":
			for (const _ of Array(10)) void repeat(origin, projects[0]!, attack.of === "largest" ? largest() : emptiest());
			break;
		case "unknown keys":
			for (const _ of Array(50)) void repeat(origin, { ...projects[0]!, key: `phk_${"x".repeat(43)}` }, "{}");
			break;
		case "stalled uploads":
			for (const _ of Array(40)) hold(origin, upload(projects[0]!));
			break;
		case "slow readers":
			for (const _ of Array(100)) hold(origin, "GET /docs/reference.js HTTP/1.1\r\nhost: x\r\n\r\n");
			void readPages(origin, projects[0]!);
			break;
		case "replay":
			void post(new Pool(origin), projects[0]!, `/webhooks/${attack.webhookId}/replay`, '{"status":"failed"}');
			break;
		case "calls":
			for (let n = 0; n < attack.connections; n++)
				void callInTurn(origin, projects[0]!, attack.calls, attack.manyAddresses ? loopbackAddress(n) : undefined);
			break;
		case "held":
			for (const _ of Array(attack.connections)) hold(origin, get(projects[0]!, attack.path));
			break;
		case "none":
			break;
	}
}

function publish(
	origin: string,
	projects: AttackOrder["projects"],
	{ perSecond, bytes }: Attack & { kind: "events" },
): void {
	const pool = new Pool(origin, { connections: 16 });
	const begun = performance.now();
	let sent = 0;
	publishing = setInterval(() => {
		for (; sent < ((performance.now() - begun) * perSecond) / 1_000; sent++) {
			const data = `{"n":${sent},"pad":"${"x".repeat(bytes)}"}`;
			void post(pool, projects[sent % projects.length]!, "/events", eventInput(data)).then((status) => {
				if (status === 202) accepted++;
			});
		}
	}, 5);
}

/** Posts the body on one connection repeatedly. */
const repeat = (origin: string, project: Project, body: string): Promise<never> =>
	callInTurn(origin, project, [{ method: "POST", path: "/events", body }]);

/** Makes the calls on one connection repeatedly. */
async function callInTurn(
	origin: string,
	project: Project,
	calls: readonly HostileCall[],
	localAddress?: string,
): Promise<never> {
	const pool = new Pool(origin, { connections: 1, pipelining: 1, ...(localAddress && { localAddress }) });
	for (let n = 0; ; n++)
		if ((await call(pool, project, calls[n % calls.length]!)) === 0)
			await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
}

const post = (pool: Pool, project: Project, path: string, body: string): Promise<number> =>
	call(pool, project, { method: "POST", path, body });

/** The response's status; 0 if the service closed the connection instead. */
async function call(
	pool: Pool,
	{ id, key }: Project,
	{ method, path, body, headers, open }: HostileCall,
): Promise<number> {
	try {
		const response = await pool.request({
			method,
			path: open ? path : `/v1/projects/${id}${path}`,
			headers: {
				...headers,
				...(!open && { authorization: `Bearer ${key}` }),
				...(body !== undefined && { "content-type": "application/json" }),
			},
			...(body !== undefined && { body }),
		});
		await response.body.dump({ limit: BATCH_BYTES });
		return response.statusCode;
	} catch {
		return 0;
	}
}

/** Keeps a connection open on which `request` was sent and nothing is read. */
function hold(origin: string, request: string): void {
	const { hostname, port } = new URL(origin);
	const socket: Socket = connect({ host: hostname, port: Number(port) });
	socket.pause();
	socket.write(request);
	socket.on("error", () => {}); // "close" follows
	socket.on("close", () => setTimeout(() => hold(origin, request), AGAIN_MS));
	// A socket that never reads only notices that it was closed when it writes.
	const watch = setInterval(() => socket.write("\r\n"), 1_000);
	socket.on("close", () => clearInterval(watch));
}

const largest = (): string => {
	const event = eventInput(`{"pad":"${"x".repeat(Math.floor(BATCH_BYTES / BATCH_EVENTS) - 60)}"}`);
	return `{"events":[${Array(BATCH_EVENTS).fill(event).join(",")}]}`;
};

const emptiest = (): string => `{"events":[${"{},".repeat(Math.floor((BATCH_BYTES - 16) / 3))}{}]}`;

/** First makes pages of the log large. */
async function readPages(origin: string, project: Project): Promise<void> {
	const event = eventInput(`{"pad":"${"x".repeat(20_000)}"}`);
	const body = `{"events":[${Array(100).fill(event).join(",")}]}`;
	for (const _ of Array(2)) await post(new Pool(origin), project, "/events", body);
	for (const _ of Array(20)) hold(origin, get(project, "/events?limit=200"));
}

function upload({ id, key }: Project): string {
	const body = largest();
	const head = `POST /v1/projects/${id}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json`;
	return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, -1_024)}`;
}

/** The addresses of the loopback network, from the second on. */
const loopbackAddress = (n: number): string => `127.0.${1 + Math.floor(n / 250)}.${1 + (n % 250)}`;

function get({ id, key }: Project, path: string): string {
	return `GET /v1/projects/${id}${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`;
}
