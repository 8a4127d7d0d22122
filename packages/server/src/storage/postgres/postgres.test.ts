import { describePostgres } from "../../../test/storage/postgres/harness.ts";

/** The version that npm installs, or the server that POSTHORN_TEST_POSTGRES_URL names. */
await describePostgres();
