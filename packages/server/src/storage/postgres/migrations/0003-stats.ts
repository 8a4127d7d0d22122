/**
 * Counts of attempts by minute and by hour, so that statistics cost the same for a log of any length.
 *
 * - A settle leaves what it logged in `attempt_counts`, counted by minute: rows there are only ever added. Occasionally
 *   one statement moves them into `attempt_stats`, so each attempt is counted in exactly one of the two, and readers
 *   add both up.
 * - In `attempt_stats`, `webhook_no` 0 means all of the project's webhooks together, including deleted ones.
 * - `at` is the minute or hour since the Unix epoch, as `grain` says (60,000 or 3,600,000 ms).
 * - `class` is a response-time bucket: 0 begins at 1 ms, and each bucket ends where the next begins, at 2^¼ times its
 *   start; −1 is for attempts closed without a request.
 */
export const sql = `
CREATE TABLE posthorn.attempt_counts (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	minute bigint NOT NULL,
	n bigint NOT NULL,
	status smallint NOT NULL,
	class smallint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE posthorn.attempt_stats (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	at bigint NOT NULL,
	n bigint NOT NULL,
	grain integer NOT NULL,
	status smallint NOT NULL,
	class smallint NOT NULL,
	PRIMARY KEY (project_no, webhook_no, grain, at, status, class)
) WITH (fillfactor = 70);
CREATE INDEX attempt_stats_by_age ON posthorn.attempt_stats (grain, at);
`;
