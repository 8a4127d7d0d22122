/** Runs a verb that is written once for both engines. */

import type { Template } from "../verbs/sql.ts";
import { type Natives, type Part, runAsync, type Steps } from "../verbs/verb.ts";
import { findProject, findWebhook } from "./connection/names.ts";
import type { Session } from "./connection/session.ts";
import { type Statement, sql } from "./connection/session.ts";
import { LOCK_ACCOUNTS, lockProject, ringForChange } from "./lanes/locks.ts";
import { appendOfFacts, holdLogs } from "./log/append-rows.ts";

const statements = new WeakMap<Template, Statement>();

function statementOf(template: Template): Statement {
	let statement = statements.get(template);
	if (statement === undefined) {
		statement = sql(template.text("postgres"));
		statements.set(template, statement);
	}
	return statement;
}

const OPEN_LOG = sql(`
	WITH made AS (
		SELECT no FROM posthorn.projects WHERE id = $1
	), log AS (
		INSERT INTO posthorn.logs (project_no) SELECT no FROM made
	)
	INSERT INTO posthorn.leases (project_no) SELECT no FROM made`);

type Natively = { readonly [K in keyof Natives]: (c: Session, ...args: Parameters<Natives[K]>) => Promise<unknown> };

const NATIVES: Natively = {
	findProject,
	findWebhook,
	lockAccounts: (c) => c.run(LOCK_ACCOUNTS),
	tellPeers: async (c, project) => c.changed.add(project),
	openLog: (c, projectId) => c.run(OPEN_LOG, projectId),
	holdLog: (c, project) => holdLogs(c, [project], true),
	holdProject: (c, project) => lockProject(c, project),
	wake: ringForChange,
	toNodeTime: async (c, at) => c.offset.toNode(at),
	toDatabaseTime: async (c, at) => c.offset.toDatabase(at),
	async appendEvents(c, _, project, at, events) {
		const [appended] = await appendOfFacts(c, project, [{ at, events }]);
		return appended;
	},
};

function perform(c: Session, part: Part): Promise<unknown> {
	if ("template" in part) return c.rows(statementOf(part.template), ...part.values);
	const [name, ...args] = part.call;
	return (NATIVES[name] as (c: Session, ...args: unknown[]) => Promise<unknown>)(c, ...args);
}

export function runVerb<R>(c: Session, steps: Steps<R>): Promise<R> {
	return runAsync(steps, (part) => perform(c, part));
}
