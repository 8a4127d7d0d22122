/** Nodes that start together each print a set-up link, and each of these holds: there may be several now. */
export const sql = `
DROP INDEX links_for_setup;
`;
