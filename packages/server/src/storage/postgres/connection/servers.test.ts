import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { PostgresProxy } from "@posthorn/testkit";
import { DatabaseError } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { unusedPort } from "../../../../../testkit/src/ports.ts";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { issueSelfSigned } from "../../../../../testkit/src/tls/certificates.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { openPostgresStorage } from "../index.ts";
import { EpochMemory } from "../leases/epochs.ts";
import { Connections } from "./connections.ts";
import { Hosts, placeOf } from "./servers.ts";
import { connectionConfig } from "./session-settings.ts";

const clock = { now: () => Date.now() };

describe("a database URL with several servers", () => {
	let primary: PostgresServer;
	let standby: PostgresServer;
	let name: string;
	beforeAll(async () => {
		primary = await PostgresServer.start({ own: true });
		// Created before the standby starts: a running standby would get it late.
		name = new URL(await primary.createDatabase()).pathname;
		standby = await primary.standby();
	});
	afterAll(async () => {
		await primary.stop();
		await standby.stop();
	});

	const hostOf = (server: PostgresServer) => new URL(server.url).host;
	const open = (hosts: readonly string[], rest = name) =>
		openPostgresStorage({ url: `postgres://test@${hosts.join()}${rest}`, clock, leaseTermMs: 10_000 });

	test("the one that accepts writes is found at any position", async () => {
		const nowhere = `127.0.0.1:${await unusedPort()}`;
		for (const hosts of [
			[hostOf(primary), hostOf(standby)],
			[hostOf(standby), hostOf(primary)],
			[nowhere, hostOf(standby), hostOf(primary)],
		]) {
			const storage = await open(hosts);
			await storage.ping();
			expect(storage.place).toBe(`${hostOf(primary)}${name}`);
			await storage.close();
		}
	});

	test("a place names neither user nor password", () => {
		for (const [url, place] of [
			["postgres://me:secret@db.example.com/shop", "db.example.com:5432/shop"],
			["postgres://me:secret@[::1]:6000/shop?sslmode=verify-full", "[::1]:6000/shop"],
			["postgres://me:secret@/shop?host=/run/postgresql", "/run/postgresql:5432/shop"],
			["postgres://db/shop?user=me&password=secret", "db:5432/shop"],
		] as const)
			expect(placeOf(url)).toBe(place);
	});

	test("if none does, the error names each with its reason", async () => {
		const nowhere = `127.0.0.1:${await unusedPort()}`;
		await expect(open([hostOf(standby), nowhere])).rejects.toMatchObject({
			code: "lost",
			message: expect.stringMatching(new RegExp(`${hostOf(standby)}: .*read-only.*; ${nowhere}: .*ECONNREFUSED`)),
		});
	});

	test("one that refuses this user or database ends the search", async () => {
		await expect(open([hostOf(primary), hostOf(standby)], "/nothing")).rejects.toMatchObject({ code: "unusable" });
	});

	test("a single one must accept writes only if the URL says so", async () => {
		await expect(open([hostOf(standby)], `${name}?target_session_attrs=read-write`)).rejects.toMatchObject({
			code: "lost",
			message: expect.stringContaining("read-only"),
		});
		const storage = await open([hostOf(primary)], `${name}?target_session_attrs=primary`);
		await storage.close();
	});

	// A statement on a frozen server once took its whole timeout to fail.
	test("a frozen server is left as soon as a new connection gets no response", async () => {
		await using proxy = await PostgresProxy.start(primary.url);
		const hosts = [new URL(proxy.url(primary.url)).host, hostOf(standby)];
		// Longer than this test may take.
		const storage = await open(hosts, `${name}?query_timeout=600000`);
		await storage.ping();
		proxy.cut("swallowing");
		const unanswered = storage.ping().catch((error: { code: string }) => error.code);
		expect(await unanswered).toBe("lost");
		await primary.kill();
		await standby.promote();
		await until("the standby to be found", async () => {
			return (await storage.ping().catch((error: { code: string }) => error.code)) !== "lost";
		});
		await storage.close();
	});
});

