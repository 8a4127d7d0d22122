/**
 * A lane now stores its position and its open events. It used to store a cursor and the events settled beyond it, which
 * grew with every event delivered while one was in flight. The open events are those between the two that are
 * subscribed to and not settled.
 */
export const sql = `
LOCK TABLE posthorn.lanes IN ACCESS EXCLUSIVE MODE;
ALTER TABLE posthorn.lanes RENAME cursor TO position;
ALTER TABLE posthorn.lanes ADD open bigint[] NOT NULL DEFAULT '{}';
UPDATE posthorn.lanes l SET
	position = (SELECT max(seq) FROM unnest(l.ahead || l.position) AS seq),
	open = ARRAY(
		SELECT e.seq
		FROM posthorn.subscriptions s
			JOIN posthorn.events e ON e.project_no = s.project_no AND e.type = s.type AND e.seq > s.from_seq
		WHERE s.project_no = l.project_no AND s.webhook_no = l.webhook_no
			AND e.seq > l.position AND e.seq < (SELECT max(seq) FROM unnest(l.ahead) AS seq)
			AND NOT e.seq = ANY (l.ahead)
		ORDER BY e.seq
	)
WHERE l.ahead <> '{}';
ALTER TABLE posthorn.lanes DROP ahead;
`;
