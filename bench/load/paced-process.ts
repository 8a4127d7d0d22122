/** Posts single events at steady rates, without waiting for previous responses. */
import { readFileSync } from "node:fs";
import type { PacedTask } from "../measures/latency.ts";
import { PacedClient } from "./paced-client.ts";
import { envelope, eventData, eventInput, now } from "./payload.ts";
import { doTasks } from "./worker-process.ts";

/** Enough that no event waits for another one's response, unless the machine stalls. */
const CONNECTIONS = 16;

doTasks<PacedTask, null>(async ({ origin, caFile, path, headers, enveloped, stretches }) => {
	const ca = caFile === null ? null : readFileSync(caFile);
	const client = await PacedClient.connect(origin, ca, path, headers, CONNECTIONS);
	const write = enveloped ? envelope : eventInput;
	let number = 0;
	for (const { count, perSecond } of stretches) {
		await sendPaced(count, perSecond, () => client.post(write(eventData(number++, now()))));
	}
	client.close();
	return null;
});

/** Resolves when all got a response. */
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
