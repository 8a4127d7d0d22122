import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { PostgresServer } from "@posthorn/testkit/postgres";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { Facts } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { median, sideBySide } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import { writeDueBaskets, writePast } from "./facts-past.ts";

const MANY = 1_000_000;
const FEW = 1_000;
const TURNS = { requests: 300, warmUp: 100 };
/** Baskets that are due when the service starts, per round. */
const DUE = 2_000;
const ROUNDS = 3;
/** Time limit for reading the log's events, seconds. */
const WAIT_S = 30;

/** A service with one project that has many customers, each with an order and a basket due tomorrow. */
interface Side {
	readonly count: number;
	readonly url: string;
	readonly settings: Readonly<Record<string, string>>;
	readonly projectId: string;
	service: Service;
	/** How far its log was read, as a query parameter. */
	place: string;
}

/** The cost of touching a basket, a customer's first order and abandoning a basket, with a million of each and with a thousand. */
export async function measureFacts(
	workspace: Workspace,
	options: ServiceOptions,
	engines: readonly Engine[],
	progress: Progress,
): Promise<Facts> {
	const costs: Facts["costs"] = [];
	for (const engine of engines) {
		const postgres = engine === "postgres" ? await PostgresServer.start({ fsync: true }) : null;
		const sides: Side[] = [];
		try {
			for (const count of [FEW, MANY]) sides.push(await setSide(workspace, options, postgres, count, progress));
			const [few, many] = sides as [Side, Side];
			const cost = (what: Facts["costs"][number]["what"], ms: number, few_ms: number): void => {
				costs.push({ engine, what, ms: round(ms), few_ms: round(few_ms), ratio: round(ms / few_ms) });
				progress.finish(`${round(ms)} ms, ${round(few_ms)} ms with a thousand`);
			};
			progress.start(`${engine}: touching baskets`);
			cost(
				"touch a basket",
				...(await sideBySide(
					TURNS,
					(n) => touch(many, n),
					(n) => touch(few, n),
				)),
			);
			progress.start(`${engine}: first orders`);
			cost(
				"a customer's first order",
				...(await sideBySide(
					TURNS,
					(n) => order(many, n),
					(n) => order(few, n),
				)),
			);
			progress.start(`${engine}: abandoning baskets`);
			const fired: [number[], number[]] = [[], []];
			for (let n = 0; n < ROUNDS; n++) {
				fired[0].push(await abandon(workspace, options, many));
				fired[1].push(await abandon(workspace, options, few));
			}
			cost("abandon a basket", median(fired[0]), median(fired[1]));
		} finally {
			for (const { service } of sides) await service.stop();
			await postgres?.stop();
		}
	}
	return { many: MANY, few: FEW, costs };
}

async function setSide(
	workspace: Workspace,
	options: ServiceOptions,
	postgres: PostgresServer | null,
	count: number,
	progress: Progress,
): Promise<Side> {
	progress.start(`${count.toLocaleString("en")} baskets and customers`);
	const url = (await postgres?.createDatabase()) ?? `sqlite:${join(workspace.makeFolder("facts"), "posthorn.db")}`;
	const settings = { POSTHORN_DATABASE_URL: url, POSTHORN_SEAL_KEY: randomBytes(32).toString("base64") };
	const first = await Service.start(workspace, { ...options, settings });
	const projectId = await first.api.createProject("bench");
	await first.stop();
	await writePast(url, projectId, count);
	progress.finish("there");
	return {
		count,
		url,
		settings,
		projectId,
		service: await Service.start(workspace, { ...options, settings }),
		place: "after=0",
	};
}

const ITEMS = [{ product_id: "vip", name: "VIP rank", quantity: 1, unit_amount_cents: 1_000 }];

function touch(side: Side, n: number): Promise<unknown> {
	const basket = (n * 7_919) % side.count;
	return call(side, "PUT", `/baskets/basket_${basket}`, { customer_email: `c${basket}@example.com`, items: ITEMS });
}

function order(side: Side, n: number): Promise<unknown> {
	const customer_email = `new${n}@example.com`;
	const amounts = { amount_cents: 1_000, currency: "EUR", items: ITEMS };
	return call(side, "POST", "/orders", { order_id: `new_${n}`, customer_email, ...amounts });
}

/** Starts the service with due baskets. @returns milliseconds per basket, from the first to the last */
async function abandon(workspace: Workspace, options: ServiceOptions, side: Side): Promise<number> {
	await side.service.stop();
	await writeDueBaskets(side.url, side.projectId, DUE);
	side.service = await Service.start(workspace, { ...options, settings: side.settings });
	const times: number[] = [];
	while (times.length < DUE) {
		const page = await call(side, "GET", `/events?type=basket.abandoned&limit=200&wait=${WAIT_S}&${side.place}`);
		if (page.data.length === 0)
			throw side.service.failure(`Only ${times.length} of ${DUE} due baskets were abandoned.`);
		times.push(...page.data.map(({ created_at }) => Date.parse(created_at)));
		side.place = page.next_cursor === null ? `after=${page.last_seq}` : `cursor=${page.next_cursor}`;
	}
	return (Math.max(...times) - Math.min(...times)) / (DUE - 1);
}

interface Page {
	readonly data: readonly { readonly created_at: string }[];
	readonly last_seq: number;
	readonly next_cursor: string | null;
}

async function call({ service, projectId }: Side, method: string, path: string, body?: object): Promise<Page> {
	const answer = await fetch(`${service.api.origin}/v1/projects/${projectId}${path}`, {
		method,
		headers: { authorization: `Bearer ${service.api.key}`, "content-type": "application/json" },
		...(body && { body: JSON.stringify(body) }),
	});
	if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
	return (await answer.json()) as Page;
}

const round = (value: number) => Number(value.toFixed(3));
