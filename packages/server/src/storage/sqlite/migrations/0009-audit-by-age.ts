/** Entries of the audit log are found by their age, to be deleted. */
export const sql = "CREATE INDEX audit_by_age ON audit (at);";
