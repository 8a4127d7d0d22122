import { expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { openNode, worldOf } from "../../../test/storage/postgres/world.ts";

/** Events don't fit any longer, although small writes succeed. Rolling back doesn't undo what a sequence counts. */
const FILL = `
	CREATE SEQUENCE refused;
	CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM nextval('public.refused');
		RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
	END $$;
	CREATE TRIGGER refuse BEFORE INSERT ON posthorn.events FOR EACH ROW EXECUTE FUNCTION refuse()`;

test("after a write for which there was no room, the database isn't well until a large one succeeds", async () => {
	const server = await PostgresServer.start();
	const url = await server.createDatabase();
	const world = await worldOf((clock) => openNode(url, clock));
	const project = await world.project();
	await world.publish(project, "a");
	await world.storage.ping();
	await server.execute(FILL, url);
	await expect(world.publish(project, "a")).rejects.toMatchObject({ code: "full" });
	const refusals = async (): Promise<number> => {
		await expect(world.storage.ping()).rejects.toMatchObject({ code: "full" });
		const [row] = await server.execute("SELECT last_value::int FROM refused", url);
		return row!.last_value as number;
	};
	const before = await refusals();
	// Only asking whether there is room again shows that there isn't.
	await until("two probes", async () => (await refusals()) >= before + 2);
	await server.execute("DROP TRIGGER refuse ON posthorn.events", url);
	await until("the database to have room", () =>
		world.storage.ping().then(
			() => true,
			() => false,
		),
	);
	await world.publish(project, "a");
	expect(await server.execute("SELECT count(*)::int AS rows FROM posthorn.events", url)).toEqual([{ rows: 2 }]);
	await world.dispose();
	await server.stop();
});
