import { once } from "node:events";
import { connect } from "node:net";
import { unusedPort, within } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { storageError } from "./errors.ts";

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
