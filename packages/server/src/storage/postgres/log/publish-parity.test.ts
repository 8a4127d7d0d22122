/** The same events through both doors: a call of the API, and `posthorn.publish`. */
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { ENCODINGS, publish, refusal, SharedDatabase } from "../../../../test/storage/postgres/publish.ts";
import { parseBody } from "../../../api/http/json-body.ts";
import { Problem } from "../../../api/http/problem.ts";
import { readNewEvents } from "../../../api/routes/publishing/publish.ts";
import { REQUESTS } from "../../../base/budgets.ts";
import { systemClock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/logger.ts";
import { Publisher } from "../../../engine/publish/publisher.ts";
import { References } from "../../../search/references.ts";

const MAX_BYTES = REQUESTS.eventBytes;
const LIST = { member: "events", items: 1, itemBytes: MAX_BYTES + REQUESTS.envelopeBytes };

interface Given {
	readonly type?: string;
	/** JSON text. */
	readonly data?: string;
	readonly id?: string;
	readonly createdAt?: string;
}

const purchase = (change: Readonly<Record<string, string>> = {}) => {
	const members = {
		order_id: '"ord_1042"',
		customer_email: '"Ada@example.com"',
		amount_cents: "1999",
		currency: '"EUR"',
		items: "[]",
		...change,
	};
	const data = `{${Object.entries(members).map(([name, value]) => `"${name}":${value}`)}}`;
	return { type: "purchase.completed", data } satisfies Given;
};
const quantity = (text: string) => purchase({ items: `[{"quantity":${text}}]` });
const nested = (levels: number) => ({ data: `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}` });
const lists = (levels: number) => ({ data: `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}` });
const sized = (bytes: number) => ({ data: `{"é":"${"x".repeat(bytes - 9)}"}` });
const minutesAhead = (minutes: number) => ({ createdAt: new Date(Date.now() + minutes * 60_000).toISOString() });
const email = (text: string) => purchase({ customer_email: JSON.stringify(text) });

const ACCEPTED: Readonly<Record<string, Given>> = {
	"a purchase": purchase(),
	"a refund": { type: "purchase.refunded", data: '{"order_id":"ord_1042","partial":false}' },
	"a type without rules": { data: '{"order_id":1042,"customer_email":null}' },
	"spaces around the data": { data: ' \r\n\t{ "a" : 1 }\n' },
	"repeated names without a rule": purchase({ note: "1", "\\u006eote": "2" }),
	"escapes that PostgreSQL's text can't hold": purchase({ order_id: '"\\u0000\\ud800"' }),
	"escapes beyond ASCII": purchase({ items: '[{"name":"Caf\\u00e9 \\ud83c\\udfba"}]', "\\u00e9": "1" }),
	"an address beyond ASCII": email("à@exämple.com"),
	"large and small numbers": { data: '{"a":1e400,"b":1e-400,"c":9007199254740993,"d":1.10}' },
	"a quantity between two integers": quantity("0.5"),
	"a quantity with a long exponent": quantity("1e00000000000400"),
	"the longest id": { id: `evt_${"a".repeat(60)}` },
	"the longest address": email(`${"a".repeat(309)}@example.co`),
	"an address of wide characters": email(`${"🎺".repeat(309)}@example.co`),
	"data as large as allowed": sized(MAX_BYTES),
	"objects nested as deep as allowed": nested(63),
	"lists nested as deep as allowed": lists(63),
	"brackets in texts": { data: `{"a":"\\"${"[{".repeat(100)}","b\\\\":["}]"]}` },
	"many objects side by side": { data: `{"a":[${"[{}],".repeat(500)}{}]}` },
	"a time with an offset": { createdAt: "2026-02-28T23:30:00.001+05:45" },
	"a time with microseconds": { createdAt: "2026-02-28T23:30:00.001999Z" },
	"a time long ago": { createdAt: "0001-01-01T00:00:00Z" },
	"a time four minutes ahead": minutesAhead(4),
};

const REFUSED: Readonly<Record<string, Given>> = {
	"a type in capitals": { type: "Customer.Created" },
	"a type with a space": { type: "customer.created " },
	"no type": { type: "" },
	"a list": { data: "[{}]" },
	"a text": { data: '"{}"' },
	null: { data: "null" },
	"no JSON": { data: "{a:1}" },
	"a control character": { data: '{"a":"\u0001"}' },
	"a byte order mark": { data: "\ufeff{}" },
	"a number with a leading zero": { data: '{"a":01}' },
	"another kind of space": { data: '{\u00a0"a":1}' },
	"half of an escape": { data: '{"a":"\\u12"}' },
	"an id without its prefix": { id: "ord_1042" },
	"only the id's prefix": { id: "evt_" },
	"an id that is too long": { id: `evt_${"a".repeat(61)}` },
	"an id with a line break": { id: "evt_1\n" },
	"an id beyond ASCII": { id: "evt_é" },
	"no order": { type: "purchase.refunded", data: '{"partial":true}' },
	"null for an optional field": {
		type: "purchase.refunded",
		data: '{"order_id":"o","partial":true,"refund_id":null}',
	},
	"an empty order id": purchase({ order_id: '""' }),
	"an amount with a fraction": purchase({ amount_cents: "1999.0" }),
	"an amount with an exponent": purchase({ amount_cents: "2e3" }),
	"a negative amount": purchase({ amount_cents: "-1" }),
	"an amount beyond 2^53": purchase({ amount_cents: "9007199254740992" }),
	"an amount as text": purchase({ amount_cents: '"1999"' }),
	"a field twice": purchase({ "\\u006frder_id": '"ord_1042"' }),
	"a currency in small letters": purchase({ currency: '"eur"' }),
	"an unknown currency": purchase({ currency: '"XXX"' }),
	"an address without @": email("ada"),
	"an address with a space": email("a da@example.com"),
	"an address with a wide space": email("a\u3000da@example.com"),
	"an address with an escaped space": purchase({ customer_email: '"a\\u00A0da@example.com"' }),
	"an address that is too long": email(`${"a".repeat(310)}@example.co`),
	"items that aren't a list": purchase({ items: "{}" }),
	"an item that isn't an object": purchase({ items: "[{},1]" }),
	"a field of an item twice": purchase({ items: '[{"name":"a","name":"a"}]' }),
	"no quantity": quantity("0"),
	"a negative quantity": quantity("-1e400"),
	"a quantity too small for a number": quantity("1e-400"),
	"a quantity too small for a number, with a long exponent": quantity("1e-00000000000400"),
	"data that is too large": sized(MAX_BYTES + 1),
	"objects nested too deep": nested(64),
	"lists nested too deep": lists(64),
	"data nested far too deep": nested(900),
	"a time without a zone's meaning": { createdAt: "2026-02-28T25:00:00Z" },
	"a day that doesn't exist": { createdAt: "2026-02-30T00:00:00Z" },
	"a time six minutes ahead": minutesAhead(6),
};

describe.each(ENCODINGS)("in a database with %s, both doors", (encoding) => {
	let server: PostgresServer;
	let database: SharedDatabase;
	let client: Client;
	let publisher: Publisher;
	/** What was published by the API, and by SQL. */
	let [api, sql]: string[] = [];

	beforeAll(async () => {
		server = await PostgresServer.start();
		database = await SharedDatabase.open(server, encoding);
		const { storage, ids } = database;
		client = await database.connect();
		[api, sql] = [await database.project(), await database.project()];
		const lanes = { appended: () => undefined, recheck: () => undefined };
		publisher = new Publisher({
			storage,
			clock: systemClock,
			disk: systemClock,
			ids,
			maxEventBytes: MAX_BYTES,
			lanes,
		});
	});
	afterAll(async () => {
		await database.close();
		await server.stop();
	});

	const TYPE = "delivery.success";

	async function isAcceptedByApi({ type = TYPE, data = "{}", id, createdAt }: Given): Promise<boolean> {
		const others = { type, ...(id !== undefined && { id }), ...(createdAt !== undefined && { created_at: createdAt }) };
		const body = `${JSON.stringify(others).slice(0, -1)},"data":${data}}`;
		try {
			const { value, text } = parseBody(Buffer.from(body), LIST);
			return (await publisher.publish(api!, readNewEvents(value, text).drafts)).kind === "published";
		} catch (error) {
			expect(error).toBeInstanceOf(Problem);
			return false;
		}
	}

	const bySql = ({ type = TYPE, data = "{}", ...others }: Given) =>
		publish(client, { project: sql!, type, data, ...others });

	const bodyIn = async (project: string, eventId: string) => {
		const event = await database.storage.findEvent({ projectId: project, eventId });
		return Buffer.from(event!.body).toString().replace(project, "proj");
	};

	test.each(Object.entries(ACCEPTED))("accept %s, with the same bytes", async (_, given) => {
		const [id, createdAt] = [database.ids.next("event"), new Date().toISOString()];
		const event = { id, createdAt, ...given };
		expect(await isAcceptedByApi(event)).toBe(true);
		expect(await bySql(event)).toBe(event.id);
		expect(await bodyIn(sql!, event.id)).toBe(await bodyIn(api!, event.id));
	});

	test.each(Object.entries(REFUSED))("refuse %s", async (_, given) => {
		expect(await isAcceptedByApi(given)).toBe(false);
		await refusal(bySql(given));
	});

	test("searches find the events of both by order and customer", async () => {
		const { storage } = database;
		const references = new References({ storage, clock: systemClock, logger: silentLogger });
		const sought = [
			{ orderIds: ["ord_1042"], customerEmails: [] },
			{ orderIds: ["1042"], customerEmails: [] },
			{ orderIds: [], customerEmails: ["ada@example.com"] },
		];
		for (const one of sought) {
			const [found, alike] = [await references.find(api!, one), await references.find(sql!, one)];
			expect(found.seqs.length).toBeGreaterThan(0);
			expect(alike).toEqual(found);
		}
	});
});
