/** Sends signed 1 KB envelopes by undici's `dispatch` and reports the CPU time of each. */
import { readFileSync } from "node:fs";
import { Agent } from "undici";
import { SignedLine } from "../load/signed-line.ts";
import { doTasks } from "../load/worker-process.ts";

export interface SendTask {
	readonly origin: string;
	readonly caFile: string;
	/** The first connection posts to `/w` and this number, the next one to the number after it. */
	readonly firstPath: number;
	readonly connections: number;
	/** In total. */
	readonly requests: number;
}

/** Microseconds. */
export type SendReading = number;

/** Connections are kept through pauses between tasks for this long, milliseconds. */
const KEEP_ALIVE_MS = 600_000;

let lines: readonly SignedLine[] | null = null;

doTasks<SendTask, SendReading>(async (task) => {
	lines ??= connect(task);
	const sentBefore = total(lines);
	const before = process.cpuUsage();
	await Promise.all(lines.map((line) => line.run(task.requests / task.connections)));
	const { user, system } = process.cpuUsage(before);
	return (user + system) / (total(lines) - sentBefore);
});

function connect({ origin, caFile, firstPath, connections }: SendTask): readonly SignedLine[] {
	const connect = { ca: readFileSync(caFile) };
	const agent = new Agent({ connections, pipelining: 1, keepAliveTimeout: KEEP_ALIVE_MS, connect });
	return Array.from({ length: connections }, (_, index) => new SignedLine(agent, origin, `/w${firstPath + index}`));
}

const total = (all: readonly SignedLine[]): number => all.reduce((sum, { sent }) => sum + sent, 0);
