/** Posts single events at steady rates, whether or not the ones before were answered. */
import { readFileSync } from "node:fs";
import { Pool } from "undici";
import type { PacedTask } from "./latency.ts";
import { envelope, eventData, eventInput, now } from "./payload.ts";
import { doTasks } from "./worker-process.ts";

/** Connections to begin with; enough that no event waits for the answer to another. */
const CONNECTIONS = 16;

doTasks<PacedTask, null>(async (task) => {
	const connect = task.caFile === null ? {} : { ca: readFileSync(task.caFile) };
	const pool = new Pool(task.origin, { connections: CONNECTIONS, connect });
	let number = 0;
	for (const { count, perSecond } of task.stretches) {
		await sendPaced(count, perSecond, () => post(pool, task, number++));
	}
	await pool.close();
	return null;
});

/** Resolves when all were answered. */
async function sendPaced(count: number, perSecond: number, send: () => Promise<void>): Promise<void> {
	const begin = performance.now();
	const posts: Promise<void>[] = [];
	for (let sent = 0; sent < count; sent++) {
		const due = begin + (sent * 1_000) / perSecond - performance.now();
		if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
		posts.push(send());
	}
	await Promise.all(posts);
}

async function post(pool: Pool, task: PacedTask, n: number): Promise<void> {
	const data = eventData(n, now());
	const answer = await pool.request({
		method: "POST",
		path: task.path,
		headers: { ...task.headers, "content-type": "application/json" },
		body: task.enveloped ? envelope(data) : eventInput(data),
	});
	const text = await answer.body.text();
	if (answer.statusCode >= 300) throw new Error(`POST ${task.path} was answered with ${answer.statusCode}: ${text}`);
}
