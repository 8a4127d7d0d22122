import type { Attack, Behaviour } from "./hostile.ts";

/** A hostile neighbour as it is set up, and what it does. */
export interface Neighbour {
	readonly name: string;
	/** Projects that it has; its webhooks are spread over them. */
	readonly projects: number;
	readonly webhooks: readonly {
		readonly count: number;
		readonly behaviour: Behaviour;
		readonly maxInFlight?: number;
	}[];
	readonly attack: Attack | ((webhookId: string) => Attack);
	/** Every event that was accepted from it must have reached its receivers in the end. */
	readonly complete?: boolean;
	/** Past events of its first webhook: how many, how long ago (milliseconds), and the status of each response. */
	readonly past?: { readonly events: number; readonly agoMs: number; readonly statusCode: number };
}

const DAY_MS = 86_400_000;
const KIB = 1_024;
const BASKET = '{"items":[{"name":"Crate key"}]}';
/** Nothing of its own but a webhook that is never sent to. */
const BYSTANDER = [{ count: 1, behaviour: "ok" }] as const;

export const NEIGHBOURS: readonly Neighbour[] = [
	{ name: "publishes the largest batches", projects: 1, webhooks: [], attack: { kind: "batches", of: "largest" } },
	{ name: "publishes the emptiest batches", projects: 1, webhooks: [], attack: { kind: "batches", of: "emptiest" } },
	{
		name: "receiver floods interim responses",
		projects: 1,
		webhooks: [{ count: 1, behaviour: "interim", maxInFlight: 32 }],
		attack: { kind: "events", perSecond: 50, bytes: 100 },
	},
	{
		name: "receiver drips response heads",
		projects: 1,
		webhooks: [{ count: 1, behaviour: "drip", maxInFlight: 32 }],
		attack: { kind: "events", perSecond: 50, bytes: 100 },
	},
	{
		name: "receivers never read",
		projects: 1,
		webhooks: [{ count: 100, behaviour: "unread", maxInFlight: 41 }],
		attack: { kind: "events", perSecond: 20, bytes: 250_000 },
	},
	{ name: "stalls uploads", projects: 1, webhooks: BYSTANDER, attack: { kind: "stalled uploads" } },
	{
		name: "reads responses slowly",
		projects: 1,
		webhooks: [],
		attack: { kind: "slow readers" },
	},
	{ name: "floods with unknown keys", projects: 1, webhooks: BYSTANDER, attack: { kind: "unknown keys" } },
	{
		name: "replays 100,000 deliveries",
		projects: 1,
		webhooks: [{ count: 1, behaviour: "ok", maxInFlight: 100 }],
		attack: (webhookId) => ({ kind: "replay", webhookId }),
		past: { events: 100_000, agoMs: DAY_MS, statusCode: 500 },
	},
	{
		name: "changes a webhook all the time",
		projects: 1,
		webhooks: BYSTANDER,
		attack: (webhookId) => ({
			kind: "calls",
			connections: 10,
			calls: [1, 2].map((most) => ({
				method: "PATCH",
				path: `/webhooks/${webhookId}`,
				body: `{"max_in_flight":${most}}`,
			})),
		}),
	},
	{
		name: "reports a basket all the time",
		projects: 1,
		webhooks: BYSTANDER,
		attack: {
			kind: "calls",
			connections: 10,
			calls: [{ method: "PUT", path: "/baskets/one", body: BASKET }],
		},
	},
	{
		name: "has 5,000 webhooks",
		projects: 1,
		webhooks: [{ count: 5_000, behaviour: "ok" }],
		attack: { kind: "events", perSecond: 1, bytes: KIB },
	},
	{
		name: "has 20,000 projects",
		projects: 20_000,
		webhooks: [{ count: 20_000, behaviour: "ok" }],
		attack: { kind: "events", perSecond: 2_000, bytes: 100 },
		complete: true,
	},
	{
		name: "leaves 200,000 events to retention",
		projects: 1,
		webhooks: BYSTANDER,
		attack: { kind: "none" },
		past: { events: 200_000, agoMs: 40 * DAY_MS, statusCode: 200 },
	},
	{
		name: "10 of 50 receivers hang",
		projects: 50,
		webhooks: [
			{ count: 10, behaviour: "hang" },
			{ count: 40, behaviour: "ok" },
		],
		attack: { kind: "events", perSecond: 200, bytes: KIB },
	},
];
