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

/** What a call of a storage's verb changed, told in the order in which it did. Calls that change nothing tell nothing. */
export function observe(node: string, [method, args, result]: Call, tell: (news: News) => void): void {
	// biome-ignore lint/suspicious/noExplicitAny: the verbs' own types have checked what comes through here.
	const [a, b, c, d, e] = args as any[];
	// biome-ignore lint/suspicious/noExplicitAny: likewise.
	const answer = result as any;
	switch (method) {
		case "createProject":
			tell({ kind: "project created", node, projectId: a.id, name: a.name });
			break;
		case "appendEvents":
			for (const [i, request] of (a as readonly AppendRequest[]).entries())
				tellAppended(node, request.projectId, appendedEvents(request, answer[i]), tell);
			break;
		case "recordOrders":
			for (const one of answer as readonly Recorded[]) tellRecorded(node, a, one, tell);
			break;
		case "recordRefund":
		case "recordChargeback":
		case "recordDeliverable":
		case "recordSubscription":
		case "cancelSubscription":
			tellRecorded(node, a, answer, tell);
			break;
		case "abandonBaskets":
			tellAppended(node, a, answer, tell);
			break;
		case "createWebhook":
			if (answer === "created") tell({ kind: "webhook created", node, webhook: a });
			break;
		case "updateWebhook":
			if (answer) tell({ kind: "webhook updated", node, projectId: a, webhookId: b, patch: c });
			break;
		case "rotateSecret":
			if (answer) tell({ kind: "secret rotated", node, projectId: a, webhookId: b, sealedDigest: c });
			break;
		case "deleteWebhook":
			if (answer) tell({ kind: "webhook deleted", node, projectId: a, webhookId: b });
			break;
		case "setDeveloperApp":
			if (answer) tell({ kind: "app changed", node, projectId: a, installed: b });
			break;
		case "appendTestEvent":
			if (answer === "queued") tell({ kind: "test queued", node, projectId: a, webhookId: b, event: c });
			break;
		case "replayDelivery":
			if (answer.kind === "queued")
				tell({ kind: "replay begun", node, projectId: a, webhookId: b, eventId: c, replay: answer.replay, dueAt: d });
			break;
		case "replayMatching":
			tell({
				...{ kind: "replays begun", node, projectId: a, webhookId: b.webhookId ?? null, before: c },
				...{ after: e.after ?? null, next: answer.next, count: answer.count, dryRun: e.dryRun },
			});
			break;
		case "settle":
			for (const [i, one] of (a as readonly Settlement[]).entries()) {
				if (answer[i] === "settled") tell({ kind: "settled", node, settlement: { ...one }, handedOver: null });
				else if (answer[i] === "stale")
					tell({ kind: "settle refused", node, projectId: one.projectId, attempts: one.attempts });
			}
			break;
		case "settleHandedOver": {
			const [handedOver, settlement] = [a as HandedOver, b as Settlement];
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
			tell({ kind: "released", node, lease: a, seen: c, inFlight: d ?? [] });
			break;
		case "forgetHandedOver":
			tell({ kind: "handed over forgotten", node, projectId: a });
			break;
		case "sweepAttempts":
			if (answer.deleted > 0) tell({ kind: "swept", node, cutoff: a, what: "attempts", deleted: answer.deleted });
			break;
		case "sweepEvents":
			if (answer.deleted > 0) tell({ kind: "swept", node, cutoff: a, what: "events", deleted: answer.deleted });
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
