/** Attempts that were in flight when their project's lease was released, until they are settled or their time has passed. */
export const sql = `
CREATE TABLE posthorn.handed_over (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	seq bigint NOT NULL,
	replay integer NOT NULL,
	queue smallint,
	generation bigint NOT NULL,
	until bigint NOT NULL,
	PRIMARY KEY (project_no, webhook_no, seq)
);
`;
