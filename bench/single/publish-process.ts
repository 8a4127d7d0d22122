/** Publishes single events over HTTP, as a store does: one event in a request, on a fixed number of connections. */
import { Pool } from "undici";
import { eventData, eventInput, now } from "../load/payload.ts";
import { doTasks } from "../load/worker-process.ts";

export interface SingleTask {
	readonly origin: string;
	/** Null for a server that checks none. */
	readonly key: string | null;
	/** Requests go to these paths in turn. */
	readonly paths: readonly string[];
	readonly connections: number;
	/** In total. */
	readonly requests: number;
	/** The number of each path's first event. */
	readonly firstNumber: number;
}

const pools = new Map<string, Pool>();

doTasks<SingleTask, null>(async ({ origin, key, paths, connections, requests, firstNumber }) => {
	const pool = pools.get(origin) ?? new Pool(origin, { connections, pipelining: 1 });
	pools.set(origin, pool);
	const headers = { "content-type": "application/json", ...(key !== null && { authorization: `Bearer ${key}` }) };
	// An event's number must not overtake the one before it on the same path, so each connection has paths of its own.
	const work = async (connection: number): Promise<void> => {
		const own = paths.filter((_, index) => index % connections === connection);
		for (let n = 0; n < requests / connections; n++) {
			const number = firstNumber + Math.floor(n / own.length);
			const { statusCode, body } = await pool.request({
				method: "POST",
				path: own[n % own.length]!,
				headers,
				body: eventInput(eventData(number, now())),
			});
			if (statusCode !== 202) throw new Error(`Publishing got ${statusCode}: ${await body.text()}`);
			await body.dump();
		}
	};
	await Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
	return null;
});
