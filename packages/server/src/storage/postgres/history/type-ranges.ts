/**
 * Events of one type in the order of the log, written so that only `events_by_type` fits. With plain equality, the
 * planner may use another index and skip over all other types, which are many events if the type is rare.
 */

/** The first events of a type after a `seq`: the end of a SELECT from `posthorn.events`. */
export const firstOfType = (project: string, type: string, after: string): string => `
	WHERE project_no = ${project} AND (type, seq) > (${type}, ${after}) AND type <= ${type} ORDER BY type, seq`;

/** The last events of a type in the log: the end of a SELECT from `posthorn.events`. */
export const lastOfType = (project: string, type: string): string => `
	WHERE project_no = ${project} AND (type, seq) > (${type}, 0) AND (type, seq) <= (${type}, ${Number.MAX_SAFE_INTEGER})
	ORDER BY type DESC, seq DESC`;
