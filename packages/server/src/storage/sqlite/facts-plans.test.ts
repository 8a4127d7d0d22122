import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { describeFacts } from "../../../test/storage/conformance/facts.ts";
import { RecordedSuite } from "../../../test/storage/conformance/recorded.ts";
import { verbsOn } from "../../../test/storage/sqlite/verbs-on.ts";
import { Connection, openWriter } from "./connection/connection.ts";
import { migrate } from "./migrations/index.ts";

const suite = new RecordedSuite(describeFacts);

describe("the statements of all verbs", () => {
	/** The plan steps of every statement on store facts, by its text. */
	const plans = new Map<string, string[]>();
	beforeAll(async () => {
		const directory = await mkdtemp(join(tmpdir(), "posthorn-"));
		const path = join(directory, "posthorn.db");
		const db = openWriter(path);
		migrate(db, path);
		const prepare = db.prepare.bind(db);
		db.prepare = (text) => {
			if (text.includes("store_")) {
				const steps = prepare(`EXPLAIN QUERY PLAN ${text}`).all();
				plans.set(
					text,
					steps.map(({ detail }) => String(detail)),
				);
			}
			return prepare(text);
		};
		const connection = new Connection(db);
		try {
			const verbs = verbsOn(connection);
			await suite.repeat((verb: keyof typeof verbs, p: never, at) => verbs[verb](p, { now: at, until: at + 1_000 }));
		} finally {
			connection.close();
			await rm(directory, { recursive: true });
		}
	});

	test("every fact is found by its key, no matter how many others exist", () => {
		expect(plans.size).toBeGreaterThan(20);
		for (const [text, steps] of plans) {
			expect(
				steps.filter((step) => step.includes("TEMP B-TREE")),
				text,
			).toEqual([]);
			// A parameter's rows are few, and read without writing each as text.
			const walks = steps.filter((step) => /^SCAN (?!CONSTANT ROW|jsonb_each VIRTUAL TABLE)/.test(step));
			// One step at the beginning of the index.
			const ofNext = text.includes("ORDER BY due_at LIMIT 1");
			expect(walks, text).toEqual(ofNext ? ["SCAN store_baskets USING COVERING INDEX store_baskets_by_due"] : []);
		}
	});

	test("due baskets are a range of their times, however many are pending", () => {
		const [, steps] = [...plans].find(([text]) => text.includes("due_at <= ?"))!;
		expect(steps).toEqual([
			"SEARCH store_baskets USING INTEGER PRIMARY KEY (rowid=?)",
			"LIST SUBQUERY 1",
			"SEARCH store_baskets USING COVERING INDEX store_baskets_by_due (due_at<?)",
			"CORRELATED SCALAR SUBQUERY 2",
			"SEARCH p USING INTEGER PRIMARY KEY (rowid=?)",
		]);
	});
});
