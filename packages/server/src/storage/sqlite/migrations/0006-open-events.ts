/**
 * A lane now stores its position and its open events. It used to store a cursor and the events settled beyond it, which
 * grew with every event delivered while one was in flight. The open events are those between the two that are
 * subscribed to and not settled.
 */
export const sql = `
ALTER TABLE lanes RENAME COLUMN cursor TO position;
ALTER TABLE lanes ADD COLUMN open TEXT;
UPDATE lanes SET
	position = (SELECT max(lanes.position, max(value)) FROM json_each(lanes.ahead)),
	open = (
		SELECT nullif(json_group_array(seq), '[]')
		FROM (
			SELECT e.seq
			FROM webhooks w
				JOIN subscriptions s ON s.webhook_no = w.no
				JOIN events e ON e.project_no = w.project_no AND e.type = s.type AND e.seq > s.from_seq
			WHERE w.no = lanes.webhook_no
				AND e.seq > lanes.position AND e.seq < (SELECT max(value) FROM json_each(lanes.ahead))
				AND e.seq NOT IN (SELECT value FROM json_each(lanes.ahead))
			ORDER BY e.seq
		)
	)
WHERE ahead IS NOT NULL;
ALTER TABLE lanes DROP COLUMN ahead;
`;
