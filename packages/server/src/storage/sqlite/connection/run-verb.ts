/** Runs a verb that is written once for both engines. */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import type { Query, Row } from "../../verbs/sql.ts";
import { type Natives, runSync, type Step, type Steps } from "../../verbs/verb.ts";
import type { Connection } from "./connection.ts";

/** Columns that hold what SQLite has no type for, by table. */
const CONVERTED: Readonly<Record<string, (value: string | number) => unknown>> = {
	"projects.developer": Boolean,
	"accounts.operator": Boolean,
	"sessions.by_link": Boolean,
	"audit.detail": (text) => JSON.parse(text as string),
};

type Convert = (row: Row) => Row;

/** By statement how its rows are converted, if they are. */
const converters = new WeakMap<StatementSync, Convert | null>();

function converterOf(statement: StatementSync): Convert | null {
	const known = converters.get(statement);
	if (known !== undefined) return known;
	const columns = statement.columns().flatMap(({ table, column, name }) => {
		const convert = CONVERTED[`${table}.${column}`];
		return convert === undefined ? [] : [{ name, convert }];
	});
	const convert = (row: Row): Row => {
		for (const { name, convert } of columns) row[name] = convert(row[name] as string | number);
		return row;
	};
	const converter = columns.length === 0 ? null : convert;
	converters.set(statement, converter);
	return converter;
}

function runQuery(c: Connection, { template, values }: Query): Row[] {
	const statement = c.sql(template.text("sqlite"));
	const sent = values.map((value): SQLInputValue => (typeof value === "boolean" ? Number(value) : value));
	const rows: Row[] = statement.all(...sent);
	const convert = rows.length === 0 ? null : converterOf(statement);
	return convert === null ? rows : rows.map(convert);
}

/** @param tellPeers by default there are none: one process has the file */
export function runVerb<R>(c: Connection, steps: Steps<R>, tellPeers: Natives["tellPeers"] = () => undefined): R {
	return runSync(steps, (step: Step) => {
		if ("queries" in step) return step.queries.map((query) => runQuery(c, query));
		switch (step.call[0]) {
			case "findProject":
				return c.names.project(step.call[1]);
			case "lockAccounts":
				// There is one writer.
				return undefined;
			case "tellPeers":
				return tellPeers(step.call[1]);
		}
	});
}
