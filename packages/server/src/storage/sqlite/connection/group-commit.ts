import type { Connection } from "./connection.ts";

/** The outcome of one operation of a batch. */
export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/**
 * Runs operations in one transaction. They fail only because of bugs or a full disk, so there is no savepoint around
 * each, which would copy every page it touches. If one fails, the transaction is rolled back and each runs again in its
 * own transaction, so only the failing one is undone.
 */
export function commitTogether(c: Connection, operations: readonly (() => unknown)[]): Outcome[] {
	try {
		const values = inTransaction(c, () => operations.map((operation) => operation()));
		return values.map((value) => ({ ok: true, value }));
	} catch (error) {
		if (operations.length === 1) return [{ ok: false, error }];
		return operations.flatMap((operation) => commitTogether(c, [operation]));
	}
}

function inTransaction<T>(c: Connection, run: () => T): T {
	try {
		c.sql("BEGIN IMMEDIATE").run();
		const value = run();
		c.sql("COMMIT").run();
		return value;
	} catch (error) {
		// A full disk may have ended the transaction already.
		if (c.db.isTransaction) c.db.exec("ROLLBACK");
		c.names.forget();
		throw error;
	}
}
