import type { Retry } from "../../port.ts";
import { QUEUE_CODE } from "../../shared/attempt-codes.ts";
import type { Connection } from "../connection/connection.ts";

/** Creates or replaces a delivery's pending attempt. Returns how many more are pending: 1 or 0. */
export function putRetry(c: Connection, projectNo: number, webhookNo: number, retry: Omit<Retry, "webhookId">): number {
	const queue = QUEUE_CODE[retry.queue];
	const replaced = c
		.sql(`
			UPDATE retries SET queue = ?, due_at = ?, replay = ?, attempt = ?
			WHERE project_no = ? AND seq = ? AND webhook_no = ?`)
		.run(queue, retry.dueAt, retry.replay, retry.attempt, projectNo, retry.seq, webhookNo);
	if (replaced.changes === 1) return 0;
	c.sql(`
		INSERT INTO retries (project_no, seq, webhook_no, queue, due_at, replay, attempt) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(
		projectNo,
		retry.seq,
		webhookNo,
		queue,
		retry.dueAt,
		retry.replay,
		retry.attempt,
	);
	return 1;
}

/** Whether an attempt of this delivery is pending. */
export function hasRetry(c: Connection, projectNo: number, webhookNo: number, seq: number): boolean {
	const found = c
		.sql("SELECT 1 FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?")
		.get(projectNo, seq, webhookNo);
	return found !== undefined;
}

/** Returns how many fewer are pending: 1 or 0. */
export function dropRetry(c: Connection, projectNo: number, webhookNo: number, seq: number): number {
	const dropped = c
		.sql("DELETE FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?")
		.run(projectNo, seq, webhookNo);
	return Number(dropped.changes);
}

/** Maintains the counters behind the gauges. */
export function addToCounters(c: Connection, webhookNo: number, retries: number, deadLetters: number): void {
	if (retries === 0 && deadLetters === 0) return;
	c.sql(`
		UPDATE lanes SET retries_waiting = max(0, retries_waiting + ?), dead_letters = max(0, dead_letters + ?)
		WHERE webhook_no = ?`).run(retries, deadLetters, webhookNo);
}
