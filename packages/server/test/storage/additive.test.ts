import { expect, test } from "vitest";
import { MIGRATIONS as POSTGRES } from "../../src/storage/postgres/migrations/index.ts";
import { MIGRATIONS as SQLITE } from "../../src/storage/sqlite/migrations/index.ts";
import { notAdditive } from "./additive.ts";

/** The rule began after these. */
const BEFORE_THE_RULE = { postgres: 14, sqlite: 9 };

test.each([
	["PostgreSQL", POSTGRES.slice(BEFORE_THE_RULE.postgres)],
	["SQLite", SQLITE.slice(BEFORE_THE_RULE.sqlite)],
])("on %s, migrations only add", (_, migrations) => {
	expect(migrations.length).toBeGreaterThan(0);
	expect(migrations.flatMap(notAdditive)).toEqual([]);
});

test.each([
	"DROP TABLE posthorn.lanes",
	"ALTER TABLE posthorn.lanes RENAME cursor TO position",
	"ALTER TABLE lanes RENAME TO paths",
	"ALTER TABLE posthorn.lanes DROP ahead",
	"ALTER TABLE posthorn.lanes DROP COLUMN ahead, ADD COLUMN x text",
	"ALTER TABLE posthorn.lanes ADD COLUMN x text NOT NULL",
	"ALTER TABLE posthorn.lanes ADD COLUMN a text, ADD COLUMN b text NOT NULL",
	"ALTER TABLE posthorn.lanes ADD COLUMN x text UNIQUE",
	"ALTER TABLE posthorn.lanes ADD COLUMN x bigint DEFAULT 0 CHECK (x > 0)",
	"ALTER TABLE posthorn.lanes ADD COLUMN x bigint GENERATED ALWAYS AS (position >> 8) STORED",
	"ALTER TABLE posthorn.lanes ADD CONSTRAINT x CHECK (position > 0)",
	"ALTER TABLE posthorn.lanes ALTER COLUMN position TYPE integer",
	"ALTER TABLE posthorn.lanes ALTER COLUMN open SET NOT NULL",
	"CREATE UNIQUE INDEX x ON posthorn.lanes (webhook_no)",
	"UPDATE posthorn.lanes SET position = 0",
	"DELETE FROM posthorn.lanes",
	"TRUNCATE posthorn.lanes",
	"LOCK TABLE posthorn.lanes IN ACCESS EXCLUSIVE MODE",
	"DROP FUNCTION posthorn.publish",
	"CREATE TABLE x (y text); DROP TABLE lanes; -- a comment",
])("refuses %s", (migration) => {
	expect(notAdditive(migration)).toHaveLength(1);
});

test.each([
	"CREATE TABLE posthorn.x (no bigint NOT NULL, name text NOT NULL UNIQUE, CHECK (no > 0))",
	"CREATE INDEX x ON posthorn.lanes (webhook_no); DROP INDEX posthorn.y;",
	"ALTER TABLE lanes ADD COLUMN x INTEGER",
	"ALTER TABLE posthorn.lanes ADD open bigint[] NOT NULL DEFAULT '{}', ADD COLUMN note text DEFAULT 'a, b; c'",
	"ALTER TABLE posthorn.lanes SET (fillfactor = 90)",
	"ALTER TABLE posthorn.lanes REPLICA IDENTITY FULL",
	"CREATE OR REPLACE FUNCTION posthorn.f() RETURNS void AS $$ BEGIN DELETE FROM x; DROP TABLE y; END $$",
	"INSERT INTO posthorn.settings (name, value) VALUES ('a', 'DROP TABLE x;')",
])("accepts %s", (migration) => {
	expect(notAdditive(migration)).toEqual([]);
});
