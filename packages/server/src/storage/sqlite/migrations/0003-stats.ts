/**
 * Counts of attempts by minute and by hour, so that statistics cost the same for a log of any length.
 *
 * - `scope` is a webhook's number, or a project's number negated: all of its webhooks together, including deleted ones.
 * - `at` is the minute or hour since the Unix epoch, as `grain` says (60,000 or 3,600,000 ms).
 * - `class` is a response-time bucket: 0 begins at 1 ms, and each bucket ends where the next begins, at 2^¼ times its
 *   start; −1 is for attempts closed without a request.
 * - `stats_progress` records up to which row of `attempts` they are counted.
 */
export const sql = `
CREATE TABLE attempt_stats (
	scope INTEGER NOT NULL,
	grain INTEGER NOT NULL,
	at INTEGER NOT NULL,
	status INTEGER NOT NULL,
	class INTEGER NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (scope, grain, at, status, class)
) WITHOUT ROWID;
CREATE INDEX attempt_stats_by_age ON attempt_stats (grain, at);

CREATE TABLE stats_progress (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	counted_through INTEGER NOT NULL
);
INSERT INTO stats_progress (id, counted_through) SELECT 1, coalesce(max(no), 0) FROM attempts;

WITH minutes AS MATERIALIZED (
	SELECT project_no, webhook_no, started_at / 60000 AS minute, status,
		CASE WHEN sent_timestamp IS NULL THEN -1 ELSE CAST(4 * log2(max(response_ms, 1)) AS INTEGER) END AS class,
		count(*) AS n
	FROM attempts GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO attempt_stats (scope, grain, at, status, class, n)
SELECT scope, grain, at, status, class, sum(n) FROM (
	SELECT webhook_no AS scope, 60000 AS grain, minute AS at, status, class, n FROM minutes
	UNION ALL SELECT -project_no, 60000, minute, status, class, n FROM minutes
	UNION ALL SELECT webhook_no, 3600000, minute / 60, status, class, n FROM minutes
	UNION ALL SELECT -project_no, 3600000, minute / 60, status, class, n FROM minutes
)
WHERE grain = 3600000
	OR at > (SELECT started_at FROM attempts ORDER BY no DESC LIMIT 1) / 60000 - 2940
GROUP BY 1, 2, 3, 4, 5;
`;
