import * as initial from "./0001-initial.ts";

/** In the order in which they are applied; the version of a database is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [initial.sql];
