/**
 * Counts of attempts by minute and by hour, so that figures over time cost the same however long the log is.
 *
 * - `attempt_counts` is where a settle leaves what it logged, counted by minute: rows that are only ever added there.
 *   From time to time they are moved into `attempt_stats` in one statement, so each attempt is counted in exactly one of
 *   the two, and readers add both up.
 * - `webhook_no` 0 in `attempt_stats` stands for the project's webhooks together, deleted ones included.
 * - `at` is the minute or hour since the Unix epoch, as `grain` says (60,000 or 3,600,000 ms).
 * - `class` is a range of response times: 0 begins at 1 ms, and each of them ends where the next begins, at 2^¼ times its
 *   beginning; −1 is for what was closed without a request.
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
