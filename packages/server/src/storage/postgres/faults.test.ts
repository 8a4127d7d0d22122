import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { START, type World } from "../../../test/storage/conformance/world.ts";
import { LEASE_TERM_MS, openNode, worldOf } from "../../../test/storage/postgres/world.ts";
import { type NewEvent, StorageError } from "../port.ts";
import { openPostgresStorage } from "./index.ts";

/** These tests cut connections and stop the server, so they use their own, whose commits reach the disk. */
describe("an unavailable database", () => {
	let server: PostgresServer;
	let url: string;
	let world: World;

	beforeAll(async () => {
		server = await PostgresServer.start({ own: true, fsync: true });
	});
	beforeEach(async () => {
		url = await server.createDatabase();
		world = await worldOf((clock) => openNode(url, clock));
	});
	afterEach(() => world.dispose());
	afterAll(() => server.stop());

	const codeOf = async (call: Promise<unknown>): Promise<string> => {
		const error = await call.then(
			() => null,
			(reason: unknown) => reason,
		);
		expect(error).toBeInstanceOf(StorageError);
		return (error as StorageError).code;
	};

	/** Ends every connection of the service, as a failover or an impatient administrator does. */
	const cutConnections = () =>
		server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthorn'");

	const set = async (name: string, value: string) => {
		await server.execute(`ALTER SYSTEM SET ${name} = '${value}'`);
		await server.execute("SELECT pg_reload_conf()");
		// A session that begins later shows whether the server has reread its settings.
		await until("the setting", async () => {
			const [row] = await server.execute(`SHOW ${name}`);
			return row![name] === value;
		});
	};

	/** Ends a commit's wait for a standby. */
	const cancelWait = () =>
		until("a commit to wait for the standby", async () => {
			const waiting = "application_name = 'posthorn' AND wait_event = 'SyncRep'";
			const canceled = await server.execute(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE ${waiting}`);
			return canceled.length > 0;
		});

	test("while it is down every call fails as such; once it is back, calls succeed over new connections", async () => {
		const project = await world.project();
		await world.publish(project, "a");
		await server.kill();
		const calls = [
			world.storage.ping(),
			world.storage.nextAlarm(),
			world.storage.getSetting({ name: "x" }),
			world.storage.settle({ settlements: [] }).then(() => world.storage.gauges()),
			world.publish(project, "a"),
		];
		// Any of them may fail first.
		expect(new Set(await Promise.all(calls.map(codeOf)))).toEqual(new Set(["lost"]));
		await server.startAgain();
		await world.publish(project, "a");
		expect((await world.log(project)).map(({ seq }) => seq)).toEqual([1, 2]);
	});

	test("confirmed writes survive a crash, and unconfirmed ones can be repeated safely", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const lease = await world.lease(project);
		const answered = new Set<string>();
		const events: NewEvent[] = [];
		const many = Promise.withResolvers<void>();
		const publish = async (event: NewEvent) => {
			const result = await world.append({ projectId: project, publishedAt: 1, events: [event] });
			expect(result.kind).toBe("appended");
			if (answered.add(event.id).size >= 100) many.resolve();
		};
		const publishUntilLost = async (): Promise<void> => {
			for (;;) {
				const event = world.event(project, "a");
				events.push(event);
				await publish(event);
			}
		};
		/** As clients do: a busy machine may take longer to commit than a call waits. */
		const publishUntilAnswered = async (event: NewEvent): Promise<void> => {
			for (;;)
				try {
					return await publish(event);
				} catch (error) {
					if ((error as StorageError).code !== "lost") throw error;
				}
		};
		const publishers = Array.from({ length: 200 }, () => codeOf(publishUntilLost()));
		await many.promise;
		await server.kill();
		expect(new Set(await Promise.all(publishers))).toEqual(new Set(["lost"]));
		await server.startAgain();
		const there = new Set((await world.log(project)).map(({ id }) => id));
		expect([...answered].filter((id) => !there.has(id))).toEqual([]);
		await Promise.all(events.map(publishUntilAnswered));
		const log = await world.log(project);
		expect(log.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
		expect(new Set(log.map(({ id }) => id)).size).toBe(events.length);
		// The lease has survived the crash.
		expect(await world.settle(lease, { lanes: [{ webhookId: webhook, position: 1, open: [] }] })).toBe("settled");
	});

	// PostgreSQL then reports success, with a warning. After a failover, an acknowledged event was missing.
	test("a commit whose wait for a standby is canceled isn't confirmed, nor is its repetition", async () => {
		const project = await world.project();
		await world.publish(project, "a");
		const [event, other] = [world.event(project, "a"), world.event(project, "a")];
		const publish = (one = event) => world.append({ projectId: project, publishedAt: 1, events: [one] });
		await set("synchronous_standby_names", "gone");
		for (let times = 0; times < 2; times++) {
			const [code] = await Promise.all([codeOf(publish()), cancelWait()]);
			expect(code).toBe("lost");
		}
		// The server's default wouldn't send the warning. The connections of the service are opened again.
		await set("client_min_messages", "error");
		await cutConnections();
		const [code] = await Promise.all([codeOf(publish(other)), cancelWait()]);
		expect(code).toBe("lost");
		await set("synchronous_standby_names", "");
		await set("client_min_messages", "notice");
		for (const one of [event, other]) expect(await publish(one)).toMatchObject({ kind: "appended" });
		expect((await world.log(project)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
	});

	// The repetition found no basket and was acknowledged. After a failover, the basket was there again, and abandoned.
	test("removing a basket again isn't confirmed before its first removal is", async () => {
		const projectId = await world.project();
		const data = "{}";
		await world.storage.touchBasket({ projectId, touch: { basketId: "b", at: START, dueAt: START + 1, data } });
		const remove = () => world.storage.removeBasket({ projectId, basketId: "b" });
		await set("synchronous_standby_names", "gone");
		for (let times = 0; times < 2; times++) {
			const [code] = await Promise.all([codeOf(remove()), cancelWait()]);
			expect(code).toBe("lost");
		}
		await set("synchronous_standby_names", "");
		expect(await remove()).toBe("absent");
	});

	test("a settlement repeated after its commit is settled once", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const events = await world.publish(project, "a", "a");
		const lease = await world.lease(project);
		const settlement = {
			projectId: project,
			generation: lease.generation,
			attempts: [
				world.attempt(webhook, events[0]!, { status: "failed" as const }),
				world.attempt(webhook, events[1]!, { status: "retrying" as const }),
			],
			schedule: [{ webhookId: webhook, seq: 2, queue: "retry" as const, replay: 0, attempt: 2, dueAt: 5 }],
			unschedule: [],
			lanes: [{ webhookId: webhook, position: 2, open: [] }],
		};
		for (let times = 0; times < 3; times++) {
			expect(await world.storage.settle({ settlements: [settlement] })).toEqual(["settled"]);
			expect(await world.storage.gauges()).toMatchObject({ backlog: 0, retriesWaiting: 1, deadLetters: 1 });
		}
		const other = { ...settlement, attempts: [settlement.attempts[0]!] };
		expect(await world.storage.settle({ settlements: [other] })).toEqual(["settled"]);
		const mixed = { ...settlement, attempts: [settlement.attempts[0]!, world.attempt(webhook, events[1]!)] };
		expect(await world.storage.settle({ settlements: [mixed] })).toEqual(["stale"]);
	});

	test("settling continues through cut connections, and each attempt is logged and counted once", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const events = await world.publish(project, ...Array.from({ length: 60 }, () => "a"));
		const lease = await world.lease(project);
		for (const event of events) {
			const attempts = [world.attempt(webhook, event, { status: "failed" })];
			const about = { attempts, lanes: [{ webhookId: webhook, position: event.seq, open: [] }] };
			const [verdict] = await Promise.all([insist(() => world.settle(lease, about)), cutConnections()]);
			expect(verdict).toBe("settled");
		}
		expect(await insist(() => world.storage.gauges())).toMatchObject({ backlog: 0, deadLetters: events.length });
		const [count] = await server.execute("SELECT count(*)::int FROM posthorn.attempts", url);
		expect(count).toEqual({ count: events.length });
	});

	test("publishing continues through cut connections: no duplicates, no losses, and no new event reported as repeated", async () => {
		const project = await world.project();
		await world.publish(project, "a");
		const results: boolean[] = [];
		for (let published = 0; published < 100; published++) {
			const events = [world.event(project, "a")];
			const request = { projectId: project, publishedAt: world.clock.now(), events };
			let asked = 0;
			const publish = () => {
				asked++;
				return world.append(request);
			};
			const [result] = await Promise.all([insist(publish), cutConnections()]);
			if (result.kind !== "appended") throw new Error(`Publishing ended as ${result.kind}.`);
			// An event that a failed call may have committed is a repetition for the next call, but new within one call.
			if (asked === 1) results.push(result.events[0]!.repeated);
		}
		expect(results).not.toContain(true);
		const log = await insist(() => world.log(project));
		expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 101 }, (_, i) => i + 1));
	});

	// Waiting for a connection's end once failed if the connection broke instead, and ended the process.
	test("closing completes while connections are being cut", async () => {
		const project = await world.project();
		for (let round = 0; round < 20; round++) {
			const storage = await openPostgresStorage({ url, clock: world.clock, leaseTermMs: LEASE_TERM_MS });
			await Promise.all(Array.from({ length: 4 }, () => storage.getProject({ projectId: project })));
			await Promise.all([cutConnections(), storage.close()]);
		}
	});

	// Outcomes were once refused as if they were faulty, and the same events sent again with every lease.
	test("a schema changed by another version is reported as such, and waiting outcomes are settled once it fits", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		const lease = await world.lease(project);
		const lanes = [{ webhookId: webhook, position: 1, open: [] }];
		const settle = () => world.settle(lease, { attempts: [world.attempt(webhook, event!)], lanes });
		await server.execute("ALTER TABLE posthorn.attempt_counts RENAME COLUMN minute TO minutes", url);
		expect(await codeOf(settle())).toBe("unusable");
		await server.execute("ALTER TABLE posthorn.attempt_counts RENAME COLUMN minutes TO minute", url);
		expect(await settle()).toBe("settled");
	});

	// Outcomes were refused and their requests repeated, as if an outcome were faulty.
	test.each([
		["table", "ALTER TABLE posthorn.retries RENAME TO elsewhere", "ALTER TABLE posthorn.elsewhere RENAME TO retries"],
		[
			"key",
			"ALTER TABLE posthorn.retries DROP CONSTRAINT retries_pkey",
			"ALTER TABLE posthorn.retries ADD CONSTRAINT retries_pkey PRIMARY KEY (project_no, seq, webhook_no)",
		],
	])("outcomes wait while a %s is missing", async (_, remove, putBack) => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		const lease = await world.lease(project);
		const schedule = [{ webhookId: webhook, seq: 1, queue: "retry" as const, replay: 0, attempt: 2, dueAt: 5 }];
		const attempts = [world.attempt(webhook, event!, { status: "retrying" })];
		const settle = () => world.settle(lease, { attempts, schedule });
		await server.execute(remove, url);
		expect(await codeOf(settle())).toBe("unusable");
		await server.execute(putBack, url);
		expect(await settle()).toBe("settled");
	});

	describe("while row-level security hides rows from the owner", () => {
		let own: World;
		let ownUrl: string;
		const force = (table: string, which = "") =>
			server.execute(
				`ALTER TABLE posthorn.${table} ENABLE ROW LEVEL SECURITY, ${which} FORCE ROW LEVEL SECURITY`,
				ownUrl,
			);

		beforeEach(async () => {
			const owner = `owner_${randomUUID().replaceAll("-", "")}`;
			ownUrl = await server.createDatabase();
			await server.execute(`CREATE ROLE ${owner} LOGIN; CREATE SCHEMA posthorn AUTHORIZATION ${owner}`, ownUrl);
			const asOwner = Object.assign(new URL(ownUrl), { username: owner }).href;
			own = await worldOf((clock) => openNode(asOwner, clock));
		});
		afterEach(() => own.dispose());

		// Statements found nothing, as if projects and webhooks had been deleted.
		test("calls fail", async () => {
			const project = await own.project();
			const webhook = await own.webhook(project, ["a"]);
			const getWebhook = () => own.storage.getWebhook({ projectId: project, webhookId: webhook });
			await force("webhooks");
			await expect(getWebhook()).rejects.toMatchObject({
				code: "unusable",
				message: expect.stringMatching(/row-level security policy for table "webhooks": .*NO FORCE ROW LEVEL SECURITY/),
			});
			// It still applies to others.
			await force("webhooks", "NO");
			expect(await getWebhook()).not.toBeNull();
		});

		// The transaction was committed, but the event was lost.
		test("publishing by SQL fails", async () => {
			const project = await own.project();
			const event = `'${project}', 'customer.created', '{"customer_email":"a@b.example"}'`;
			const publish = () => server.execute(`SELECT posthorn.publish(${event})`, ownUrl);
			for (const table of ["projects", "logs", "events", "leases"]) {
				await force(table);
				await expect(publish(), table).rejects.toMatchObject({ code: "42501" });
				await force(table, "NO");
			}
			await publish();
			expect(await own.log(project)).toHaveLength(1);
		});
	});

	// Such outcomes were dropped, and their requests repeated, even while the cause lasted.
	test("outcomes wait while something in the database keeps them from being written", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const events = await world.publish(project, "a", "a", "a");
		const lease = await world.lease(project);
		const name = new URL(url).pathname.slice(1);
		const settle = (at: number) =>
			world.settle(lease, {
				attempts: [world.attempt(webhook, events[at]!, { startedAt: START })],
				lanes: [{ webhookId: webhook, position: at + 1, open: [] }],
			});
		await server.execute(
			`CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
			CREATE TRIGGER refuse BEFORE INSERT ON posthorn.attempts FOR EACH ROW EXECUTE FUNCTION public.refuse()`,
			url,
		);
		expect(await codeOf(settle(0))).toBe("unusable");
		await server.execute("DROP TRIGGER refuse ON posthorn.attempts", url);
		expect(await settle(0)).toBe("settled");

		const day = "attempts_20261121";
		await server.execute(`ALTER TABLE posthorn.attempts DETACH PARTITION posthorn.${day}`, url);
		expect(await codeOf(settle(1))).toBe("unusable");
		await server.execute(`ALTER TABLE posthorn.${day} SET SCHEMA public`, url);
		expect(await settle(1)).toBe("settled");

		await server.execute(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
		await cutConnections();
		expect(await codeOf(insistOn("not currently accepting", () => settle(2)))).toBe("unusable");
		await server.execute(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
		expect(await settle(2)).toBe("settled");
	});

	// The sweep failed, and nodes could not start. A day in another schema kept the sweep in a loop, without a pause.
	test("partitions that an administrator added to the delivery log, or moved elsewhere, are left alone", async () => {
		await world.project();
		await server.execute(
			`CREATE TABLE public.older PARTITION OF posthorn.attempts FOR VALUES FROM ('0') TO ('00000001');
			ALTER TABLE posthorn.attempts_20261121 SET SCHEMA public`,
			url,
		);
		await (await openNode(url, world.clock)).close();
		const cutoff = world.clock.now() + 10 * 86_400_000;
		let steps = 0;
		for (let from: number | null = 0; from !== null && steps < 100; steps++)
			from = (await world.storage.sweepAttempts({ cutoff, limit: 10, from })).next;
		expect(steps).toBeLessThan(100);
		const days =
			"SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'posthorn.attempts'::regclass";
		expect(await server.execute(`${days} ORDER BY name`, url)).toEqual([
			{ name: "attempts_20261121" },
			{ name: "older" },
		]);
	});

	// It was taken for a day that another node had dropped, and the sweep repeated the same day without a pause.
	test("the sweep of the delivery log fails while another table is missing", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		await world.finish(await world.lease(project), webhook, event!, "failed");
		const cutoff = world.clock.now() + 10 * 86_400_000;
		const step = (from: number) => world.storage.sweepAttempts({ cutoff, limit: 10, from });
		await server.execute("ALTER TABLE posthorn.lanes RENAME TO elsewhere", url);
		await expect(step(0)).rejects.toMatchObject({
			code: "unusable",
			message: expect.stringContaining("posthorn.lanes"),
		});
		await server.execute("ALTER TABLE posthorn.elsewhere RENAME TO lanes", url);
		expect(await step(0)).toMatchObject({ deleted: 1 });
	});

	// The log had the driver's error, which doesn't name the view.
	test("a view of a day keeps it from being dropped, and is named", async () => {
		await world.project();
		await server.execute("CREATE VIEW public.report AS SELECT FROM posthorn.attempts_20261121", url);
		const cutoff = world.clock.now() + 10 * 86_400_000;
		const step = () => world.storage.sweepAttempts({ cutoff, limit: 10, from: 0 });
		await expect(step()).rejects.toMatchObject({
			code: "unusable",
			message: expect.stringMatching(/cannot drop table .*: view public\.report depends on table/),
		});
		await server.execute("DROP VIEW public.report", url);
		await step();
	});

	// Outcomes were refused, so their requests were repeated.
	test("outcomes wait while another partition is in the place of their day", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		const lease = await world.lease(project);
		const attempt = world.attempt(webhook, event!, { startedAt: START });
		const settle = () =>
			world.settle(lease, { attempts: [attempt], lanes: [{ webhookId: webhook, position: 1, open: [] }] });
		await server.execute(
			`DO $$ DECLARE bounds text; BEGIN
				SELECT pg_get_expr(relpartbound, oid) INTO bounds FROM pg_class
				WHERE oid = 'posthorn.attempts_20261121'::regclass;
				DROP TABLE posthorn.attempts_20261121;
				EXECUTE 'CREATE TABLE public.others PARTITION OF posthorn.attempts ' || bounds;
			END $$`,
			url,
		);
		expect(await codeOf(settle())).toBe("unusable");
		await server.execute("ALTER TABLE posthorn.attempts DETACH PARTITION public.others", url);
		expect(await settle()).toBe("settled");

		await server.execute(
			`ALTER TABLE posthorn.attempts DETACH PARTITION posthorn.attempts_20261121;
			ALTER TABLE posthorn.attempts ATTACH PARTITION public.others DEFAULT;
			INSERT INTO posthorn.attempts SELECT * FROM posthorn.attempts_20261121;
			DROP TABLE posthorn.attempts_20261121`,
			url,
		);
		expect(await codeOf(openNode(url, world.clock))).toBe("unusable");
	});

	test("a read-only database counts as unavailable for writes", async () => {
		const project = await world.project();
		const name = new URL(url).pathname.slice(1);
		await server.execute(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
		await cutConnections();
		expect(
			await codeOf(insistOn("read-only", () => world.storage.setDeveloperApp({ projectId: project, installed: true }))),
		).toBe("lost");
		expect(await world.log(project)).toEqual([]);
		await server.execute(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
		// Sessions that began before are unchanged, and are left alone.
		expect((await world.storage.setDeveloperApp({ projectId: project, installed: true }))?.id).toBe(project);
	});
});

/** Retries what is lost, as the engine does. */
const insist = <T>(call: () => Promise<T>): Promise<T> => again(call, (error) => error.code === "lost");

/** The same until a call fails for the named reason. */
const insistOn = <T>(reason: string, call: () => Promise<T>): Promise<T> =>
	again(call, (error) => !error.message.includes(reason));

async function again<T>(call: () => Promise<T>, mayPass: (error: StorageError) => boolean): Promise<T> {
	const { value } = await until("the database to respond", async () => {
		try {
			return { value: await call() };
		} catch (error) {
			if (!(error instanceof StorageError) || !mayPass(error)) throw error;
			return null;
		}
	});
	return value;
}
