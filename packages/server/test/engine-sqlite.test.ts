import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStorage } from "../src/storage/sqlite/index.ts";
import { LEASE_TERM_MS } from "./engine-rig.ts";
import { describeEngine } from "./engine-suite.ts";

describeEngine("SQLite", false, async () => {
	const directory = mkdtempSync(join(tmpdir(), "posthorn-engine-"));
	const path = join(directory, "posthorn.db");
	return {
		open: (clock, leaseTermMs = LEASE_TERM_MS) => openSqliteStorage({ path, clock, leaseTermMs }),
		remove: async () => rmSync(directory, { recursive: true }),
	};
});
