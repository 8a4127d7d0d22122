import { test } from "vitest";
import { systemBinaries } from "../../../../testkit/src/postgres/postgres.ts";
import { describePostgres } from "../../../test/storage/postgres/harness.ts";
import { LAST, OLDEST } from "../../../test/storage/postgres/versions.ts";

const binDirectory = await systemBinaries(OLDEST, LAST);
if (binDirectory !== null) await describePostgres({ binDirectory, own: true });
else test.skip(`PostgreSQL ${OLDEST} to ${LAST}: none is installed under /usr/lib/postgresql`);
