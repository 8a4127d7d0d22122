/** Runs a verb that is written once for both engines. */
import type { Template } from "../../verbs/sql.ts";
import { type NativeCall, runAsync, type Step, type Steps } from "../../verbs/verb.ts";
import { findProject } from "./find.ts";
import type { Session } from "./session.ts";
import { type Statement, sql } from "./sql.ts";
import { LOCK_ACCOUNTS } from "./whole.ts";

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

export function runVerb<R>(c: Session, steps: Steps<R>): Promise<R> {
	return runAsync(steps, (step) => perform(c, step));
}
