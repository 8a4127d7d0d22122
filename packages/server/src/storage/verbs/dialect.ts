/** Where the engines' SQL differs. SQLite has one writer, so it needs no locks, and it plans joins in the order given. */
import { Fragment } from "./sql.ts";

const only = (postgres: string): Fragment => new Fragment({ postgres, sqlite: "" });

/** At the end of a SELECT: locks its rows against changes until the transaction ends. */
export const forUpdate = only(" FOR NO KEY UPDATE");

/** At the end of a SELECT: skips rows that another transaction has locked, and locks the others. */
export const skipLocked = only(" FOR NO KEY UPDATE SKIP LOCKED");

/**
 * Rows to delete that no other transaction holds, with {@link endUnlocked} at the end of their condition:
 * `WHERE ${unlocked("links", "token_hash")} WHERE expires_at < ${at}${endUnlocked}`. `key`: the table's key on SQLite.
 */
export const unlocked = (table: string, key: string): Fragment =>
	new Fragment({
		postgres: `ctid = ANY (ARRAY(SELECT ctid FROM posthorn.${table}`,
		sqlite: `${key} IN (SELECT ${key} FROM ${table}`,
	});
export const endUnlocked = new Fragment({ postgres: " FOR UPDATE SKIP LOCKED))", sqlite: ")" });

/** Joins a table by its key, row by row: `accounts a`, `a.id = m.account_id`. OFFSET 0 rules out other joins. */
export const joinByKey = (table: string, on: string): Fragment =>
	new Fragment({
		postgres: `CROSS JOIN LATERAL (SELECT * FROM posthorn.${table} WHERE ${on} OFFSET 0) ${table.split(" ")[1]}`,
		sqlite: `CROSS JOIN ${table} ON ${on}`,
	});

/** After a boolean column in a condition: SQLite uses its partial index only for this form. */
export const isTrue = new Fragment({ postgres: "", sqlite: " = 1" });

export const greatest = new Fragment({ postgres: "greatest", sqlite: "max" });
