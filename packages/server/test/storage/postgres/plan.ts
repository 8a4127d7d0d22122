/** A node of the output of EXPLAIN (FORMAT JSON). */
export interface Plan {
	readonly "Node Type": string;
	readonly "Relation Name"?: string;
	readonly "Index Name"?: string;
	readonly "Index Cond"?: string;
	readonly Filter?: string;
	readonly Plans?: readonly Plan[];
}

export function walk(plan: Plan): Plan[] {
	return [plan, ...(plan.Plans ?? []).flatMap(walk)];
}

/** Treats the daily partitions of the delivery log as one table. */
export const tableOf = (plan: Plan): string | undefined => plan["Relation Name"]?.replace(/^attempts_\d+$/, "attempts");

/** The columns that bound an index scan. */
export function boundColumns({ "Index Cond": bounds = "" }: Plan): ReadonlySet<string> {
	const found = bounds.matchAll(/(?:^\(?|AND )\((?:ROW\(([\w, ]+)\)|(\w+)) /g);
	return new Set([...found].flatMap(([, row, column]) => (row ?? column!).split(", ")));
}

/** How many of an index's leading columns bound a scan, without a gap. */
export function boundPrefix(plan: Plan, index: readonly string[]): number {
	const bound = boundColumns(plan);
	const gap = index.findIndex((column) => !bound.has(column));
	return gap < 0 ? index.length : gap;
}

/** Whether a node reads more of these tables than one event's rows, other than row by row or up to a limit. */
export function readsMany(node: Plan, tables: readonly string[]): boolean {
	const direct = (plan: Plan): Plan[] =>
		["Limit", "Nested Loop"].includes(plan["Node Type"]) ? [] : [plan, ...(plan.Plans ?? []).flatMap(direct)];
	const read = direct(node).filter((each) => tables.includes(tableOf(each) ?? ""));
	return read.some((scan) => !/\((id|seq) = /.test(scan["Index Cond"] ?? ""));
}