// They were taken for bugs: calls of the API returned 500, and outcomes were dropped and their requests repeated.
describe("a connection that can't be opened", () => {
	const certificate = issueSelfSigned();
	const ways: readonly (readonly [string, (socket: Socket) => Promise<void>, object])[] = [
		[
			"because of the server's certificate",
			async (socket) => {
				socket.write("S");
				new TLSSocket(socket, { isServer: true, ...(await certificate) }).on("error", () => undefined);
			},
			{
				code: "lost",
				message: expect.stringMatching(/^There is no secure .* \(self-signed certificate\): check .*sslrootcert/),
			},
		],
		[
			"because the server stopped offering TLS",
			async (socket) => void socket.write("N"),
			{ code: "unusable", message: expect.stringMatching(/does not support SSL.*: check POSTHORN_DATABASE_URL/) },
		],
		[
			"because something else listens there",
			async (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
			{ code: "unusable", message: expect.stringContaining("check POSTHORN_DATABASE_URL") },
		],
	];

	test.each(ways)("%s is reported as such", async (_, respond, expected) => {
		const server = createServer((socket) => {
			socket.on("error", () => undefined);
			socket.once("data", () => void respond(socket));
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		const url = `postgres://test@127.0.0.1:${(server.address() as AddressInfo).port}/a?sslmode=verify-full`;
		await expect(openPostgresStorage({ url, clock, leaseTermMs: 10_000 })).rejects.toMatchObject(expected);
		const epochs = new EpochMemory({ no: 1, id: "a", system: "", timeline: 0 });
		const connections = new Connections(connectionConfig(url), new Hosts(url), {}, epochs);
		const call = connections.read("people", async () => undefined);
		await expect(call).rejects.toMatchObject(expected);
		await connections.close();
		server.close();
	});
});

// PostgreSQL said that there is no database "a%2Fb".
test("a database's name may have characters that have a meaning in URLs", async () => {
	const server = await PostgresServer.start();
	onTestFinished(() => server.stop());
	const url = new URL(await server.createDatabase());
	const name = `${url.pathname.slice(1)} a/b:c@d&e+f,g;h=i%j$k`;
	await server.execute(`CREATE DATABASE "${name}"`);
	const href = `${new URL("/", url).href}${encodeURIComponent(name)}`;
	const storage = await openPostgresStorage({ url: href, clock, leaseTermMs: 10_000 });
	await storage.ping();
	expect(storage.place).toBe(`${url.host}/${name}`);
	await storage.close();
	await server.execute(`DROP DATABASE "${name}"`);
});

// It led to the database "b".
test("a database's name with dots between slashes leads to no other database", () => {
	for (const name of ["a%2F..%2Fb", "a%2F%2E.%2Fb", ".%2Fb", "b%2F."])
		expect(new Hosts(`postgres://db/${name}`).current).toBe(`postgres://db/${name}`);
	expect(new Hosts("postgres://db/a%2Fb.c..d%2F...").current).toBe("postgres://db/a/b.c..d/...");
});

// Of a user and a password that were both parameters, only the first was known to be part of the login.
test.each([
	["user=me&password=old", "user=me&password=new"],
	["password=old&user=me&sslmode=prefer", "password=new&user=you&sslmode=prefer"],
	["sslmode=prefer&user=me&password=old", "sslmode=prefer&user=me&password=new"],
])("a login in the parameters %s is replaced by the one in %s", (old, renewed) => {
	const urlWith = (parameters: string) => `postgres://db/shop?${parameters}`;
	let now = urlWith(old);
	const hosts = new Hosts(urlWith(old), () => now);
	const refused = Object.assign(new DatabaseError("password authentication failed", 0, "error"), { code: "28P01" });
	expect(hosts.renewLogin(refused)).toBe(false);
	now = `${urlWith(renewed)}&application_name=other`;
	expect(hosts.renewLogin(refused)).toBe(false);
	now = urlWith(renewed);
	expect(hosts.renewLogin(refused)).toBe(true);
	expect(hosts.current).toBe(now);
});

// It had to be restarted with the new one.
test("a password that is replaced is read again once the old one is refused", async () => {
	const server = await PostgresServer.start({ own: true });
	onTestFinished(() => server.stop());
	const url = new URL(await server.createDatabase());
	await server.execute(
		`CREATE ROLE shop LOGIN PASSWORD 'old'; GRANT CREATE ON DATABASE "${url.pathname.slice(1)}" TO shop`,
	);
	await server.demandPasswords();
	const as = (login: string, path = url.pathname) => `postgres://${login}@${url.host}${path}`;
	let now: string | null = as("shop:old");
	const storage = await openPostgresStorage({ url: now, reread: () => now, clock, leaseTermMs: 10_000 });
	onTestFinished(() => storage.close());
	const cut = () =>
		server.execute(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop' AND pid <> pg_backend_pid()",
		);
	const heard = new Promise((resolve) => storage.peers!.subscribe(resolve));
	await server.execute("ALTER ROLE shop PASSWORD 'new'");
	await cut();
	await expect(storage.ping()).rejects.toThrow("password authentication failed");
	// Another database's login is no use, nor is a file that can't be read.
	for (now of [as("shop:new", "/postgres"), null])
		await expect(storage.ping()).rejects.toThrow("password authentication failed");
	now = `${as("shop")}?password=new`;
	await expect(storage.ping()).rejects.toThrow("password authentication failed");
	now = as("shop:new");
	await storage.ping();
	const peer = await openPostgresStorage({ url: now, clock, leaseTermMs: 10_000 });
	onTestFinished(() => peer.close());
	await until("the connection that listens", async () => {
		const [row] = await server.execute(
			"SELECT count(*) AS n FROM pg_stat_activity WHERE usename = 'shop' AND query LIKE 'LISTEN%'",
		);
		return Number(row!.n) === 1;
	});
	await peer.createProject({ id: "proj_1", name: "Shop", apps: [], createdAt: 0 });
	await peer.appendEvents({
		requests: [
			{
				projectId: "proj_1",
				publishedAt: 1,
				events: [{ id: "evt_1", type: "a", createdAt: 1, createdAtGiven: true, body: Buffer.from("{}") }],
			},
		],
	});
	await heard;
});
