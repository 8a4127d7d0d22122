/** The statements that verbs send, and what PostgreSQL reads for them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "pg";
import type { Plan } from "./plan.ts";

export interface Sent {
	readonly text: string;
	readonly values: readonly unknown[];
	/** The verb that sent it, if it was called by {@link callVerb}. */
	readonly verb?: string | undefined;
}

const currentVerb = new AsyncLocalStorage<string>();

/** Calls a verb, so that its statements are recorded with its name. */
export const callVerb = <T>(verb: string, call: () => T): T => currentVerb.run(verb, call);

/** A node of a plan that was run. */
export type Explained = Plan & {
	readonly "Actual Rows": number;
	readonly "Actual Loops": number;
	readonly "Rows Removed by Filter"?: number;
	readonly Plans?: readonly Explained[];
};

/** The rows that a scan reads, including those that it leaves out. */
export const rowsRead = (scan: Explained): number =>
	(scan["Actual Rows"] + (scan["Rows Removed by Filter"] ?? 0)) * scan["Actual Loops"];

/** Runs `work`. @returns the prepared statements that it sent */
export async function recordStatements(work: () => Promise<unknown>): Promise<Sent[]> {
	const sent: Sent[] = [];
	const send = Client.prototype.query as (...args: unknown[]) => unknown;
	Client.prototype.query = function (this: Client, ...args: unknown[]) {
		const [{ name, text, values = [] }] = args as [{ name?: string; text: string; values?: readonly unknown[] }];
		if (name !== undefined) sent.push({ text, values, verb: currentVerb.getStore() });
		return send.apply(this, args);
	} as typeof Client.prototype.query;
	try {
		await work();
	} finally {
		Client.prototype.query = send as typeof Client.prototype.query;
	}
	return sent;
}

/** Runs a statement again, on a connection with the sessions' settings, and undoes its changes. */
export async function explain(client: Client, { text, values }: Sent): Promise<Explained> {
	const literal = (value: unknown): string =>
		value === null ? "NULL" : client.escapeLiteral(Array.isArray(value) ? `{${value.join(",")}}` : String(value));
	const given = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
	await client.query("BEGIN");
	await client.query(`PREPARE explained AS ${text}`);
	const { rows } = await client.query({
		text: `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE explained ${given}`,
		rowMode: "array",
	});
	await client.query("DEALLOCATE explained");
	await client.query("ROLLBACK");
	return rows[0]![0][0].Plan as Explained;
}
