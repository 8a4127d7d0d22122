import { expect, test } from "vitest";
import { among, Fragment, fragment, rowsOf, sql } from "./sql.ts";

test("values become each engine's parameters, and SQLite has no schema", () => {
	const find = (id: string, at: number) => sql`
		SELECT role FROM posthorn.memberships
		WHERE account_id = ${id} AND added_at > ${at}`;
	const { template, values } = find("acc_1", 5);
	expect(values).toEqual(["acc_1", 5]);
	expect(template.text("postgres")).toBe(
		"SELECT role FROM posthorn.memberships WHERE account_id = $1 AND added_at > $2",
	);
	expect(template.text("sqlite")).toBe("SELECT role FROM memberships WHERE account_id = ? AND added_at > ?");
	expect(find("acc_2", 6).template, "its text identifies prepared statements").toBe(template);
});

test("a fragment is part of the text, and may differ by engine", () => {
	const lock = new Fragment({ postgres: " FOR UPDATE", sqlite: "" });
	const columns = fragment("id, name");
	const { template, values } = sql`SELECT ${columns} FROM posthorn.projects WHERE no = ${null}${lock}`;
	expect(values).toEqual([null]);
	expect(template.text("postgres")).toBe("SELECT id, name FROM posthorn.projects WHERE no = $1 FOR UPDATE");
	expect(template.text("sqlite")).toBe("SELECT id, name FROM projects WHERE no = ?");
});

test("a list is one parameter, and the text around it is constant", () => {
	const given = rowsOf("no", "currency text");
	const find = (rows: readonly object[], names: readonly string[]) => sql`
		SELECT g.no FROM ${given(rows)} WHERE g.currency ${among(names)} AND g.no > ${1}`;
	const { template, values } = find([{ no: 1 }], ["a"]);
	expect(values).toEqual(['[{"no":1}]', '["a"]', 1]);
	expect(template.text("postgres")).toBe(
		"SELECT g.no FROM json_to_recordset($1::json) AS g (no bigint, currency text) " +
			"WHERE g.currency = ANY (ARRAY(SELECT json_array_elements_text($2::json))) AND g.no > $3",
	);
	expect(template.text("sqlite")).toMatch(
		/^SELECT g\.no FROM \(SELECT value ->> 'no' AS no, value ->> 'currency' AS currency FROM jsonb?_each\(\?\)\) AS g WHERE/,
	);
	expect(find([], []).template).toBe(template);
});

test("a template can't be used with other fragments: its text is built once", () => {
	const count = (table: string) => sql`SELECT count(*) FROM ${fragment(table)}`;
	count("accounts");
	expect(() => count("sessions")).toThrow("must be constants");
	const find = (id: string | Fragment) => sql`SELECT 1 FROM accounts WHERE id = ${id}`;
	find("acc_1");
	expect(() => find(fragment("''"))).toThrow("must be constants");
});
