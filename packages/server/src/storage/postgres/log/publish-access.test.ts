import { readFile } from "node:fs/promises";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { clock, publish, refusal, SharedDatabase } from "../../../../test/storage/postgres/publish.ts";
import { migratePostgres, openPostgresStorage } from "../index.ts";

const DENIED = "42501";

let server: PostgresServer;
let database: SharedDatabase;
let owner: Client;
let role: string;
/** Owns a schema of a guide's example. */
let schemaOwner: string;
let store: Client;
let event: { project: string; type: string; data: string };

beforeAll(async () => {
	// Roles log in without passwords.
	server = await PostgresServer.start({ own: true });
});
afterAll(() => server.stop());
beforeEach(async () => {
	database = await SharedDatabase.open(server);
	owner = await database.connect();
	role = await database.role();
	schemaOwner = await database.role();
	store = await database.connect(role);
	event = { project: await database.project(), type: "customer.created", data: "{}" };
});
afterEach(async () => {
	await owner.query(`DROP OWNED BY ${role}, ${schemaOwner} CASCADE`);
	await database.close();
});

const grant = (client = owner, to = role) =>
	client.query(`
		GRANT USAGE ON SCHEMA posthorn TO ${to};
		GRANT EXECUTE ON FUNCTION posthorn.publish TO ${to}`);

test("a role needs exactly the guide's grants to publish", async () => {
	expect((await refusal(publish(store, event))).code).toBe(DENIED);
	await owner.query(`GRANT USAGE ON SCHEMA posthorn TO ${role}`);
	expect((await refusal(publish(store, event))).code).toBe(DENIED);
	await grant();
	const id = await publish(store, event);
	expect((await database.log(event.project)).map((stored) => stored.id)).toEqual([id]);
});

test("it can do nothing else in the schema", async () => {
	await grant();
	const { rows } = await owner.query<{ table: string; function: string }>(`
		SELECT c.oid::regclass::text AS table FROM pg_class c WHERE c.relnamespace = 'posthorn'::regnamespace AND c.relkind IN ('r', 'p', 'S')`);
	expect(rows.length).toBeGreaterThan(20);
	for (const { table } of rows) {
		expect((await refusal(store.query(`SELECT FROM ${table}`))).code, table).toBe(DENIED);
		expect((await refusal(store.query(`INSERT INTO ${table} DEFAULT VALUES`))).code, table).toBe(DENIED);
	}
	const { rows: functions } = await owner.query<{ name: string }>(
		`SELECT p.proname AS name FROM pg_proc p
		WHERE p.pronamespace = 'posthorn'::regnamespace AND has_function_privilege($1, p.oid, 'EXECUTE') ORDER BY 1`,
		[role],
	);
	expect(functions.map(({ name }) => name)).toEqual(["id_at", "now_ms", "publish"]);
	const code = async (sql: string) => (await refusal(store.query(sql))).code;
	expect(await code("CREATE TABLE posthorn.mine ()")).toBe(DENIED);
	expect(await code("ALTER TABLE posthorn.publishing DISABLE TRIGGER ALL")).toBe(DENIED);
});

test("functions in the caller's search path don't run with the owner's rights", async () => {
	await owner.query(`GRANT CREATE ON DATABASE ${new URL(database.url).pathname.slice(1)} TO ${role}`);
	await grant();
	await store.query(`
		CREATE SCHEMA mine;
		CREATE FUNCTION mine.fail(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
		CREATE FUNCTION mine.btrim(text, text) RETURNS text LANGUAGE sql AS 'SELECT mine.fail($1)';
		CREATE FUNCTION mine.to_json(text) RETURNS text LANGUAGE sql AS 'SELECT mine.fail($1)';
		CREATE FUNCTION mine.id_given(boolean, boolean) RETURNS boolean LANGUAGE sql AS 'SELECT mine.fail(NULL) IS NULL';
		CREATE OPERATOR mine.= (FUNCTION = mine.id_given, LEFTARG = boolean, RIGHTARG = boolean);
		CREATE TEMP TABLE events (n integer);
		CREATE TEMP TABLE publishing (n integer);
		SET search_path = mine, pg_temp, pg_catalog, posthorn`);
	expect((await refusal(store.query("SELECT btrim('', '')"))).message).toBe("called");
	const { rows } = await store.query("SELECT publish($1, $2, $3, 'evt_1') AS id", Object.values(event));
	expect(rows).toEqual([{ id: "evt_1" }]);
	expect(await database.log(event.project)).toHaveLength(1);
});

// They ran with the rights of the node, because they fit the arguments better than PostgreSQL's own.
test.each(["nodes", "migrations"])("%s use no operators of the store's role", async (which) => {
	const url = await server.createDatabase();
	if (which === "nodes") await migratePostgres(url);
	await server.execute(`GRANT CREATE ON SCHEMA public TO ${role}`, url);
	const used = "INSERT INTO public.used VALUES (current_user)";
	await server.execute(
		`SET ROLE ${role};
		CREATE TABLE public.used (by text); GRANT INSERT ON public.used TO PUBLIC;
		CREATE FUNCTION public.joined(bigint, text) RETURNS text LANGUAGE plpgsql AS
			$$ BEGIN ${used}; RETURN $1::text || $2; END $$;
		CREATE FUNCTION public.times(numeric, integer) RETURNS numeric LANGUAGE plpgsql AS
			$$ BEGIN ${used}; RETURN $1 * $2::numeric; END $$;
		CREATE OPERATOR public.|| (FUNCTION = public.joined, LEFTARG = bigint, RIGHTARG = text);
		CREATE OPERATOR public.* (FUNCTION = public.times, LEFTARG = numeric, RIGHTARG = integer)`,
		url,
	);
	await (await openPostgresStorage({ url, clock, leaseTermMs: 1_000 })).close();
	expect(await server.execute("SELECT by FROM public.used", url)).toEqual([]);
	await server.dropDatabase(url);
});

test("the guide's examples work", async () => {
	const guide = await readFile(
		new URL("../../../../../../docs/operations/publish-from-sql.md", import.meta.url),
		"utf8",
	);
	await grant(owner, schemaOwner);
	const examples = [...guide.matchAll(/```sql\n([^`]*)```/g)].map(([, text]) =>
		text!
			.replaceAll("shop_app", role)
			.replaceAll(/(AUTHORIZATION|ROLE) posthorn\b/g, `$1 ${schemaOwner}`)
			.replaceAll(/proj_\w{26}/g, event.project),
	);
	const [, rights, ownFunction, transaction] = examples as [string, string, string, string];
	await owner.query(`
		CREATE TABLE public.orders (order_id text, email text, amount_cents bigint, currency text, state text);
		INSERT INTO orders VALUES ('ord_10482', 'ada@example.com', 1999, 'EUR', 'open');
		GRANT ALL ON orders TO ${role}`);
	await owner.query(ownFunction);
	await store.query("SELECT shop_events.publish('customer.created', '{}')");
	// It belonged to the administrator who created it, and ran with all of their rights.
	const { rows } = await owner.query(
		"SELECT DISTINCT proowner::regrole::text AS by FROM pg_proc WHERE proname = 'publish' AND pronamespace = 'shop_events'::regnamespace",
	);
	expect(rows).toEqual([{ by: schemaOwner }]);
	expect((await refusal(publish(store, event))).code).toBe(DENIED);
	await owner.query(rights);
	await store.query(transaction);
	await store.query(transaction);
	const [, paid, ...more] = await database.log(event.project);
	expect([paid!.id, paid!.type, more]).toEqual(["evt_paid-ord_10482", "purchase.completed", []]);
});
