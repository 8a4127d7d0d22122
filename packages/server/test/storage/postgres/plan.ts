/** A node of the output of EXPLAIN (FORMAT JSON). */
export interface Plan {
	readonly "Node Type": string;
	readonly "Relation Name"?: string;
	readonly "Index Name"?: string;
	readonly "Index Cond"?: string;
	readonly "Scan Direction"?: string;
	readonly Filter?: string;
	readonly Plans?: readonly Plan[];
}

export function walk<P extends Plan>(plan: P): P[] {
	return [plan, ...((plan.Plans ?? []) as P[]).flatMap((one) => walk(one))];
}

/** Treats the daily partitions of the delivery log as one table. */
export const tableOf = (plan: Plan): string | undefined => plan["Relation Name"]?.replace(/^attempts_\d+$/, "attempts");

/** The scans of `logs` and `lanes` that find rows otherwise than hot-rows.ts does, and pass all of their versions. */
export const scansOfAllVersions = (plan: Plan): Plan[] =>
	walk(plan).filter((scan) => {
		const isNewest = scan["Index Name"]?.endsWith("_by_stretch") && scan["Scan Direction"] === "Backward";
		const isOther = scan["Node Type"].includes("Scan") && !scan["Node Type"].startsWith("Tid ") && !isNewest;
		return isOther && ["logs", "lanes"].includes(tableOf(scan) ?? "");
	});

/** The columns that bound an index scan. */
export function boundColumns({ "Index Cond": bounds = "" }: Plan): ReadonlySet<string> {
	const found = bounds.replaceAll(/\((\w+) \+ 0\)/g, "$1").matchAll(/(?:^\(?|AND )\((?:ROW\(([\w, ]+)\)|(\w+)) /g);
	return new Set([...found].flatMap(([, row, column]) => (row ?? column!).split(", ")));
}

/** How many of an index's leading columns bound a scan, without a gap. */
function boundPrefix(plan: Plan, index: readonly string[]): number {
	const bound = boundColumns(plan);
	const gap = index.findIndex((column) => !bound.has(column));
	return gap < 0 ? index.length : gap;
}

/** Whether a scan is one range of its index, without a gap, or within the few rows of an event. */
export function isRange(plan: Plan, index: readonly string[]): boolean {
	const prefix = boundPrefix(plan, index);
	return prefix > 0 && (prefix === boundColumns(plan).size || index.slice(0, prefix).includes("seq"));
}

/** The columns of each index, by this statement. One that is indexed as a sum counts as the column. */
export const INDEX_COLUMNS = `
	SELECT c.relname AS index, array_agg(substring(pg_get_indexdef(c.oid, a.attnum, true) FROM '\\w+') ORDER BY a.attnum) AS columns
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'i' GROUP BY 1`;

/** Whether a node reads more of these tables than one event's rows, other than row by row or up to a limit. */
export function readsMany(node: Plan, tables: readonly string[]): boolean {
	const direct = (plan: Plan): Plan[] =>
		["Limit", "Nested Loop"].includes(plan["Node Type"]) ? [] : [plan, ...(plan.Plans ?? []).flatMap(direct)];
	const read = direct(node).filter((each) => tables.includes(tableOf(each) ?? ""));
	return read.some((scan) => !/\((id|seq) = /.test(scan["Index Cond"] ?? ""));
}
