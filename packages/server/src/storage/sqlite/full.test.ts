import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { until } from "../../../../testkit/src/until.ts";
import { World } from "../../../test/storage/conformance/world.ts";
import { openSqliteStorage } from "./index.ts";

/**
 * SQLite reports a full disk if a table has no number left for a new row: nothing large fits any longer, although small
 * writes succeed, as on a disk with a few bytes left.
 */
const FILL = `
	CREATE TABLE no_room (id INTEGER PRIMARY KEY AUTOINCREMENT);
	INSERT INTO no_room VALUES (9223372036854775807);
	CREATE TRIGGER no_room_for_events BEFORE INSERT ON events BEGIN INSERT INTO no_room (id) VALUES (NULL); END;
	CREATE TRIGGER no_room_for_probes BEFORE INSERT ON settings WHEN length(NEW.value) > 100000
		BEGIN INSERT INTO no_room (id) VALUES (NULL); END`;
const FREE = "DROP TRIGGER no_room_for_events; DROP TRIGGER no_room_for_probes; DROP TABLE no_room";

test("after a write for which there was no room, the database isn't well until a large one succeeds", async () => {
	const folder = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(folder, "posthorn.db");
	const world = await World.open({
		name: "SQLite",
		manyNodes: false,
		leaseTermMs: 15_000,
		open: ({ clock }) => openSqliteStorage({ path, clock }),
		reopen: () => Promise.reject(new Error("This world can't be reopened.")),
		dispose: (storage) => storage.close(),
	});
	const project = await world.project();
	await world.storage.ping();
	const other = new DatabaseSync(path);
	other.exec(FILL);
	await world.storage.ping();
	await expect(world.publish(project, "a")).rejects.toMatchObject({ code: "full" });
	await expect(world.storage.ping()).rejects.toMatchObject({ code: "full" });
	await world.storage.setDeveloperApp({ projectId: project, installed: true });
	await expect(world.storage.ping()).rejects.toMatchObject({ code: "full" });
	other.exec(FREE);
	await until("the database to have room", () =>
		world.storage.ping().then(
			() => true,
			() => false,
		),
	);
	await world.publish(project, "a");
	expect(other.prepare("SELECT count(*) AS rows FROM settings WHERE name = 'room'").get()).toEqual({ rows: 0 });
	other.close();
	await world.dispose();
	await rm(folder, { recursive: true });
});
