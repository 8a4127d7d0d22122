import type { Attack, Behaviour, HostileCall, TlsAttack } from "./hostile.ts";

/** A hostile neighbor's setup, and what it does. */
export interface Neighbour {
	readonly name: string;
	/** The number of its projects, over which its webhooks are spread. */
	readonly projects: number;
	readonly webhooks: readonly {
		readonly count: number;
		readonly behaviour: Behaviour;
		readonly maxInFlight?: number;
	}[];
	/** How its receiver floods the service below HTTP. Each webhook has a host of its own then. */
	readonly tls?: TlsAttack;
	readonly attack: Attack | ((webhookId: string) => Attack);
	/** Whether every event accepted from it must have reached its receivers in the end. */
	readonly complete?: boolean;
	/** Past events of its first webhook: how many, how long ago (milliseconds), and the status of each response. */
	readonly past?: { readonly events: number; readonly agoMs: number; readonly statusCode: number };
}

const DAY_MS = 86_400_000;
const KIB = 1_024;
const BASKET = '{"items":[{"name":"Crate key"}]}';
/** Nothing except a webhook that gets no events. */
const BYSTANDER = [{ count: 1, behaviour: "ok" }] as const;

/** What needs no key. */
const PAGES = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/", "/v1/setup", "/v1/session"];
const SIGN_IN: HostileCall = {
	method: "POST",
	path: "/v1/session",
	body: '{"email":"someone@example.com","password":"a wrong password"}',
};

const open = (connections: number, ...calls: HostileCall[]): Attack & { kind: "calls" } => ({
	kind: "calls",
	connections,
	calls: calls.map((call) => ({ ...call, open: true })),
});

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
		name: "receivers show certificate chains",
		projects: 1,
		webhooks: [{ count: 100, behaviour: "ok", maxInFlight: 32 }],
		tls: "certificate chains",
		attack: { kind: "events", perSecond: 20, bytes: 100 },
	},
	{
		name: "receivers flood key updates",
		projects: 1,
		webhooks: [{ count: 100, behaviour: "ok", maxInFlight: 32 }],
		tls: "key updates",
		attack: { kind: "events", perSecond: 20, bytes: 100 },
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
		name: "scrapes metrics all the time",
		projects: 1,
		webhooks: [],
		attack: open(50, { method: "GET", path: "/metrics" }),
	},
	{
		name: "fetches public pages all the time",
		projects: 1,
		webhooks: [],
		attack: open(50, ...PAGES.map((path) => ({ method: "GET", path }) as const)),
	},
	{
		name: "sends huge headers to public pages",
		projects: 1,
		webhooks: [],
		attack: open(
			50,
			...PAGES.flatMap((path) => [
				{ method: "GET" as const, path, headers: { cookie: "a=b;".repeat(3_000) } },
				{ method: "GET" as const, path: `${path}?${"a=b&".repeat(3_000)}` },
				{ method: "GET" as const, path, headers: { "x-pad": "x".repeat(15_000) } },
			]),
		),
	},
	{
		name: "guesses passwords",
		projects: 1,
		webhooks: [],
		attack: open(50, SIGN_IN),
	},
	{
		name: "guesses passwords from many addresses",
		projects: 1,
		webhooks: [],
		attack: { ...open(1_000, SIGN_IN), manyAddresses: true },
	},
	{
		name: "asks for a webhook on 1,000 connections",
		projects: 1,
		webhooks: BYSTANDER,
		attack: (webhookId) => ({
			kind: "calls",
			connections: 1_000,
			calls: [{ method: "GET", path: `/webhooks/${webhookId}` }],
		}),
	},
	{
		name: "publishes deeply nested events",
		projects: 1,
		webhooks: [],
		attack: {
			kind: "calls",
			connections: 10,
			calls: [63, 100_000].map((levels) => ({
				method: "POST",
				path: "/events",
				body: `{"type":"delivery.success","data":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`,
			})),
		},
	},
	{
		name: "holds streams of changes",
		projects: 1,
		webhooks: BYSTANDER,
		attack: { kind: "held", connections: 500, path: "/changes" },
	},
	{
		name: "holds calls that wait for events",
		projects: 1,
		webhooks: BYSTANDER,
		attack: { kind: "held", connections: 500, path: "/events?wait=30" },
	},
	{
		name: "searches a long log all the time",
		projects: 1,
		webhooks: BYSTANDER,
		past: { events: 500_000, agoMs: DAY_MS, statusCode: 500 },
		attack: {
			kind: "calls",
			connections: 20,
			calls: [
				"/attempts/count",
				"/attempts/count?status_code=200",
				"/attempts?limit=200",
				"/attempts/summaries?limit=200&status_code=404",
				"/stats",
				"/webhooks/health",
				"/waiting",
				"/events?limit=200",
			].map((path) => ({ method: "GET", path })),
		},
	},
	{
		name: "has 5,000 webhooks that hang",
		projects: 1,
		webhooks: [{ count: 5_000, behaviour: "hang" }],
		attack: { kind: "events", perSecond: 1, bytes: KIB },
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
