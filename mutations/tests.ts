/** Test files that several areas name. */

const STORAGE = "server/src/storage";

/** The storage suite on SQLite, which takes seconds where PostgreSQL takes a minute. */
export const SQLITE = [`${STORAGE}/sqlite/sqlite.test.ts`];
export const POSTGRES = [`${STORAGE}/postgres/postgres.test.ts`];
/** The whole engine on storage in memory, under a virtual clock. */
export const ENGINE = ["server/test/engine-memory.test.ts"];
/** Several nodes on one storage in memory. */
export const NODES = ["server/test/nodes-memory.test.ts"];

export const inPostgres = (name: string): string[] => [`${STORAGE}/postgres/${name}.test.ts`];
export const inVerbs = (name: string): string[] => [`${STORAGE}/verbs/${name}.test.ts`];
export const inEngine = (name: string): string[] => [`server/src/engine/${name}.test.ts`];
export const inNet = (name: string): string[] => [`server/src/net/${name}.test.ts`];
export const inAccounts = (name: string): string[] => [`server/src/accounts/${name}.test.ts`];
export const inStore = (name: string): string[] => [`server/src/store/${name}.test.ts`];
export const inApi = (name: string): string[] => [`server/src/api/${name}.test.ts`];
