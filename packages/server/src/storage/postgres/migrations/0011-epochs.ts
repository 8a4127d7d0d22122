/**
 * Records of servers that replaced each other (see epochs.ts), and durable commits.
 *
 * - `epochs` has a row for each stretch of the database's history, the current one last. `id` distinguishes two with
 *   the same number: the older one may have been lost together with everything written in it. `system` and `timeline`
 *   are those of the server. Before `open_at`, a lease only goes to the node that held it before.
 * - `log_forks` records where each log ended when an epoch began. `lost` is the last event beyond that which some node
 *   knows to be acknowledged; null if none is known.
 * - `publish` commits durably regardless of the store's session: with the session's setting, or `on` if that is weaker.
 */
export const sql = `
CREATE TABLE posthorn.epochs (
	no bigint PRIMARY KEY,
	id text COLLATE "C" NOT NULL,
	system text NOT NULL,
	timeline bigint NOT NULL,
	started_at bigint NOT NULL,
	open_at bigint NOT NULL
);

CREATE TABLE posthorn.log_forks (
	project_no bigint NOT NULL,
	epoch bigint NOT NULL,
	kept bigint NOT NULL,
	lost bigint,
	found_at bigint,
	PRIMARY KEY (project_no, epoch)
);
CREATE INDEX log_forks_by_epoch ON posthorn.log_forks (epoch);
CREATE INDEX log_forks_lost ON posthorn.log_forks (epoch, project_no) WHERE lost IS NOT NULL;

CREATE FUNCTION posthorn.commit_durably() RETURNS trigger LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION posthorn.commit_durably FROM PUBLIC;

CREATE TRIGGER commit_durably BEFORE INSERT ON posthorn.publishing
	FOR EACH STATEMENT EXECUTE FUNCTION posthorn.commit_durably();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER commit_durably;
`;
