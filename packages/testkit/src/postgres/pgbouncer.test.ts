import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../until.ts";
import { Pgbouncer } from "./pgbouncer.ts";

/** The ids of the processes that this one has started and that still run. */
function children(): string[] {
	const threads = readdirSync("/proc/self/task");
	return threads.flatMap((id) => readFileSync(`/proc/self/task/${id}/children`, "utf8").match(/\d+/g) ?? []);
}

// Its reaper waited until the tests ended, and then killed whatever process had its id by then.
test.skipIf(process.platform !== "linux")("a pgbouncer that is stopped takes its reaper along", async () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-pgbouncer-test-"));
	const program = join(folder, "program");
	writeFileSync(program, "#!/bin/sh\necho 'process up' >&2\nexec sleep 600\n");
	// The user that it runs as may be another one.
	chmodSync(folder, 0o755);
	chmodSync(program, 0o755);
	const before = children();
	const pgbouncer = await Pgbouncer.start(program, "postgres://test@127.0.0.1:5432/shop", {});
	expect(children()).toHaveLength(before.length + 2);
	await pgbouncer.stop();
	await until("its reaper to end", async () => children().length === before.length);
	rmSync(folder, { recursive: true });
});
