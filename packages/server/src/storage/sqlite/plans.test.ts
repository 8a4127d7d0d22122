import { beforeAll, describe, expect, test } from "vitest";
import { RecordedSuite } from "../../../test/storage/conformance/recorded.ts";
import { describeColdVerbs } from "../../../test/storage/conformance/suite.ts";
import { explainEveryOperation } from "../../../test/storage/sqlite/every-plan.ts";

const suite = new RecordedSuite(describeColdVerbs);

describe("the statements of all verbs", () => {
	/** The steps of each plan, by the text of its statement. */
	let plans: ReadonlyMap<string, readonly string[]>;
	let preparedAgain: number;
	let plannedForValues: readonly string[];
	beforeAll(async () => {
		({ plans, preparedAgain, plannedForValues } = await explainEveryOperation(suite));
	});

	test("none is prepared again before it runs, which takes longer than most of them", () => {
		expect(preparedAgain).toBe(0);
	});

	// With the SQLite of Node 24.22 and 26.12, half of them were prepared each time.
	test("none is planned for the values that columns equal", () => {
		expect(plannedForValues).toEqual([]);
	});

	/**
	 * Steps over small tables (a row per event type, or per webhook's type), over no table, or over what another part of
	 * the statement found: ranges up to a limit, buckets of an index, and the counts of a range of the log.
	 */
	const SMALL =
		/^SCAN (event_types|jsonb?_each|(?:event|newest) VIRTUAL TABLE|CONSTANT ROW|\(subquery-\d+\)|minutes|b$|buckets$|found$|newest$|read$|g$)/;
	const allOf = (text: string): string[] =>
		[...plans].filter(([sql]) => sql.includes(text)).flatMap(([, plan]) => plan);

	test("no operation scans a table, except the gauge that counts projects", () => {
		const walks = [...plans].filter(([, plan]) => plan.some((step) => step.startsWith("SCAN") && !SMALL.test(step)));
		expect(walks.map(([text]) => text)).toEqual(["SELECT count(*) AS count FROM projects"]);
	});

	test("no operation sorts, except an event's attempts and a counted range of the log", () => {
		const sorts = [...plans].filter(([, plan]) => plan.some((step) => step.includes("TEMP B-TREE")));
		const counts = sorts.filter(([text]) => text.includes("INSERT INTO attempt_stats"));
		expect(counts.map(([, plan]) => plan.filter((step) => /attempts/.test(step)))).toEqual([
			["SEARCH attempts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"],
		]);
		const others = sorts.filter((sort) => !counts.includes(sort));
		expect(others.length).toBeGreaterThan(5);
		for (const [, plan] of others)
			expect(plan.filter((step) => step.startsWith("SEARCH"))).toEqual([
				expect.stringMatching(/^SEARCH attempts USING COVERING INDEX attempts_by_delivery \(project_no=\? AND seq=\?/),
				"SEARCH attempts USING INTEGER PRIMARY KEY (rowid=?)",
			]);
	});

	/** A filter's ranges as they are written in SQL. */
	const FROM_RANGE = "FROM attempts WHERE";

	test("the delivery log is a merge of ranges of the index that fits its filter", () => {
		const ranges = (text: string) => allOf(text).filter((step) => step.startsWith("SEARCH"));
		const bound = "status=? AND type=? AND id>? AND id<?";
		const byProject = `SEARCH attempts USING COVERING INDEX attempts_by_project (project_no=? AND ${bound})`;
		const byWebhook = `SEARCH attempts USING COVERING INDEX attempts_by_webhook (webhook_no=? AND ${bound})`;
		// Pages and counts only read the index; replay steps and filters by status code read rows as well.
		for (const columns of ["SELECT no, id", "SELECT 1"]) {
			expect(new Set(ranges(`${columns} ${FROM_RANGE} project_no = ?1`))).toEqual(new Set([byProject]));
			expect(new Set(ranges(`${columns} ${FROM_RANGE} webhook_no = ?4`))).toEqual(new Set([byWebhook]));
		}
		expect(new Set(ranges(`status, id ${FROM_RANGE} project_no = ?1`))).toEqual(
			new Set([byProject.replace("COVERING ", "")]),
		);
		expect(new Set(ranges(`status, id ${FROM_RANGE} webhook_no = ?4`))).toEqual(
			new Set([byWebhook.replace("COVERING ", "")]),
		);
		expect(new Set(ranges(`seq, status_code, error_code, id ${FROM_RANGE} project_no = ?1`))).toEqual(
			new Set([byProject.replace("COVERING ", "")]),
		);
		expect(new Set(ranges(`seq, status_code, error_code, id ${FROM_RANGE} webhook_no = ?4`))).toEqual(
			new Set([byWebhook.replace("COVERING ", "")]),
		);
		expect(allOf("UNION ALL").filter((step) => step === "MERGE (UNION ALL)").length).toBeGreaterThan(5);
	});

	test("due retries, the log, alarms and backlogs are each one range of their index", () => {
		const planOf = (text: string) => new Set(allOf(text));
		expect(planOf("attempt, due_at FROM retries WHERE webhook_no = ? AND queue = ? AND (due_at, seq)")).toEqual(
			new Set(["SEARCH retries USING INDEX retries_by_due (webhook_no=? AND queue=? AND (due_at,seq)>(?,?))"]),
		);
		expect(planOf("seq > ? ORDER BY seq LIMIT ?")).toEqual(
			new Set(["SEARCH events USING INDEX events_by_seq (project_no=? AND seq>?)"]),
		);
		expect(planOf("wake_at <= ?")).toEqual(
			new Set(["SEARCH projects USING INDEX projects_by_alarm (wake_at>? AND wake_at<?)"]),
		);
		expect(planOf("wake_at = 0 WHERE wake_at > ?")).toEqual(
			new Set(["SEARCH projects USING INDEX projects_by_alarm (wake_at>?)"]),
		);
		expect(planOf("wake_at = 0 AND no > ?")).toEqual(
			new Set(["SEARCH projects USING INDEX projects_by_alarm (wake_at=? AND rowid>?)"]),
		);
		expect(planOf("type_seq FROM events")).toEqual(
			new Set([
				"SEARCH events USING COVERING INDEX events_by_type (project_no=? AND type=? AND seq>?)",
				"SEARCH events USING COVERING INDEX events_by_type (project_no=? AND type=?)",
			]),
		);
	});

	test("statistics are one range of counts and the end of the log; health is single steps in an index", () => {
		const planOf = (text: string) => new Set(allOf(text));
		expect(planOf("SELECT at, status, class, n FROM attempt_stats")).toEqual(
			new Set(["SEARCH attempt_stats USING PRIMARY KEY (scope=? AND grain=? AND at>? AND at<?)"]),
		);
		expect(planOf("SELECT started_at AS at, status")).toEqual(
			new Set([
				"SEARCH attempts USING INTEGER PRIMARY KEY (rowid>?)",
				"SCALAR SUBQUERY 1",
				"SEARCH stats_progress USING INTEGER PRIMARY KEY (rowid=?)",
			]),
		);
		expect(planOf("SELECT seq, published_at FROM events")).toEqual(
			new Set(["SEARCH events USING INDEX events_by_seq (project_no=? AND seq>? AND seq<?)"]),
		);
		const range = "webhook_no=? AND status=? AND type";
		expect(planOf("SELECT type FROM attempts")).toEqual(
			new Set([`SEARCH attempts USING COVERING INDEX attempts_by_webhook (${range}>?)`]),
		);
		expect(planOf("type = ? AND id < ? ORDER BY id DESC LIMIT 1")).toEqual(
			new Set([`SEARCH attempts USING COVERING INDEX attempts_by_webhook (${range}=? AND id<?)`]),
		);
		// Row by row, until enough of them count.
		for (const order of ["ASC", "DESC"])
			expect(planOf(`id < ? ORDER BY id ${order} LIMIT 1000`)).toEqual(
				new Set([`SEARCH attempts USING INDEX attempts_by_webhook (${range}=? AND id>? AND id<?)`]),
			);
		expect(allOf("total(n) FILTER").filter((step) => step.startsWith("SEARCH"))).toEqual([
			"SEARCH attempt_stats USING PRIMARY KEY (scope=? AND grain=? AND at>? AND at<?)",
			"SEARCH attempts USING INTEGER PRIMARY KEY (rowid>?)",
			"SEARCH stats_progress USING INTEGER PRIMARY KEY (rowid=?)",
		]);
		expect(planOf("AND due_at <= ?")).toEqual(
			new Set(["SEARCH retries USING INDEX retries_by_due (webhook_no=? AND queue=? AND due_at<?)"]),
		);
	});

	test("members, audit entries and expiring rows are each found by an index", () => {
		const planOf = (text: string) => new Set(allOf(text));
		expect(planOf("FROM audit WHERE project_no")).toEqual(
			new Set([
				"SEARCH audit USING INDEX audit_by_project (project_no=? AND id<?)",
				"SEARCH audit USING INDEX audit_by_target (project_no=? AND target_id=? AND id<?)",
				"SEARCH audit USING INDEX audit_by_actor (project_no=? AND actor_id=? AND id<?)",
			]),
		);
		const subquery = "LIST SUBQUERY 1";
		expect(planOf("DELETE FROM audit")).toEqual(
			new Set([
				"SEARCH audit USING INTEGER PRIMARY KEY (rowid=?)",
				subquery,
				"SEARCH audit USING COVERING INDEX audit_by_age (at<?)",
			]),
		);
		expect(planOf("FROM memberships m CROSS JOIN accounts")).toEqual(
			new Set([
				"SEARCH m USING PRIMARY KEY (project_no=? AND account_id>?)",
				"SEARCH m USING PRIMARY KEY (project_no=? AND account_id=?)",
				"SEARCH a USING PRIMARY KEY (id=?)",
			]),
		);
		for (const [table, key] of [
			["sessions", "id"] as const,
			["links", "token_hash"] as const,
			["invitations", "id"] as const,
		])
			expect(planOf(`SELECT ${key} FROM ${table} WHERE expires_at`)).toEqual(
				new Set([
					`SEARCH ${table} USING PRIMARY KEY (${key}=?)`,
					subquery,
					`SEARCH ${table} USING COVERING INDEX ${table}_by_expiry (expires_at<?)`,
				]),
			);
		expect(planOf("role = 'owner'")).toEqual(
			new Set(["SEARCH memberships USING COVERING INDEX memberships_of_owners (project_no=?)"]),
		);
	});
});
