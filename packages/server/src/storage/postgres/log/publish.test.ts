import { EVENT_TYPES, encodeEnvelope } from "@posthorn/protocol";
import fc from "fast-check";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import {
	type Args,
	clock,
	objectText,
	publish,
	refusal,
	SharedDatabase,
} from "../../../../test/storage/postgres/publish.ts";
import { readNewEvents } from "../../../api/routes/publishing/publish.ts";
import { systemClock } from "../../../base/clock.ts";
import { isId } from "../../../base/ids.ts";
import { MAX_AHEAD_MS } from "../../../engine/publish/check.ts";
import { Publisher } from "../../../engine/publish/publisher.ts";
import { openPostgresStorage } from "../index.ts";

const MAX_EVENT_BYTES = 262_144;
const TYPE = "customer.created";
const A_MINUTE_MS = 60_000;

describe("publishing from SQL", () => {
	let server: PostgresServer;
	let database: SharedDatabase;
	let client: Client;
	let project: string;
	let publisher: Publisher;

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		database = await SharedDatabase.open(server);
		const { storage, ids } = database;
		client = await database.connect();
		project = await database.project();
		publisher = new Publisher({
			storage,
			clock: systemClock,
			disk: systemClock,
			ids,
			maxEventBytes: MAX_EVENT_BYTES,
			lanes: { appended: () => undefined, recheck: () => undefined },
		});
	});
	afterEach(() => database.close());

	const bytesOf = async (id: string) =>
		Buffer.from((await database.storage.findEvent({ projectId: project, eventId: id }))!.body).toString();

	test("the bytes are those that the API would send, and each recognizes the other's events", async () => {
		const time = fc.option(
			fc.date({
				min: new Date("0001-01-01T00:00:00Z"),
				max: new Date(),
				noInvalidDate: true,
			}),
		);
		const type = fc.constantFrom(TYPE, "delivery.success");
		const each = fc.asyncProperty(type, objectText, time, fc.boolean(), async (type, source, at, sqlFirst) => {
			const id = database.ids.next("event");
			const createdAt = at?.toISOString();
			const text = `${JSON.stringify({ type, id, created_at: createdAt }).slice(0, -1)}, "data" : ${source} }`;
			const { drafts } = readNewEvents(JSON.parse(text), text);
			const bySql = () => publish(client, { project, type, id, data: ` ${source}\n`, ...(createdAt && { createdAt }) });
			const byApi = () => publisher.publish(project, drafts);
			if (sqlFirst) expect(await bySql()).toBe(id);
			const answer = await byApi();
			if (!sqlFirst) expect(await bySql()).toBe(id);
			const stored = (await database.storage.findEvent({ projectId: project, eventId: id }))!;
			expect(answer).toMatchObject({
				kind: "published",
				events: [{ id, seq: stored.seq, createdAt: stored.createdAt }],
			});
			const envelope = { id, type, createdAt: stored.createdAt, projectId: project, data: source };
			expect(await bytesOf(id)).toBe(encodeEnvelope(envelope).toString());
			if (at) expect(stored.createdAt).toBe(at.getTime());
		});
		await fc.assert(each, { numRuns: 200 });
	});

	test("every type of the catalogue is accepted, and no other", async () => {
		for (const { type, sample } of EVENT_TYPES) await publish(client, { project, type, data: JSON.stringify(sample) });
		const log = await database.log(project);
		expect(log.map(({ type }) => type)).toEqual(EVENT_TYPES.map(({ type }) => type));
		const { hint } = await refusal(publish(client, { project, type: "customer.gone", data: "{}" }));
		expect(hint).toBe(`Event types are: ${EVENT_TYPES.map(({ type }) => type).join(", ")}.`);
	});

	test("new ids are UUIDv7 in base32 with the current time, and increase", async () => {
		const before = Date.now();
		const ids: string[] = [];
		for (let i = 0; i < 50; i++) ids.push(await publish(client, { project, type: TYPE, data: "{}" }));
		const after = Date.now();
		for (const id of ids) {
			expect(isId("event", id)).toBe(true);
			const digits = [...id.slice(4)].map((digit) => "0123456789abcdefghjkmnpqrstvwxyz".indexOf(digit));
			const bits = digits.map((digit) => digit.toString(2).padStart(5, "0")).join("");
			expect([bits.slice(0, 2), bits.slice(50, 54), bits.slice(66, 68)]).toEqual(["00", "0111", "10"]);
			const ms = Number.parseInt(bits.slice(2, 50), 2);
			expect(ms).toBeGreaterThanOrEqual(before - 1_000);
			expect(ms).toBeLessThanOrEqual(after + 1_000);
		}
		expect(ids).toEqual(ids.toSorted());
		expect((await database.log(project)).map(({ id }) => id)).toEqual(ids);
	});

	test("a repeated id returns the same, even within a transaction; with other content it is refused", async () => {
		const event = { project, type: TYPE, data: '{"n":1}', id: "evt_order-1" };
		await client.query("BEGIN");
		for (let i = 0; i < 2; i++) expect(await publish(client, event)).toBe(event.id);
		await client.query("COMMIT");
		expect(await publish(client, event)).toBe(event.id);
		const at = "2026-11-21T03:47:36.123Z";
		const { createdAt } = (await database.log(project))[0]!;
		expect(await publish(client, { ...event, createdAt: new Date(createdAt).toISOString() })).toBe(event.id);
		const others: Args[] = [
			{ ...event, data: '{"n": 1}' },
			{ ...event, type: "basket.abandoned" },
			{ ...event, createdAt: at },
		];
		for (const other of others) {
			const { code, message } = await refusal(publish(client, other));
			expect([code, message]).toEqual(["23505", "event evt_order-1 was published before with other content"]);
			await client.query("BEGIN");
			const fresh = { ...other, id: "evt_fresh" };
			await publish(client, { ...event, id: fresh.id });
			expect((await refusal(publish(client, fresh))).code).toBe("23505");
			await client.query("ROLLBACK");
		}
		expect(await database.log(project)).toHaveLength(1);
		expect(await publish(client, { ...event, project: await database.project() })).toBe(event.id);
	});

	test("if two transactions use one id, the first commit wins: the other matches it or fails to commit", async () => {
		const second = await database.connect();
		for (const [data, refused] of [
			['{"n":1}', false],
			['{"n":2}', true],
		] as const) {
			const event = { project, type: TYPE, id: database.ids.next("event") };
			await Promise.all([client.query("BEGIN"), second.query("BEGIN")]);
			await publish(client, { ...event, data: '{"n":1}' });
			await publish(second, { ...event, data });
			await publish(second, { project, type: TYPE, data: `{"beside":${refused}}` });
			await client.query("COMMIT");
			if (refused) expect((await refusal(second.query("COMMIT"))).code).toBe("23505");
			else await second.query("COMMIT");
		}
		const log = await database.log(project);
		expect(log.map(({ seq, body }) => [seq, JSON.parse(Buffer.from(body).toString()).data])).toEqual([
			[1, { n: 1 }],
			[2, { beside: false }],
			[3, { n: 1 }],
		]);
	});

	// It failed with 42P22, "could not determine which collation to use".
	test("ids and types may come from columns with a collation", async () => {
		await client.query(`
			CREATE TABLE public.orders (id text COLLATE "POSIX", project text COLLATE "POSIX", type text COLLATE "POSIX");
			INSERT INTO public.orders VALUES ('1042', '${project}', 'purchase.refunded')`);
		const published = "SELECT posthorn.publish(project, type, $1, id => 'evt_' || id) AS id FROM public.orders";
		const data = '{"order_id":"1042","partial":true}';
		await client.query("BEGIN");
		for (let i = 0; i < 2; i++) expect((await client.query(published, [data])).rows).toEqual([{ id: "evt_1042" }]);
		await client.query("COMMIT");
		expect((await client.query(published, [data])).rows).toEqual([{ id: "evt_1042" }]);
		expect((await refusal(client.query(published, ["{}"]))).code).toBe("22023");
		expect((await database.log(project)).map(({ id, type }) => [id, type])).toEqual([
			["evt_1042", "purchase.refunded"],
		]);
	});

	test("invalid events are refused with a code and a reason, and nothing is published", async () => {
		const valid = { project, type: TYPE, data: "{}" };
		const purchase = { project, type: "purchase.completed", data: '{"order_id":"o","customer_email":"a@b"}' };
		const refused: [Args, code: string, message: string][] = [
			[{ ...valid, project: null }, "22004", "an event needs a project_id, a type and data"],
			[{ ...valid, type: null }, "22004", "an event needs a project_id, a type and data"],
			[{ ...valid, data: null }, "22004", "an event needs a project_id, a type and data"],
			[{ ...valid, type: "Customer.created" }, "22023", '"Customer.created" is not an event type'],
			[{ ...valid, data: " [{}]" }, "22023", "an event's data must be a JSON object, not array"],
			[{ ...valid, data: "null" }, "22023", "an event's data must be a JSON object, not null"],
			[{ ...valid, data: "{" }, "22P02", "invalid input syntax for type json"],
			[{ ...valid, id: "order-1" }, "22023", `"order-1" cannot be an event's id`],
			[{ ...valid, id: "evt_1\n" }, "22023", '"evt_1\n" cannot be an event\'s id'],
			[{ ...valid, id: "evt_é" }, "22023", '"evt_é" cannot be an event\'s id'],
			[{ ...valid, id: `evt_${"a".repeat(61)}` }, "22023", `"evt_${"a".repeat(61)}" cannot be an event's id`],
			[{ ...valid, createdAt: "infinity" }, "22008", "infinity is not within the years 0 to 9999"],
			[{ ...valid, project: "proj_none" }, "23503", 'there is no project "proj_none"'],
			[purchase, "22023", "the data of a purchase.completed is not valid: /data/amount_cents is missing"],
		];
		for (const [args, ...expected] of refused) {
			const { code, message } = await refusal(publish(client, args));
			expect([code, message]).toEqual(expected);
		}
		expect(await database.log(project)).toEqual([]);
	});

	test("data may have as many bytes as the last node to start allows", async () => {
		const sized = (bytes: number) => ({ project, type: TYPE, data: `{"é":"${"x".repeat(bytes - 9)}"} ` });
		await publish(client, sized(MAX_EVENT_BYTES));
		const { code, message } = await refusal(publish(client, sized(MAX_EVENT_BYTES + 1)));
		expect([code, message]).toEqual(["54000", "the event's data has 262145 bytes; 262144 are allowed"]);
		for (const bytes of [200, 100, 100]) {
			const options = { url: database.url, clock: systemClock, leaseTermMs: 10_000, maxEventBytes: bytes };
			await (await openPostgresStorage(options)).close();
			await publish(client, sized(bytes));
			expect((await refusal(publish(client, sized(bytes + 1)))).code).toBe("54000");
		}
	});

	test("the time is that of the commit on the database's clock, to the millisecond, or as given", async () => {
		const second = await database.connect();
		await client.query("BEGIN");
		const late = await publish(client, { project, type: TYPE, data: "{}" });
		const early = await publish(second, { project, type: TYPE, data: "{}" });
		await client.query("COMMIT");
		const given: [string, string][] = [
			["0001-01-01 00:00:00+00 BC", "0000-01-01T00:00:00.000Z"],
			["0001-12-31 23:59:59.9999+00 BC", "0000-12-31T23:59:59.999Z"],
			["1969-12-31 23:59:59.9999+00", "1969-12-31T23:59:59.999Z"],
			["2026-02-28 23:30:00.001+05:45", "2026-02-28T17:45:00.001Z"],
		];
		for (const [createdAt, iso] of given) {
			const id = await publish(client, { project, type: TYPE, data: "{}", createdAt });
			expect(JSON.parse(await bytesOf(id)).created_at).toBe(iso);
			expect((await database.storage.findEvent({ projectId: project, eventId: id }))!.createdAt).toBe(Date.parse(iso));
		}
		const ahead = (ms: number) => ({ createdAt: new Date(clock.now() + ms).toISOString() });
		await publish(client, { project, type: TYPE, data: "{}", ...ahead(MAX_AHEAD_MS - A_MINUTE_MS) });
		for (const future of [ahead(MAX_AHEAD_MS + A_MINUTE_MS), { createdAt: "9999-12-31 23:59:59.999999+00" }])
			expect((await refusal(publish(client, { project, type: TYPE, data: "{}", ...future }))).code).toBe("22008");
		const log = await database.log(project);
		expect(log.slice(0, 2).map(({ id }) => id)).toEqual([early, late]);
		for (const event of log.slice(0, 2)) expect(event.createdAt).toBe(event.publishedAt);
		const times = log.map(({ publishedAt }) => publishedAt);
		expect(times).toEqual(times.toSorted((a, b) => a - b));
	});
});
