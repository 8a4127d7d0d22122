import type { PostgresServer } from "@posthorn/testkit/postgres";
import { migratePostgres } from "../../../src/storage/postgres/index.ts";

/** Larger tables are truncated, which takes the same time for any size, and longer than deleting a few rows. */
const LARGE_BYTES = 1_000_000;

/** Saves what migrations wrote, and the sequences' positions. */
const KEEP = `
	DO $$ DECLARE one record; filled boolean;
	BEGIN
		CREATE SCHEMA initial;
		CREATE TABLE initial.sequences AS SELECT sequencename, start_value, last_value FROM pg_sequences WHERE schemaname = 'posthorn';
		FOR one IN SELECT relname FROM pg_class WHERE relnamespace = 'posthorn'::regnamespace AND relkind = 'r' LOOP
			EXECUTE format('SELECT EXISTS (SELECT FROM posthorn.%I)', one.relname) INTO filled;
			IF filled THEN EXECUTE format('CREATE TABLE initial.%1$I AS TABLE posthorn.%1$I', one.relname); END IF;
		END LOOP;
	END $$`;

const RESTORE = `
	SET session_replication_role = replica;
	SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid();
	DROP SCHEMA public CASCADE;
	CREATE SCHEMA public AUTHORIZATION pg_database_owner;
	GRANT USAGE ON SCHEMA public TO PUBLIC;
	DO $$ DECLARE one record;
	BEGIN
		FOR one IN
			SELECT oid, relname, relispartition FROM pg_class WHERE relnamespace = 'posthorn'::regnamespace AND relkind = 'r'
		LOOP
			IF one.relispartition THEN EXECUTE format('DROP TABLE posthorn.%I', one.relname);
			ELSIF pg_relation_size(one.oid) > ${LARGE_BYTES} THEN EXECUTE format('TRUNCATE posthorn.%I CASCADE', one.relname);
			ELSE EXECUTE format('DELETE FROM posthorn.%I', one.relname);
			END IF;
		END LOOP;
		FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'initial' AND tablename <> 'sequences' LOOP
			EXECUTE format('INSERT INTO posthorn.%1$I OVERRIDING SYSTEM VALUE SELECT * FROM initial.%1$I', one.tablename);
		END LOOP;
		PERFORM setval(format('posthorn.%I', sequencename), coalesce(last_value, start_value), last_value IS NOT NULL)
			FROM initial.sequences;
	END $$`;

/** Emptied databases, by server. */
const free = new WeakMap<PostgresServer, string[]>();

/**
 * A database with the current schema, as if new. One that another test returned is emptied and reused, which takes a
 * fraction of the time of creating and migrating one.
 *
 * @returns its URL
 */
export async function takeDatabase(server: PostgresServer): Promise<string> {
	const used = free.get(server)?.pop();
	if (used !== undefined) return used;
	const url = await server.createDatabase();
	await migratePostgres(url);
	await server.execute(KEEP, url);
	return url;
}

/** Empties it for the next test. Remaining connections are cut; changes to our schema stay. */
export async function giveDatabaseBack(server: PostgresServer, url: string): Promise<void> {
	await server.execute(RESTORE, url);
	free.set(server, [...(free.get(server) ?? []), url]);
}
