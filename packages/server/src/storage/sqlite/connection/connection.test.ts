import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verbsOn } from "../../../../test/storage/sqlite/verbs-on.ts";
import { migrate } from "../migrations/index.ts";
import { Connection, commitTogether, openWriter } from "./connection.ts";
import { storageError } from "./errors.ts";

let directory: string;
let path: string;
let connection: Connection;
let verbs: ReturnType<typeof verbsOn>;
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	path = join(directory, "posthorn.db");
	const db = openWriter(path);
	migrate(db, path);
	connection = new Connection(db);
	verbs = verbsOn(connection);
});
afterEach(async () => {
	connection.close();
	await rm(directory, { recursive: true });
});

const set =
	(name: string, value = "1") =>
	() =>
		verbs.initSetting({ name, value });
const get = (name: string) => verbs.getSetting({ name });
const fail = () => {
	verbs.initSetting({ name: "half", value: "done" });
	throw new Error("A mistake.");
};

test("waiting operations share one transaction, in order", () => {
	const outcomes = commitTogether(connection, [set("a", "first"), set("a", "second"), set("b")]);
	expect(outcomes).toEqual(["first", "first", "1"].map((value) => ({ ok: true, value })));
});

test("a failed operation only undoes itself", () => {
	const outcomes = commitTogether(connection, [set("a"), fail, set("b")]);
	expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
	expect([get("a"), get("half"), get("b")]).toEqual(["1", null, "1"]);
});

test("a number assigned to a name in a rolled-back transaction is forgotten", () => {
	const intern = (name: string) => () => connection.names.internType(name);
	commitTogether(connection, [
		() => {
			connection.names.internType("lost");
			throw new Error("A mistake.");
		},
	]);
	commitTogether(connection, [intern("kept")]);
	expect(connection.names.type("lost")).toBeNull();
	expect(connection.names.type("kept")).not.toBeNull();
});

test("without space, operations that don't fit fail as full, others succeed, and all succeed once there is space", () => {
	const { page_count: pages } = connection.db.prepare("PRAGMA page_count").get()!;
	connection.db.exec(`PRAGMA max_page_count = ${pages}`);
	const [small, large] = commitTogether(connection, [set("a"), set("large", "x".repeat(100_000))]);
	expect(small).toEqual({ ok: true, value: "1" });
	expect(large!.ok).toBe(false);
	expect(storageError(!large!.ok && large!.error, path)).toMatchObject({ code: "full" });
	connection.db.exec("PRAGMA max_page_count = 1000000");
	expect(commitTogether(connection, [set("large", "x".repeat(100_000))])[0]!.ok).toBe(true);
});

// Each operation of the batch waited for the lock in turn, and their callers for all of them.
test("operations that share a commit wait for another program's lock once", () => {
	const other = new DatabaseSync(path);
	other.exec("BEGIN IMMEDIATE");
	connection.db.exec("PRAGMA busy_timeout = 1");
	let waits = 0;
	const { prepare } = connection;
	connection.prepare = (text) => {
		if (text === "BEGIN IMMEDIATE") waits++;
		return prepare.call(connection, text);
	};
	const outcomes = commitTogether(connection, [set("a"), set("b"), set("c")]);
	expect(outcomes.map((outcome) => !outcome.ok && storageError(outcome.error, path))).toMatchObject(
		["in_use", "in_use", "in_use"].map((code) => ({ code })),
	);
	expect(waits).toBe(1);
	other.close();
	expect(commitTogether(connection, [set("a"), set("b")]).map(({ ok }) => ok)).toEqual([true, true]);
});

test("rows have the statement's columns, as those of the statement itself do", () => {
	set("a", "1")();
	set("b", "2")();
	const text = "SELECT name, value, NULL AS missing FROM settings WHERE name IN (?, ?) ORDER BY name LIMIT ?";
	const rows = connection.rows(text, "a", "b", 5);
	expect(rows.map((row) => ({ ...row }))).toEqual([
		{ name: "a", value: "1", missing: null },
		{ name: "b", value: "2", missing: null },
	]);
	expect(connection.db.prepare(text).all("a", "b", 5)).toEqual(rows);
	expect([...connection.each(text, "a", "b", 5)]).toEqual(rows);
	expect(connection.row(text, "b", "c", 5)).toEqual(rows[1]);
	expect(connection.rows(text, "c", "d", 5)).toEqual([]);
	expect(connection.row(text, "c", "d", 5)).toBeUndefined();
});

// Files of earlier versions have larger pages.
test.each([4_096, 8_192])("the log's limit is the same for pages of %i bytes", (pageBytes) => {
	const other = join(directory, "other.db");
	const made = new DatabaseSync(other);
	made.exec(`PRAGMA page_size = ${pageBytes}; CREATE TABLE t (x)`);
	made.close();
	const db = openWriter(other);
	try {
		expect(db.prepare("PRAGMA page_size").get()).toEqual({ page_size: pageBytes });
		expect(db.prepare("PRAGMA wal_autocheckpoint").get()).toEqual({ wal_autocheckpoint: 65_536_000 / pageBytes });
	} finally {
		db.close();
	}
});
