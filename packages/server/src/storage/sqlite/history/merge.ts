/**
 * Several index ranges read as one, in order: SQLite merges them row by row, without sorting and without reading
 * further than it is asked to.
 *
 * @param ranges selects without ORDER BY, each of which its index can answer in the order of `orderBy`
 */
export function mergedRanges(ranges: readonly string[], orderBy: string): string {
	return `${ranges.join(" UNION ALL ")} ORDER BY ${orderBy} LIMIT ?`;
}
