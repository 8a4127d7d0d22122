/**
 * Nodes that start together each print a valid setup link, so there may now be several. Creating the operator's account
 * takes a separate lock instead. The new index finds audit entries by age, to delete them.
 */
export const sql = `
DROP INDEX posthorn.links_for_setup;
CREATE INDEX audit_by_age ON posthorn.audit (at);
`;
