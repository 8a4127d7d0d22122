/** The quiet project's store: posts single events at a steady rate, and counts those not accepted. */

import { PacedClient } from "../load/paced-client.ts";
import { eventData, eventInput, now } from "../load/payload.ts";
import { doTasks } from "../load/worker-process.ts";

const CONNECTIONS = 16;

export interface QuietTask {
	readonly origin: string;
	readonly path: string;
	readonly key: string;
	readonly count: number;
	readonly perSecond: number;
	/** The number of the first event. */
	readonly first: number;
}

export interface QuietResult {
	readonly accepted: number;
	/** Why the others weren't accepted, each reason once. */
	readonly refusals: readonly string[];
}

doTasks<QuietTask, QuietResult>(async ({ origin, path, key, count, perSecond, first }) => {
	const client = await PacedClient.connect(origin, null, path, { authorization: `Bearer ${key}` }, CONNECTIONS);
	const refusals = new Set<string>();
	let accepted = 0;
	const begun = performance.now();
	const posts: Promise<void>[] = [];
	for (let sent = 0; sent < count; sent++) {
		const due = begun + (sent * 1_000) / perSecond - performance.now();
		if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
		const post = client.post(eventInput(eventData(first + sent, now()))).then(
			() => {
				accepted++;
			},
			(error: Error) => {
				refusals.add(error.message.slice(0, 300));
			},
		);
		posts.push(post);
	}
	await Promise.all(posts);
	client.close();
	return { accepted, refusals: [...refusals] };
});
