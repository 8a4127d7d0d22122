import { once } from "node:events";
import { connect } from "node:net";
import { unusedPort, within } from "@posthorn/testkit";
import { DatabaseError } from "pg";
import { describe, expect, test } from "vitest";
import { adviceAtStart } from "../../../doctor/local.ts";
import { isConnectionLost, storageError } from "./errors.ts";

// Node's error has no message of its own: it was taken for a refused connection, whatever had happened.
test("says why each address of a name couldn't be reached", async () => {
	const port = await unusedPort();
	const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
	const socket = connect({ host: "db", port, lookup: (_host, _options, found) => found(null, addresses) });
	const [error] = await within("the error", once(socket, "error"));
	expect(storageError(error)).toMatchObject({
		code: "lost",
		message: `PostgreSQL cannot be reached (connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port}): retrying.`,
	});
});

// It said that PostgreSQL couldn't be reached, and at startup to check the host and port.
test("says what may keep a server that can be reached from completing a statement", () => {
	const error = storageError(new Error("Query read timeout")) as Error;
	expect(error).toMatchObject({ code: "lost", message: expect.stringMatching(/or waits for a synchronous standby/) });
	expect(adviceAtStart(error)).toMatch(/: see what posthorn doctor says, then try again\.$/);
});

const reported = (fields: Partial<DatabaseError>) =>
	Object.assign(new DatabaseError("the server's message", 100, "error"), { severity: "ERROR", ...fields });

// The severity is a word of the server's language: a read whose connection the server had ended wasn't repeated, nor was
// the log searched for an event that it might have committed.
test("recognizes the end of a session in any language", () => {
	for (const code of ["57P01", "57P02", "57P05", "25P03", "25P04"])
		expect(isConnectionLost(reported({ severity: "ВАЖНО", code })), code).toBe(true);
	for (const code of ["57014", "25P02", "42501"]) expect(isConnectionLost(reported({ code })), code).toBe(false);
});

describe("an error that the database reports", () => {
	// The service took these for bugs, and repeated requests whose outcomes were not written.
	test.each([
		["P0001", {}, "unusable"],
		["55000", {}, "unusable"],
		["XX000", {}, "unusable"],
		["42P01", {}, "unusable"],
		["42P10", {}, "unusable"],
		["2BP01", {}, "unusable"],
		["72000", {}, "lost"],
		["54000", { routine: "GetNewTransactionId" }, "lost"],
		["54000", { routine: "GetNewMultiXactId" }, "lost"],
		["0A000", { routine: "RevalidateCachedQuery" }, "lost"],
		["55000", { severity: "FATAL" }, "unusable"],
		["42704", { severity: "FATAL" }, "unusable"],
	])("with the code %s %o is an outage, not a bug", (code, fields, expected) => {
		const message = expect.not.stringContaining("undefined");
		expect(storageError(reported({ code, ...fields }))).toMatchObject({ code: expected, message });
	});

	test.each([
		["22003", {}],
		["23505", {}],
		["42601", {}],
		["54000", { routine: "index_form_tuple" }],
		["0A000", { routine: "transformStmt" }],
	])("with the code %s %o is a bug", (code, fields) => {
		const error = reported({ code, ...fields });
		expect(storageError(error)).toBe(error);
	});

	test.each([
		["53200", 'You might need to increase "max_locks_per_transaction".'],
		["42501", "To disable the policy for the table's owner, use ALTER TABLE NO FORCE ROW LEVEL SECURITY."],
	])("with the code %s is reported with its hint, which says what to do", (code, hint) => {
		expect(storageError(reported({ code, hint }))).toMatchObject({ message: expect.stringContaining(hint) });
	});
});
