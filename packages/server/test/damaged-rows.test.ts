import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../testkit/src/postgres/postgres.ts";
import { within } from "../../testkit/src/until.ts";
import { systemClock } from "../src/base/clock.ts";
import { IdSource } from "../src/base/ids.ts";
import { silentLogger } from "../src/base/logger.ts";
import { Publisher } from "../src/engine/publish/publisher.ts";
import { type SettleResult, Settler } from "../src/engine/settle/settler.ts";
import { openNode, worldOf } from "./storage/postgres/world.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

// One project's damaged page once stopped the settling of all, and failed the publish calls that shared a commit with it.
test("damaged rows of a project delay no other", async () => {
	const url = await server.createDatabase();
	const world = await worldOf((clock) => openNode(url, clock));
	const project = async () => {
		const id = await world.project();
		const webhook = await world.webhook(id, ["a"]);
		const [event] = await world.publish(id, "a");
		return { id, webhook, event: event!, lease: await world.lease(id) };
	};
	const [first, bad, good] = [await project(), await project(), await project()];
	const [row] = await server.execute(`SELECT no FROM posthorn.projects WHERE id = '${bad.id}'`, url);
	// What PostgreSQL reports for a damaged page of this project.
	await server.execute(
		`
		CREATE FUNCTION damaged() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'invalid page in block 7' USING ERRCODE = 'data_corrupted'; END $$;
		CREATE TRIGGER damaged BEFORE UPDATE ON posthorn.lanes FOR EACH ROW
			WHEN (OLD.project_no = ${row!.no}) EXECUTE FUNCTION damaged();
		CREATE TRIGGER damaged BEFORE INSERT ON posthorn.events FOR EACH ROW
			WHEN (NEW.project_no = ${row!.no}) EXECUTE FUNCTION damaged()`,
		url,
	);

	const settler = new Settler(world.storage, systemClock, systemClock, silentLogger);
	const settled: string[] = [];
	const settle = ({ id, webhook, event, lease }: typeof bad) =>
		new Promise<SettleResult>((done) =>
			settler.add({
				lease: { projectId: id, generation: lease.generation },
				attempt: world.attempt(webhook, event),
				schedule: null,
				unschedule: null,
				lane: { webhookId: webhook, position: event.seq, open: [] },
				done: (result) => {
					settled.push(id);
					done(result);
				},
			}),
		);
	const results = [first, bad, good].map(settle);
	expect(await within("the good project's outcome", results[2]!)).toBe("settled");
	expect(settled).toEqual([first.id, good.id]);

	const publisher = new Publisher({
		storage: world.storage,
		clock: systemClock,
		disk: systemClock,
		ids: new IdSource(systemClock),
		maxEventBytes: 1_000,
		lanes: { appended: () => undefined, recheck: () => undefined },
	});
	const published = await Promise.allSettled(
		[first, bad, good].map(({ id }) => publisher.publish(id, [{ type: "delivery.success", data: "{}" }])),
	);
	expect(published.map((one) => (one.status === "rejected" ? one.reason.code : one.value.kind))).toEqual([
		"published",
		"unusable",
		"published",
	]);

	await server.execute("DROP FUNCTION damaged CASCADE", url);
	expect(await within("the repaired project's outcome", results[1]!)).toBe("settled");
	await settler.drain();
	await world.dispose();
});
