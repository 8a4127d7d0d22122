import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { Client, DatabaseError } from "pg";
import { expect } from "vitest";
import type { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { IdSource } from "../../../src/base/ids.ts";
import type { LogEvent } from "../../../src/storage/port.ts";
import { openPostgresStorage, type PostgresStorage } from "../../../src/storage/postgres/index.ts";
import { WIDE } from "../conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "./databases.ts";

export const clock = { now: () => Date.now() };
const LEASE_TERM_MS = 60_000;

/** The arguments of `posthorn.publish`; missing ones get their defaults. */
export interface Args {
	readonly project?: string | null;
	readonly type?: string | null;
	readonly data?: string | null;
	readonly id?: string;
	readonly createdAt?: string;
}

export const ENCODINGS = ["UTF8", "SQL_ASCII"] as const;
type Encoding = (typeof ENCODINGS)[number];

async function createDatabase(server: PostgresServer, encoding: Encoding): Promise<string> {
	const name = `test_${randomBytes(8).toString("hex")}`;
	await server.execute(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
	return Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
}

/** A database that a node and a store share, and connections of each. */
export class SharedDatabase {
	readonly url: string;
	/** A connection of the node. */
	readonly storage: PostgresStorage;
	readonly ids = new IdSource(clock);
	readonly #server: PostgresServer;
	readonly #isReused: boolean;
	readonly #clients: Client[] = [];
	readonly #roles: string[] = [];

	private constructor(server: PostgresServer, url: string, storage: PostgresStorage, isReused: boolean) {
		this.#server = server;
		this.#isReused = isReused;
		this.url = url;
		this.storage = storage;
	}

	static async open(server: PostgresServer, encoding: Encoding = "UTF8"): Promise<SharedDatabase> {
		const isReused = encoding === "UTF8";
		const url = await (isReused ? takeDatabase(server) : createDatabase(server, encoding));
		const storage = await openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS });
		return new SharedDatabase(server, url, storage, isReused);
	}

	async close(): Promise<void> {
		await Promise.all(this.#clients.map((client) => client.end()));
		await this.storage.close();
		await (this.#isReused ? giveDatabaseBack(this.#server, this.url) : this.#server.dropDatabase(this.url));
		for (const role of this.#roles) await this.#server.execute(`DROP ROLE ${role}`);
	}

	/** A connection of the store. */
	async connect(user?: string): Promise<Client> {
		const url = new URL(this.url);
		if (user !== undefined) url.username = user;
		const client = new Client({ connectionString: url.href });
		await client.connect();
		this.#clients.push(client);
		return client;
	}

	/** A new role that may only log in, without a password. */
	async role(): Promise<string> {
		const name = `store_${this.ids.next("node")}`;
		await this.#server.execute(`CREATE ROLE ${name} LOGIN`);
		this.#roles.push(name);
		return name;
	}

	async project(): Promise<string> {
		const id = this.ids.next("project");
		await this.storage.createProject({ id, name: "Shop", apps: ["developer"], createdAt: clock.now() });
		return id;
	}

	log(project: string): Promise<LogEvent[]> {
		return this.storage.readLog({ projectId: project, after: 0, window: WIDE });
	}
}

/** Publishes as a store does. @returns the event's id */
export async function publish(client: Client, args: Args): Promise<string> {
	const { project = null, type = null, data = null, id = null, createdAt = null } = args;
	const { rows } = await client.query<{ id: string }>("SELECT posthorn.publish($1, $2, $3, $4, $5) AS id", [
		project,
		type,
		data,
		id,
		createdAt,
	]);
	return rows[0]!.id;
}

/** The error with which the database refuses. */
export async function refusal(call: Promise<unknown>): Promise<DatabaseError> {
	const error = await call.then(
		() => null,
		(reason: unknown) => reason,
	);
	expect(error).toBeInstanceOf(DatabaseError);
	return error as DatabaseError;
}

const joined = (parts: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
	fc.array(parts, { maxLength }).map((all) => all.join(""));

const space = joined(fc.constantFrom(" ", "\n", "\t", "\r"), 2);
const escaped = fc.constantFrom(
	"\\u0000",
	"\\ud800",
	"\\uDC00",
	"\\ud83d\\uDE00",
	"\\/",
	"\\\\",
	'\\"',
	"\\u00e9",
	"\\n",
);
const verbatim = fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1));
const literal = joined(fc.oneof(escaped, verbatim, fc.constant("\u2028\u007f")), 4).map((inner) => `"${inner}"`);
const number = fc.oneof(
	fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
	fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
	fc.constantFrom("-0", "1.10", "1e400", "-1E-400", "9007199254740993"),
);

/** The text of a JSON object with everything that a parser wouldn't reproduce. */
export const objectText: fc.Arbitrary<string> = fc.letrec<{ object: string; value: string }>((tie) => ({
	value: fc.oneof(
		{ depthSize: "small", withCrossShrink: true },
		fc.constantFrom("true", "false", "null"),
		number,
		literal,
		fc
			.tuple(
				space,
				fc.array(
					fc.tuple(tie("value"), space).map(([value, after]) => value + after),
					{ maxLength: 4 },
				),
			)
			.map(([before, values]) => `[${before}${values.join(`,${before}`)}]`),
		tie("object"),
	),
	object: fc
		.tuple(
			space,
			fc.array(
				fc
					.tuple(fc.oneof(literal, fc.constantFrom('"2"', '"1"', '"__proto__"')), space, tie("value"), space)
					.map(([name, before, value, after]) => `${name}${before}:${before}${value}${after}`),
				{ maxLength: 4 },
			),
		)
		.map(([before, members]) => `{${before}${members.join(`,${before}`)}}`),
})).object;
