/** Publishes events over the HTTP API, in batches as fast as they are accepted. */
import { Pool } from "undici";
import { eventData, eventInput, now, referenceEventData, smallEventData } from "./payload.ts";
import type { PublishTask } from "./publisher.ts";
import { doTasks } from "./worker-process.ts";

doTasks<PublishTask, null>(async (task) => {
	const pool = new Pool(task.origin, { connections: task.inFlight });
	const batches = planBatches(task);
	const work = async () => {
		for (const batch of batches) await post(pool, task, batch);
	};
	await Promise.all(Array.from({ length: task.inFlight }, work));
	await pool.close();
	return null;
});

interface Batch {
	readonly projectId: string;
	readonly first: number;
	readonly count: number;
}

/**
 * In rounds of one batch per project. A project's batches are numbered and mustn't overtake each other, so each waits
 * for the previous one.
 */
function* planBatches({ projectIds, eventsPerProject, firstNumber, batch }: PublishTask): Generator<Batch> {
	for (let done = 0; done < eventsPerProject; done += batch) {
		const count = Math.min(batch, eventsPerProject - done);
		for (const projectId of projectIds) yield { projectId, first: firstNumber + done, count };
	}
}

const last = new Map<string, Promise<void>>();

async function post(pool: Pool, task: PublishTask, batch: Batch): Promise<void> {
	const before = last.get(batch.projectId);
	const posted = Promise.resolve(before).then(() => postNow(pool, task, batch));
	last.set(batch.projectId, posted);
	await posted;
}

async function postNow(pool: Pool, task: PublishTask, { projectId, first, count }: Batch): Promise<void> {
	const { references } = task;
	const data = references
		? (n: number, at: number) => referenceEventData(n, at, references)
		: task.small
			? smallEventData
			: eventData;
	const at = now();
	let events = "";
	for (let n = first; n < first + count; n++) events += `${n === first ? "" : ","}${eventInput(data(n, at))}`;
	const { statusCode, body } = await pool.request({
		method: "POST",
		path: `/v1/projects/${projectId}/events`,
		headers: { authorization: `Bearer ${task.key}`, "content-type": "application/json" },
		body: `{"events":[${events}]}`,
	});
	if (statusCode === 202) await body.dump({ limit: Number.MAX_SAFE_INTEGER });
	else throw new Error(`Publishing got ${statusCode}: ${await body.text()}`);
}
