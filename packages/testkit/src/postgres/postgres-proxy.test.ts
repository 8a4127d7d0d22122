import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "./postgres.ts";
import { type CommitFate, PostgresProxy } from "./postgres-proxy.ts";

describe("PostgresProxy", () => {
	let server: PostgresServer;
	let url: string;
	let proxy: PostgresProxy;
	const clients: Client[] = [];
	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		await server.execute("CREATE TABLE there (n integer)", url);
		proxy = await PostgresProxy.start(url);
	});
	afterEach(async () => {
		await proxy.close();
		for (const client of clients.splice(0)) client.connection.stream.destroy();
		await server.dropDatabase(url);
	});

	async function connect(): Promise<Client> {
		const client = new Client({ connectionString: proxy.url(url), pipeline: true });
		client.on("error", () => undefined);
		await client.connect();
		clients.push(client);
		return client;
	}

	const there = async () => (await server.execute("SELECT n FROM there ORDER BY n", url)).map(({ n }) => n);

	/** Inserts in a transaction that is sent all at once. */
	function insert(client: Client, n: number): Promise<unknown> {
		const insertion = { name: "insertion", text: "INSERT INTO there VALUES ($1)", values: [n] };
		return Promise.all([client.query("BEGIN"), client.query(insertion), client.query("COMMIT")]);
	}

	test("forwards everything, and counts", async () => {
		const client = await connect();
		const body = "x".repeat(300_000);
		expect((await client.query("SELECT length($1::text) AS n, $1::text AS body", [body])).rows).toEqual([
			{ n: 300_000, body },
		]);
		await insert(client, 1);
		expect(await there()).toEqual([1]);
		expect([proxy.accepted, proxy.statements]).toEqual([1, 4]);
	});

	test("broken: connections end, including new ones, until it is healed", async () => {
		const client = await connect();
		proxy.cut("broken");
		await expect(client.query("SELECT 1")).rejects.toThrow();
		await expect(connect()).rejects.toThrow();
		proxy.heal();
		await insert(await connect(), 1);
		expect(await there()).toEqual([1]);
	});

	test("held: data arrives once it is healed, even on new connections", async () => {
		const client = await connect();
		proxy.cut("held");
		const inserted = insert(client, 1);
		const connected = connect();
		expect(await there()).toEqual([]);
		proxy.heal();
		await inserted;
		await insert(await connected, 2);
		expect(await there()).toEqual([1, 2]);
	});

	test("swallowing: existing connections stay dead, new ones work once it is healed", async () => {
		const client = await connect();
		proxy.cut("swallowing");
		const lost = insert(client, 1).then(
			() => "answered",
			() => "ended",
		);
		proxy.heal();
		await insert(await connect(), 2);
		expect(await there()).toEqual([2]);
		client.connection.stream.destroy();
		expect(await lost).toBe("ended");
		expect(await there()).toEqual([2]);
	});

	test("decides on each commit by what its transaction did", async () => {
		const fates: CommitFate[] = ["lose", "lose_answer", { delayMs: 1 }];
		const seen: (readonly string[])[] = [];
		proxy.onCommit = (statements) => {
			seen.push(statements);
			return fates.shift() ?? "pass";
		};
		await expect(insert(await connect(), 1)).rejects.toThrow();
		expect(await there()).toEqual([]);
		await expect(insert(await connect(), 2)).rejects.toThrow();
		expect(await there()).toEqual([2]);
		const client = await connect();
		await insert(client, 3);
		await insert(client, 4);
		expect(await there()).toEqual([2, 3, 4]);
		expect(seen).toEqual(Array(4).fill(["INSERT INTO there VALUES ($1)"]));
	});
});
