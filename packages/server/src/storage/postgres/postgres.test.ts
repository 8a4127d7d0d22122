import { describePostgres } from "./harness.fixture.ts";

/** The version that npm brings, or the server that POSTHORN_TEST_POSTGRES_URL names. */
await describePostgres();
