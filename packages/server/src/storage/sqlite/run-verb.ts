/** Runs a verb that is written once for both engines. */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import type { Query, Row } from "../verbs/sql.ts";
import { type Natives, runSync, type Steps } from "../verbs/verb.ts";
import type { Connection } from "./connection/connection.ts";
import { appendOfFact } from "./facts/record.ts";
import { ringForChange } from "./lanes/lanes.ts";

/** Columns whose type SQLite lacks, by table. */
const json = (text: string | number | null): unknown => (text === null ? null : JSON.parse(text as string));
const CONVERTED: Readonly<Record<string, (value: string | number | null) => unknown>> = {
	"projects.developer": Boolean,
	"accounts.operator": Boolean,
	"sessions.by_link": Boolean,
	"audit.detail": json,
	"store_refunds.events": json,
	"store_chargebacks.events": json,
	"store_deliverables.events": json,
	"store_subscriptions.events": json,
	"store_subscriptions.cancel_events": json,
};

type Convert = (row: Row) => Row;

/** By statement, how its rows are converted, if they are. */
const converters = new WeakMap<StatementSync, Convert | null>();

function converterOf(statement: StatementSync): Convert | null {
	const known = converters.get(statement);
	if (known !== undefined) return known;
	const columns = statement.columns().flatMap(({ table, column, name }) => {
		const convert = CONVERTED[`${table}.${column}`];
		return convert === undefined ? [] : [{ name, convert }];
	});
	const convert = (row: Row): Row => {
		for (const { name, convert } of columns) row[name] = convert(row[name] as string | number | null);
		return row;
	};
	const converter = columns.length === 0 ? null : convert;
	converters.set(statement, converter);
	return converter;
}

function runQuery(c: Connection, { template, values }: Query<unknown>): Row[] {
	const statement = c.sql(template.text("sqlite"));
	const sent = values.map((value): SQLInputValue => (typeof value === "boolean" ? Number(value) : value));
	const rows: Row[] = statement.all(...sent);
	const convert = rows.length === 0 ? null : converterOf(statement);
	return convert === null ? rows : rows.map(convert);
}

type Perform = {
	readonly [K in keyof Natives]: (c: Connection, ...args: Parameters<Natives[K]>) => ReturnType<Natives[K]>;
};

/** There is one writer, so everything is held. */
const held = (): void => undefined;

const NATIVES: Omit<Perform, "tellPeers"> = {
	findProject: (c, projectId) => c.names.project(projectId),
	findWebhook: (c, project, webhookId) => c.names.webhook(project, webhookId),
	lockAccounts: held,
	// Both are in the project's row.
	openLog: () => undefined,
	holdLog: held,
	holdProject: held,
	wake: ringForChange,
	// One process owns the file, so there is one clock.
	toDatabaseTime: (_, at) => at,
	toNodeTime: (_, at) => at,
	appendEvents: (c, projectId, _, at, events) => appendOfFact(c, projectId, at, events),
};

/** @param tellPeers by default there are no peers: one process owns the file */
export function runVerb<R>(c: Connection, steps: Steps<R>, tellPeers: Natives["tellPeers"] = () => undefined): R {
	const natives: Perform = { ...NATIVES, tellPeers: (_, project) => tellPeers(project) };
	return runSync(steps, (part) => {
		if ("template" in part) return runQuery(c, part);
		const [name, ...args] = part.call;
		return (natives[name] as (c: Connection, ...args: unknown[]) => unknown)(c, ...args);
	});
}
