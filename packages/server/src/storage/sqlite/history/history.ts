import type { Attempt, AttemptRows, Delivery, Params } from "../../port.ts";
import { STATUS_CODE, toStoredId } from "../../shared/attempt-codes.ts";
import { deliveryOf, MAX_DELIVERY_ATTEMPTS } from "../../shared/delivery.ts";
import type { Connection } from "../connection/connection.ts";
import { findPage, pageOf } from "./attempt-list.ts";
import { readAttempt } from "./attempt-rows.ts";
import { findEventPosition, standingOf } from "./delivery.ts";

export function listAttempts(c: Connection, { projectId, filter, page }: Params<"listAttempts">): AttemptRows<Attempt> {
	const found = findPage(c, projectId, filter, page);
	const rows: Attempt[] = [];
	let room = page.maxBytes;
	for (const { no } of found.rows.slice(0, page.limit)) {
		const row = readAttempt(c, no as number);
		room -= row.requestBody.length + row.responseBody.length;
		if (room < 0 && rows.length > 0) break;
		rows.push(row);
	}
	return pageOf(rows, found);
}

export function getAttempt(c: Connection, { projectId, attemptId }: Params<"getAttempt">): Attempt | null {
	const project = c.names.project(projectId);
	const types = c.names.allTypes();
	if (project === null || types.length === 0) return null;
	const found = c
		.sql(`
			SELECT no FROM attempts
			WHERE project_no = ? AND status IN (${Object.values(STATUS_CODE)}) AND type IN (${types}) AND id = ?`)
		.get(project, toStoredId(attemptId));
	return found === undefined ? null : readAttempt(c, found.no as number);
}

export function getDelivery(c: Connection, { projectId, webhookId, eventId }: Params<"getDelivery">): Delivery | null {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	const event = project === null ? null : findEventPosition(c, project, eventId);
	if (project === null || webhook === null || event === null) return null;
	const standing = standingOf(c, project, webhook, event);
	if (standing === null) return null;
	const attempts = c
		.sql(`
			SELECT no FROM attempts WHERE project_no = ? AND seq = ? AND webhook_no = ?
			ORDER BY replay DESC, attempt DESC LIMIT ${MAX_DELIVERY_ATTEMPTS}`)
		.all(project, event.seq, webhook)
		.map((row) => readAttempt(c, row.no as number))
		.reverse();
	return deliveryOf(standing, attempts);
}
