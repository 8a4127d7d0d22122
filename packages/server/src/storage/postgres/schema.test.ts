import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dumpSchema } from "../../../../../scripts/schema-dump.ts";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { versionsFrom } from "../../../test/storage/postgres/versions.ts";
import { migratePostgres } from "./index.ts";

/** Without the header lines that describe it. */
const written = readFileSync(new URL("schema.sql", import.meta.url), "utf8").replace(/^(--.*\n)+\n/, "");

// `npm run check` compares it with what npm's server prints; other supported versions must print the same.
describe.each(await versionsFrom())("the schema in the catalogue of $name", ({ options }) => {
	let server: PostgresServer;
	let url: string;

	beforeAll(async () => {
		server = await PostgresServer.start(options);
		url = await server.createDatabase();
		await migratePostgres(url);
	});
	afterAll(() => server.stop());

	test("matches schema.sql", async () => {
		expect(await dumpSchema(url)).toBe(written);
	});

	test.each([
		["ALTER TABLE posthorn.settings ADD COLUMN more integer", "\tmore integer,"],
		["CREATE SEQUENCE posthorn.more", "CREATE SEQUENCE posthorn.more;"],
		["ALTER TABLE posthorn.settings ALTER COLUMN value SET DEFAULT 'x'", "\tvalue text DEFAULT 'x'::text NOT NULL,"],
		["ALTER TABLE posthorn.settings ALTER COLUMN value DROP NOT NULL", "\tvalue text,"],
		["ALTER TABLE posthorn.settings ADD CHECK (value <> '')", "CHECK ((value <> ''::text))"],
		["ALTER TABLE posthorn.settings SET (fillfactor = 20)", ") WITH (fillfactor=20);"],
		["CREATE INDEX more ON posthorn.settings (value)", "CREATE INDEX more ON posthorn.settings"],
		["ALTER TABLE posthorn.publishing DISABLE TRIGGER append_published", "DISABLE TRIGGER append_published;"],
		["GRANT EXECUTE ON FUNCTION posthorn.publish TO PUBLIC", "CREATE OR REPLACE FUNCTION posthorn.publish"],
		["COMMENT ON TABLE posthorn.settings IS 'It''s'", "COMMENT ON TABLE posthorn.settings IS 'It''s';"],
	])("%s shows", async (change, shown) => {
		await altered(change, async (copy) => {
			const text = await dumpSchema(copy);
			expect(text).not.toBe(written);
			expect(text).toContain(shown);
		});
	});

	test.each([
		["CREATE VIEW posthorn.more AS SELECT 1", "relation more of kind v"],
		["CREATE TYPE posthorn.more AS ENUM ('a')", "type more"],
		["CREATE SEQUENCE posthorn.more INCREMENT 2", "relation more of kind S"],
		["ALTER TABLE posthorn.settings ENABLE ROW LEVEL SECURITY", "relation settings of kind r"],
	])("%s is noticed", async (change, told) => {
		await altered(change, (copy) => expect(dumpSchema(copy)).rejects.toThrow(told));
	});

	test("daily partitions are left out", async () => {
		const day = "CREATE TABLE posthorn.attempts_20260101 PARTITION OF posthorn.attempts FOR VALUES FROM ('0') TO ('1')";
		await altered(day, async (copy) => expect(await dumpSchema(copy)).toBe(written));
	});

	/** A copy of the database with one thing changed. */
	async function altered(change: string, check: (url: string) => Promise<unknown>): Promise<void> {
		const copy = new URL(url);
		copy.pathname += "_altered";
		await server.execute(`CREATE DATABASE ${copy.pathname.slice(1)} TEMPLATE ${new URL(url).pathname.slice(1)}`);
		await server.execute(change, copy.href);
		await check(copy.href);
		await server.dropDatabase(copy.href);
	}
});
