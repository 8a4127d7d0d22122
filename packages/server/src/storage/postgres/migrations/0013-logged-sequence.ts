/**
 * The sequence of an unlogged table is unlogged as well. A standby may be promoted before it has written that to disk, and
 * then it cannot be read ("bad magic number in sequence"): stores could no longer publish by SQL.
 */
export const sql = `
ALTER TABLE posthorn.publishing ALTER COLUMN no DROP IDENTITY;
CREATE SEQUENCE posthorn.publishing_order;
ALTER TABLE posthorn.publishing ALTER COLUMN no SET DEFAULT nextval('posthorn.publishing_order');
`;
