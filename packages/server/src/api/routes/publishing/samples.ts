import { EVENT_TYPES, type EventType, type EventTypeEntry, isEventType } from "@posthorn/protocol";
import { pagesOf } from "../../../base/collections.ts";
import type { Fault } from "../../../base/text.ts";
import { dataFaults } from "../../../engine/publish/check.ts";
import type { Webhook } from "../../../storage/port.ts";
import { invalid, MAX_FAULTS, Problem } from "../../http/problem.ts";
import { escapePointer, isObject } from "../../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { closed, count, Type } from "../../schema.ts";
import { dataSchema, titleOf } from "./event-types.ts";
import { PublishedEvent, presentPublished, refused } from "./events.ts";

const route = routeIn("Events");

/** What the ids of sample events begin with, so that receivers and the log can tell them from others. */
const SAMPLE_PREFIX = "evt_sample_";

const Webhooks = count(
	"How many webhooks are subscribed to the type, paused ones included. If the number is wrong, nothing is published, which prevents accidents.",
);

const sampleOf = (entry: EventTypeEntry) =>
	Type.Object(
		{ type: Type.Unknown({ type: "string", const: entry.type }), data: dataSchema(entry), webhooks: Webhooks },
		{
			...closed,
			title: `Sample${titleOf(entry.type)}`,
			examples: [{ type: entry.type, data: entry.sample, webhooks: 1 }],
		},
	);

const SampleRequest = Type.Unknown({
	title: "SampleRequest",
	oneOf: EVENT_TYPES.map(sampleOf),
	discriminator: {
		propertyName: "type",
		mapping: Object.fromEntries(EVENT_TYPES.map(({ type }) => [type, `#/components/schemas/Sample${titleOf(type)}`])),
	},
	examples: [{ type: "delivery.success", data: { order_id: "ord_10482" }, webhooks: 1 }],
});

interface Sample {
	readonly type: EventType;
	readonly data: string;
	readonly webhooks: number;
}

const FIELDS: ReadonlySet<string> = new Set(["type", "data", "webhooks"]);

/** @throws Problem 422 with all faults */
function readSample(body: unknown): Sample {
	if (!isObject(body)) throw invalid([{ pointer: "", detail: "must be an object" }]);
	const { type, data, webhooks } = body;
	const faults: Fault[] = Object.keys(body)
		.filter((name) => !FIELDS.has(name))
		.slice(0, MAX_FAULTS)
		.map((name) => ({ pointer: `/${escapePointer(name)}`, detail: "is not a known field" }));
	if (typeof type !== "string" || !isEventType(type))
		throw invalid([...faults, { pointer: "/type", detail: "must be an event type; GET /v1/event-types lists them" }]);
	if (!isObject(data)) throw invalid([...faults, { pointer: "/data", detail: "must be an object" }]);
	if (!Number.isSafeInteger(webhooks) || (webhooks as number) < 0)
		faults.push({ pointer: "/webhooks", detail: "must be a whole number from 0" });
	const text = JSON.stringify(data);
	faults.push(...dataFaults(type, text));
	if (faults.length > 0) throw invalid(faults);
	return { type, data: text, webhooks: webhooks as number };
}

/** Sample events that people publish to try out a whole project. */
export function sampleRoutes({ storage, engine, ids }: ApiParts): Route[] {
	async function subscribersOf(projectId: string, type: string): Promise<Webhook[]> {
		const found: Webhook[] = [];
		for await (const webhook of pagesOf((page) => storage.listWebhooks({ projectId, ...page })))
			if (webhook.events.includes(type)) found.push(webhook);
		return found;
	}

	return [
		route("POST", "/v1/projects/{project_id}/samples", "publishSample", {
			summary: "Publish a sample event",
			description:
				"Publishes an event whose id begins with `evt_sample_`, by which receivers and the log can recognize it. Otherwise it's an event like any other: it goes to every subscribed webhook, in order and with retries, and counts in statistics. Its data must match its type's schema, even for types whose schema isn't enforced when publishing. To try out a single webhook, send it a test event instead.",
			access: "project",
			rate: "testEvents",
			scope: "publish",
			body: SampleRequest,
			checksOwnBody: true,
			success: { status: 202, description: "The event is published.", schema: PublishedEvent },
			problems: { conflict: "The type has more or fewer subscribed webhooks than `webhooks` says." },
			async handler({ params: { projectId }, body, audit }) {
				const { type, data, webhooks } = readSample(body);
				const subscribers = await subscribersOf(projectId, type);
				if (subscribers.length !== webhooks)
					throw new Problem(
						"conflict",
						`${type} has ${subscribers.length} subscribed webhooks, not ${webhooks}. Nothing was published.`,
					);
				const id = `${SAMPLE_PREFIX}${ids.next("event").slice("evt_".length)}`;
				const result = await engine.publish(projectId, [{ id, type, data }]);
				if (result.kind !== "published") throw refused(result, false);
				const target = { kind: "event", id, name: id };
				audit({ projectId, action: "sample.published", target, detail: { type, webhooks } });
				return presentPublished(projectId, result.events[0]!);
			},
		}),
	];
}
