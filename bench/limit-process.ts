/** Sends signed 1 KB envelopes as fast as undici's `dispatch` can, without storing anything. */
import { readFileSync } from "node:fs";
import { Agent } from "undici";
import type { LimitReading, LimitTask } from "./limit.ts";
import { SignedLine } from "./load/signed-line.ts";
import { doTasks } from "./load/worker-process.ts";

/** Connections are kept through pauses between tasks for this long, milliseconds. */
const KEEP_ALIVE_MS = 600_000;

const sendersByConnections = new Map<number, readonly SignedLine[]>();

doTasks<LimitTask, LimitReading>(async (task) => {
	const lines = sendersByConnections.get(task.connections) ?? connect(task);
	sendersByConnections.set(task.connections, lines);
	const measured = measure(lines, task);
	await Promise.all([measured, ...lines.map((line) => line.run())]);
	return await measured;
});

function connect({ origin, caFile, firstPath, connections }: LimitTask): readonly SignedLine[] {
	const agent = new Agent({
		connections,
		pipelining: 1,
		keepAliveTimeout: KEEP_ALIVE_MS,
		connect: { ca: readFileSync(caFile) },
	});
	return Array.from({ length: connections }, (_, index) => new SignedLine(agent, origin, `/w${firstPath + index}`));
}

async function measure(lines: readonly SignedLine[], { warmUpMs, measureMs }: LimitTask): Promise<LimitReading> {
	await passed(warmUpMs);
	const sent = total(lines);
	const begin = performance.now();
	await passed(measureMs);
	const count = total(lines) - sent;
	const seconds = (performance.now() - begin) / 1_000;
	for (const line of lines) line.stop();
	return count / seconds;
}

function total(lines: readonly SignedLine[]): number {
	return lines.reduce((sum, line) => sum + line.sent, 0);
}

function passed(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
