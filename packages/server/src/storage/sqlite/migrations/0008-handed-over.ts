/** Attempts that were in flight when their project's lease was released, until they are settled or their time has passed. */
export const sql = `
CREATE TABLE handed_over (
	project_no INTEGER NOT NULL,
	webhook_no INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	replay INTEGER NOT NULL,
	queue INTEGER,
	generation INTEGER NOT NULL,
	until INTEGER NOT NULL,
	PRIMARY KEY (project_no, webhook_no, seq)
) WITHOUT ROWID;
`;
