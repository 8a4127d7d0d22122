import { test } from "vitest";
import { systemBinaries } from "../../../../testkit/src/postgres/postgres.ts";
import { describePostgres } from "../../../test/storage/postgres/harness.ts";

/** From the oldest supported version to the last one before npm's. */
const [OLDEST, LAST] = [14, 17];

const binDirectory = await systemBinaries(OLDEST, LAST);
if (binDirectory !== null) await describePostgres({ binDirectory, own: true });
else test.skip(`PostgreSQL ${OLDEST} to ${LAST}: none is installed under /usr/lib/postgresql`);
