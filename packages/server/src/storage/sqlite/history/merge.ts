/**
 * Reads several index ranges as one, in order: SQLite merges them row by row, without sorting and without reading
 * further than necessary.
 *
 * @param ranges selects without ORDER BY, each of which its index can return in the order of `orderBy`
 */
export function mergedRanges(ranges: readonly string[], orderBy: string): string {
	return `${ranges.join(" UNION ALL ")} ORDER BY ${orderBy} LIMIT ?`;
}
