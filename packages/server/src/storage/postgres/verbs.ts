/** The cold verbs on PostgreSQL. */
import { type ColdStorage, VERBS } from "../verbs/index.ts";
import type { Template } from "../verbs/sql.ts";
import { bind, type NativeCall, runAsync, type Step } from "../verbs/verb.ts";
import type { DatabaseCalls } from "./calls.ts";
import { findProject } from "./connection/find.ts";
import type { Session } from "./connection/session.ts";
import { type Statement, sql } from "./connection/sql.ts";
import { LOCK_ACCOUNTS } from "./connection/whole.ts";

const statements = new WeakMap<Template, Statement>();

function statementOf(template: Template): Statement {
	let statement = statements.get(template);
	if (statement === undefined) {
		statement = sql(template.text("postgres"));
		statements.set(template, statement);
	}
	return statement;
}

async function callNative(c: Session, call: NativeCall): Promise<unknown> {
	switch (call[0]) {
		case "findProject":
			return findProject(c, call[1]);
		case "lockAccounts":
			return c.run(LOCK_ACCOUNTS);
		case "tellPeers":
			return c.changed.add(call[1]);
	}
}

function perform(c: Session, step: Step): Promise<unknown> {
	if ("call" in step) return callNative(c, step.call);
	return Promise.all(step.queries.map(({ template, values }) => c.rows(statementOf(template), ...values)));
}

export function coldVerbs(calls: DatabaseCalls): ColdStorage {
	return bind(VERBS, (_, { mode, steps }, p) => {
		const work = (c: Session) => runAsync(steps(p), (step) => perform(c, step));
		switch (mode) {
			case "read":
				return calls.read(work);
			case "snapshot":
				return calls.readTogether(work);
			case "write":
				return calls.write(work);
			case "writeInProject":
				return calls.writeTo(p.projectId as string, work);
		}
	});
}
