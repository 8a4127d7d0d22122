import type {
	AppendRequest,
	AppendResult,
	HandedOver,
	LogEvent,
	Recorded,
	Settlement,
} from "../../packages/server/src/storage/port.ts";
import type { News } from "../happenings.ts";

type Call = readonly [method: string, args: readonly unknown[], result: unknown];

/** Tells what a call of storage changed, in the order of the changes. Calls without changes are left out. */
export function observe(node: string, [method, args, result]: Call, tell: (news: News) => void): void {
	// biome-ignore lint/suspicious/noExplicitAny: the verbs' own types have checked these values.
	const p = args[0] as any;
	// biome-ignore lint/suspicious/noExplicitAny: likewise.
	const answer = result as any;
	switch (method) {
		case "createProject":
			tell({ kind: "project created", node, projectId: p.id, name: p.name });
			break;
		case "appendEvents":
			for (const [i, request] of (p.requests as readonly AppendRequest[]).entries())
				tellAppended(node, request.projectId, appendedEvents(request, answer[i]), tell);
			break;
		case "recordOrders":
			for (const one of answer as readonly Recorded[]) tellRecorded(node, p.projectId, one, tell);
			break;
		case "recordRefund":
		case "recordChargeback":
		case "recordDeliverable":
		case "recordSubscription":
		case "cancelSubscription":
			tellRecorded(node, p.projectId, answer, tell);
			break;
		case "abandonBaskets":
			tellAppended(node, p.projectId, answer, tell);
			break;
		case "createWebhook":
			if (answer === "created") {
				const { maxPerProject: _, ...webhook } = p;
				tell({ kind: "webhook created", node, webhook });
			}
			break;
		case "updateWebhook":
			if (answer)
				tell({ kind: "webhook updated", node, projectId: p.projectId, webhookId: p.webhookId, patch: p.patch });
			break;
		case "rotateSecret":
			if (answer)
				tell({
					kind: "secret rotated",
					node,
					projectId: p.projectId,
					webhookId: p.webhookId,
					sealedDigest: p.sealedDigest,
				});
			break;
		case "deleteWebhook":
			if (answer) tell({ kind: "webhook deleted", node, projectId: p.projectId, webhookId: p.webhookId });
			break;
		case "setDeveloperApp":
			if (answer) tell({ kind: "app changed", node, projectId: p.projectId, installed: p.installed });
			break;
		case "appendTestEvent":
			if (answer === "queued")
				tell({ kind: "test queued", node, projectId: p.projectId, webhookId: p.webhookId, event: p.event });
			break;
		case "replayDelivery":
			if (answer.kind === "queued") {
				const { projectId, webhookId, eventId, at } = p;
				tell({ kind: "replay begun", node, projectId, webhookId, eventId, replay: answer.replay, dueAt: at });
			}
			break;
		case "retryDeliveries":
			for (const [i, { webhookId, eventId }] of p.deliveries.entries())
				if (answer[i].kind === "queued")
					tell({
						kind: "retries made early",
						node,
						projectId: p.projectId,
						webhookId,
						seqs: null,
						eventId,
						dueAt: p.at,
					});
			break;
		case "retryWaiting":
			if (answer.seqs.length > 0) {
				const { projectId, webhookId, at } = p;
				tell({ kind: "retries made early", node, projectId, webhookId, seqs: answer.seqs, eventId: null, dueAt: at });
			}
			break;
		case "replayMatching":
		case "countMatching":
			tell({
				...{ kind: "replays begun", node, projectId: p.projectId, webhookId: p.selection.webhookIds?.[0] ?? null },
				...{ before: p.at, after: p.after ?? null, next: answer.next, count: answer.count },
				dryRun: method === "countMatching",
			});
			break;
		case "settle":
			for (const [i, one] of (p.settlements as readonly Settlement[]).entries()) {
				if (answer[i] === "settled") tell({ kind: "settled", node, settlement: { ...one }, handedOver: null });
				else if (answer[i] === "stale")
					tell({ kind: "settle refused", node, projectId: one.projectId, attempts: one.attempts });
			}
			break;
		case "settleHandedOver": {
			const { handedOver, settlement } = p as { handedOver: HandedOver; settlement: Settlement };
			const { projectId, attempts } = settlement;
			if (answer === "settled") tell({ kind: "settled", node, settlement: { ...settlement }, handedOver });
			else tell({ kind: "settle refused", node, projectId, attempts });
			break;
		}
		case "acquireLeases":
			for (const lease of answer) tell({ kind: "leased", node, lease });
			break;
		case "renewLeases":
			for (const lease of answer.renewed) tell({ kind: "renewed", node, lease });
			break;
		case "releaseLease":
			tell({ kind: "released", node, lease: p.lease, seen: p.seen, inFlight: p.inFlight ?? [] });
			break;
		case "forgetHandedOver":
			tell({ kind: "handed over forgotten", node, projectId: p.projectId });
			break;
		case "sweepAttempts":
			if (answer.deleted > 0)
				tell({ kind: "swept", node, cutoff: p.cutoff, what: "attempts", deleted: answer.deleted });
			break;
		case "sweepEvents":
			if (answer.deleted > 0) tell({ kind: "swept", node, cutoff: p.cutoff, what: "events", deleted: answer.deleted });
			break;
	}
}

function appendedEvents({ events, publishedAt }: AppendRequest, result: AppendResult): LogEvent[] {
	if (result.kind !== "appended") return [];
	return result.events.flatMap(({ seq, createdAt, repeated }, i) => {
		const { id, type, body } = events[i]!;
		return repeated ? [] : [{ seq, id, type, createdAt, publishedAt, body }];
	});
}

function tellRecorded(node: string, projectId: string, result: { kind: string }, tell: (news: News) => void): void {
	if (result.kind === "recorded")
		tellAppended(node, projectId, (result as Recorded & { kind: "recorded" }).appended, tell);
}

function tellAppended(node: string, projectId: string, events: readonly LogEvent[], tell: (news: News) => void): void {
	if (events.length > 0) tell({ kind: "appended", node, projectId, events });
}
