/** Due projects are taken in turn by their numbers: the index has them in that order. */
export const sql = `
DROP INDEX posthorn.leases_by_alarm;
CREATE INDEX leases_by_alarm ON posthorn.leases (wake_at, project_no) WHERE wake_at IS NOT NULL;
`;
