import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { SECRET_VARIABLE } from "./parts.ts";

/** A request to a receiver, and the status with which it must respond. */
export interface ReceiverCase {
	readonly name: string;
	readonly timestamp: string;
	readonly signature: string;
	readonly body: Uint8Array;
	readonly status: 200 | 400 | 401 | 500;
}

/** Whether a program is on the machine. */
export const isPresent = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

/** The signature by Node's own HMAC, keyed with the whole secret. */
const signatureOf = (secret: string, timestamp: number | string, body: Uint8Array) =>
	createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");

/** What every receiver must accept and refuse around the time `now`, in Unix seconds. Edges leave the clock 60 s. */
export function receiverCases(secret: string, text: string, now: number): ReceiverCase[] {
	const body = Buffer.from(text);
	const signed = (timestamp: number | string, key = secret) => ({
		timestamp: String(timestamp),
		signature: signatureOf(key, timestamp, body),
		body,
	});
	const genuine = signed(now);
	return [
		{ name: "a genuine request", ...genuine, status: 200 },
		{ name: "one that took four minutes", ...signed(now - 240), status: 200 },
		{ name: "one from a clock four minutes ahead", ...signed(now + 240), status: 200 },
		{ name: "a body that was altered", ...genuine, body: Buffer.from(text.replace("1", "2")), status: 401 },
		{ name: "a body with whitespace added", ...genuine, body: Buffer.from(`${text} `), status: 401 },
		{ name: "the secret before it was rotated", ...signed(now, `${secret.slice(0, -1)}!`), status: 401 },
		{ name: "a timestamp that was altered", ...genuine, timestamp: String(now - 1), status: 401 },
		{ name: "a signature cut short", ...genuine, signature: genuine.signature.slice(0, -1), status: 401 },
		{ name: "a signature with extra characters", ...genuine, signature: `${genuine.signature}00`, status: 401 },
		{ name: "no signature", ...genuine, signature: "", status: 401 },
		{ name: "a non-ASCII signature", ...genuine, signature: "é".repeat(64), status: 401 },
		{ name: "a stale request", ...signed(now - 360), status: 400 },
		{ name: "a request from the future", ...signed(now + 360), status: 400 },
		{ name: "a non-numeric timestamp", ...signed(`${now}x`), status: 400 },
		{ name: "a timestamp in other digits", ...signed("²"), status: 400 },
		{ name: "no timestamp", ...signed(""), status: 400 },
		{ name: "a timestamp beyond all bounds", ...signed("9".repeat(5_000)), status: 400 },
	];
}

/** The names of those {@link bodyCases} that aren't JSON. */
export const NOT_JSON = ["an empty body", "a byte order mark", "invalid UTF-8", "2 MiB"];

/**
 * Bodies whose bytes a careless receiver changes before it checks them, each with a genuine signature.
 * @param unhandled the names of those that the receiver accepts, but then fails to handle
 */
export function bodyCases(secret: string, now: number, unhandled: readonly string[]): ReceiverCase[] {
	const bodies: readonly (readonly [name: string, body: Uint8Array])[] = [
		["an empty body", new Uint8Array()],
		["an emoji", Buffer.from('{"id":"evt_1","type":"customer.created","data":{"name":"🎺 Zoë"}}')],
		["a byte order mark", Buffer.from('\ufeff{"id":"evt_1","type":"customer.created","data":{}}')],
		["invalid UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x22, 0x7d)],
		["carriage returns", Buffer.from('{"id":"evt_1",\r\n"type":"customer.created"}\r\n')],
		// More than the default limit of events.
		["2 MiB", Buffer.alloc(2_097_152, "é")],
	];
	return bodies.map(([name, body]) => ({
		name,
		timestamp: String(now),
		signature: signatureOf(secret, now, body),
		body,
		status: unhandled.includes(name) ? 500 : 200,
	}));
}

export interface Program {
	readonly command: readonly [string, ...string[]];
	readonly secret: string;
	/** Where its first line that matches `ready` appears. */
	readonly ready: { readonly stream: "stdout" | "stderr"; readonly line: RegExp };
	readonly env?: Readonly<Record<string, string>>;
}

/** A running receiver, listening on `port`. */
export interface RunningReceiver {
	readonly port: number;
	readonly stop: () => Promise<void>;
}

/** Starts a receiver and waits for its line about listening. If it ends, throws with its output. */
export async function startReceiver(port: number, { command, secret, ready, env }: Program): Promise<RunningReceiver> {
	const [file, ...args] = command;
	const child = spawn(file, args, {
		env: { ...process.env, ...env, PORT: String(port), [SECRET_VARIABLE]: secret },
		stdio: ["ignore", "pipe", "pipe"],
	});
	const closed = once(child, "close");
	const said: string[] = [];
	const lines = (stream: Readable, name: string) =>
		new Promise<void>((resolve) => {
			createInterface(stream).on("line", (line) => {
				said.push(line);
				if (name === ready.stream && ready.line.test(line)) resolve();
			});
		});
	const started = Promise.any([lines(child.stdout, "stdout"), lines(child.stderr, "stderr")]);
	const ended = closed.then(() => {
		throw new Error(`The receiver ended before it listened:\n${said.join("\n")}`);
	});
	await Promise.race([started, ended]);
	ended.catch(() => {
		// It ends when it is stopped.
	});
	return {
		port,
		stop: async () => {
			child.kill("SIGKILL");
			await closed;
		},
	};
}

/** Sends a case to a receiver and returns the status of its response. */
export async function sendCase(
	{ port }: RunningReceiver,
	{ timestamp, signature, body }: ReceiverCase,
): Promise<number> {
	const sent = request({
		host: "127.0.0.1",
		port,
		path: "/webhooks",
		method: "POST",
		agent: false,
		headers: {
			"Content-Type": "application/json",
			"Content-Length": body.length,
			"X-Service-Timestamp": timestamp,
			"X-Service-Signature": Buffer.from(signature).toString("latin1"),
		},
	});
	sent.end(body);
	const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
	response.resume();
	await once(response, "end");
	return response.statusCode ?? 0;
}

/** Sends the beginning of a request, and waits until the receiver has closed the connection. */
export async function breakOff({ port }: RunningReceiver): Promise<void> {
	const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
	socket.resume();
	socket.end('POST /webhooks HTTP/1.1\r\nHost: receiver\r\nContent-Length: 100\r\n\r\n{"id":');
	await once(socket, "close");
}
