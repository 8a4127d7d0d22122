/**
 * A settle now leaves its counts in one row, with an element per attempt. It used to leave a row per webhook and
 * response-time bucket, which were nearly as many as the attempts. Arrays are stored uncompressed, because the row is
 * short-lived. The old table's pending counts are added here, once no node uses it any longer.
 */
export const sql = `
LOCK TABLE posthorn.attempt_counts IN ACCESS EXCLUSIVE MODE;
INSERT INTO posthorn.attempt_stats AS s (project_no, webhook_no, grain, at, status, class, n)
SELECT project_no, scope.webhook_no, grain.ms, minute * 60000 / grain.ms, status, class, sum(n)
FROM posthorn.attempt_counts counts
	CROSS JOIN LATERAL (VALUES (counts.webhook_no), (0)) AS scope (webhook_no)
	CROSS JOIN (VALUES (60000), (3600000)) AS grain (ms)
GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (project_no, webhook_no, grain, at, status, class) DO UPDATE SET n = s.n + excluded.n;
DROP TABLE posthorn.attempt_counts;
CREATE TABLE posthorn.attempt_counts (
	project_no bigint[] NOT NULL,
	webhook_no bigint[] NOT NULL,
	minute bigint[] NOT NULL,
	status smallint[] NOT NULL,
	class smallint[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
ALTER TABLE posthorn.attempt_counts
	ALTER project_no SET STORAGE EXTERNAL, ALTER webhook_no SET STORAGE EXTERNAL, ALTER minute SET STORAGE EXTERNAL,
	ALTER status SET STORAGE EXTERNAL, ALTER class SET STORAGE EXTERNAL;
`;
