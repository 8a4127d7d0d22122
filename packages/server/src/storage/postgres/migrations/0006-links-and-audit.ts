/**
 * Nodes that start together each print a set-up link, and each of these holds: there may be several now. Who makes the
 * operator's account holds a lock of its own instead. Entries of the audit log are found by their age, to be deleted.
 */
export const sql = `
DROP INDEX posthorn.links_for_setup;
CREATE INDEX audit_by_age ON posthorn.audit (at);
`;
