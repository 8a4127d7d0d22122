/** Nodes that start together each print a valid setup link, so there may now be several. */
export const sql = `
DROP INDEX links_for_setup;
`;
