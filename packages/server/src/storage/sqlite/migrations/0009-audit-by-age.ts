/** Finds audit entries by age, to delete them. */
export const sql = "CREATE INDEX audit_by_age ON audit (at);";
