import { createServer } from "node:tls";
import { Connections } from "../connections.ts";
import type { Credentials } from "../tls/certificates.ts";
import { verifyRequest } from "../verify.ts";
import { headersOf, type Mark, pathOf, RequestSplitter, readMark } from "./fast-request.ts";
import { type PathReport, PathTally, Ring } from "./fast-tally.ts";

const ANSWER = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
/** The maximum number of responses in one write, for requests that arrived in one chunk. */
const MAX_JOINED = 64;
const ANSWERS = Buffer.concat(Array.from({ length: MAX_JOINED }, () => ANSWER));
const LATENCIES = 1_048_576;
const MAX_PATHS = 100_000;

export interface FastReceiverOptions extends Credentials {
	/** By default, any free one. */
	readonly port?: number;
	/** Verify the signature of every nth request on paths with a secret. By default 0: none. */
	readonly verifyEvery?: number;
	/** How many latencies to keep, the newest. By default, 1,048,576. */
	readonly latencies?: number;
}

export interface FastReceiverStats {
	/** All requests, including those without a number. */
	readonly count: number;
	/** Distinct events: numbers on their first arrival, summed over paths. */
	readonly distinct: number;
	readonly out_of_order: number;
	readonly duplicates: number;
	/** Requests whose body lacks `"data":{"n":`. */
	readonly unnumbered: number;
	/** How many of the checked signatures were valid and invalid. */
	readonly verified: number;
	readonly forged: number;
	/** Arrival of the first and last request, epoch milliseconds with a fraction; NaN before the first. */
	readonly first_at: number;
	readonly last_at: number;
	/** All TLS connections accepted. */
	readonly connections: number;
	/** The first few errors on connections, which were then broken. */
	readonly errors: readonly string[];
	readonly paths: Readonly<Record<string, PathReport>>;
	/** From `at` to arrival, milliseconds. Both clocks must be on the same machine. */
	readonly latencies: Float64Array;
}

export type FastReceiver = Awaited<ReturnType<typeof startFastReceiver>>;

/**
 * Starts a TLS server that accepts POSTs about as fast as Node can: it only reads content-length, path and the event's
 * number, and every request gets the same 200. For measuring a sender, which it must not slow down.
 */
export async function startFastReceiver(options: FastReceiverOptions) {
	const { cert, key, verifyEvery = 0 } = options;
	const tallies = new Map<string, PathTally>();
	const secrets = new Map<string, string>();
	const latencies = new Ring(options.latencies ?? LATENCIES);
	const mark: Mark = { n: 0, at: Number.NaN };
	let totals = newTotals();

	const server = createServer({ cert, key });
	const connections = new Connections(server, true);
	server.on("secureConnection", (socket) => {
		const splitter = new RequestSplitter(take);
		socket.setNoDelay(true);
		socket.on("data", (chunk: Buffer) => {
			try {
				for (let due = splitter.push(chunk); due > 0; due -= MAX_JOINED)
					socket.write(due === 1 ? ANSWER : ANSWERS.subarray(0, due * ANSWER.length));
			} catch (error) {
				note(error);
				socket.destroy();
			}
		});
		socket.on("error", note);
	});
	const port = await connections.listen(options.port ?? 0, "127.0.0.1");

	function take(head: string, body: Buffer): void {
		const now = performance.timeOrigin + performance.now();
		if (totals.count++ === 0) totals.first_at = now;
		totals.last_at = now;
		const path = pathOf(head);
		if (verifyEvery > 0 && totals.count % verifyEvery === 0) verify(path, head, body);
		if (!readMark(body, mark)) {
			totals.unnumbered++;
			return;
		}
		tallyOf(path).add(mark.n);
		if (!Number.isNaN(mark.at)) latencies.push(now - mark.at);
	}

	function tallyOf(path: string): PathTally {
		let tally = tallies.get(path);
		if (tally === undefined) {
			if (tallies.size === MAX_PATHS) throw new RangeError(`More than ${MAX_PATHS} paths.`);
			tally = new PathTally(path);
			tallies.set(path, tally);
		}
		return tally;
	}

	function verify(path: string, head: string, body: Buffer): void {
		const secret = secrets.get(path);
		if (secret === undefined) return;
		if (verifyRequest({ secret, headers: headersOf(head), rawBody: body }).ok) totals.verified++;
		else totals.forged++;
	}

	function note(error: unknown): void {
		if (totals.errors.length < 20) totals.errors.push(String(error));
	}

	return {
		port,
		url: (path = "/"): string => new URL(path, `https://localhost:${port}`).href,
		/** How requests on a path are checked from now on. */
		setSecret(path: string, secret: string): void {
			secrets.set(path, secret);
		},
		/** Requests received since the last reset; cheap enough to poll. */
		get count(): number {
			return totals.count;
		},
		stats(): FastReceiverStats {
			const paths = Object.fromEntries(Array.from(tallies, ([path, tally]) => [path, tally.read()]));
			const reports = Object.values(paths);
			const sum = (key: keyof PathReport): number => reports.reduce((all, report) => all + report[key], 0);
			return {
				...totals,
				errors: [...totals.errors],
				distinct: sum("distinct"),
				out_of_order: sum("out_of_order"),
				duplicates: sum("duplicates"),
				connections: connections.accepted,
				paths,
				latencies: latencies.read(),
			};
		},
		/** Forgets everything that arrived; secrets stay. */
		reset(): void {
			tallies.clear();
			latencies.clear();
			totals = newTotals();
		},
		close: (): Promise<void> => connections.close(),
	};
}

function newTotals() {
	return {
		count: 0,
		unnumbered: 0,
		verified: 0,
		forged: 0,
		first_at: Number.NaN,
		last_at: Number.NaN,
		errors: [] as string[],
	};
}
