import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verbsOn } from "../../../../test/storage/sqlite/verbs-on.ts";
import { Connection, openWriter } from "../connection/connection.ts";
import { migrate } from "../migrations/index.ts";

const MANY = 4_000;
const MAX_SCANNED = 500;
const FAR_FROM_ANY = { response: { codes: [{ from: 500, to: 599 }], maxScanned: MAX_SCANNED } };

let directory: string;
let c: Connection;
let verbs: ReturnType<typeof verbsOn>;

beforeAll(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(directory, "posthorn.db");
	const db = openWriter(path);
	migrate(db, path);
	c = new Connection(db);
	verbs = verbsOn(c);
	verbs.createProject({ id: "p", name: "Shop", apps: ["developer"], createdAt: 0 });
	const about = {
		projectId: "p",
		url: "",
		description: "",
		maxInFlight: 2,
		createdAt: 0,
		sealedDigest: new Uint8Array(),
	};
	verbs.createWebhook({ ...about, id: "w", events: ["a"], maxPerProject: 10 });
	const event = { id: "evt_1", type: "a", createdAt: 0, createdAtGiven: true, body: new Uint8Array(9) };
	verbs.appendEvents({ requests: [{ projectId: "p", publishedAt: 1, events: [event] }] });
	const insert = db.prepare(`
		INSERT INTO attempts (id, project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at,
			response_ms, response_truncated, url, response_body)
		SELECT printf('%026d', ?1), p.no, w.no, 1, ?1, 1, t.code, 2 + ?1 % 2, 404, 1, 1, 0, '', ''
		FROM projects p, webhooks w, event_types t`);
	db.exec("BEGIN");
	for (let n = 1; n <= MANY; n++) insert.run(n);
	db.exec("COMMIT");
});
afterAll(async () => {
	c.close();
	await rm(directory, { recursive: true });
});

test("a page far from any match reads a bounded number of attempts and says where to continue", () => {
	let before: string | undefined;
	for (let pages = 1; pages <= MANY / MAX_SCANNED; pages++) {
		const page = { limit: 10, ...(before === undefined ? {} : { before }) };
		const { rows, next } = verbs.listAttemptSummaries({ projectId: "p", filter: FAR_FROM_ANY, page });
		// Each page continues where the previous one stopped.
		expect([rows, next]).toEqual([[], `att_${String(MANY + 1 - pages * MAX_SCANNED).padStart(26, "0")}`]);
		before = next!;
	}
	expect(
		verbs.listAttempts({ projectId: "p", filter: FAR_FROM_ANY, page: { limit: 10, maxBytes: 1, before: before! } }),
	).toEqual({
		rows: [],
		next: null,
	});
});

test("a count far from any match reads a bounded number of attempts", () => {
	expect(verbs.countAttempts({ projectId: "p", filter: FAR_FROM_ANY, max: 10_000 })).toEqual({
		count: 0,
		capped: true,
	});
});

test("a replay step far from any match reads a bounded number of attempts", () => {
	const step = verbs.countMatching({ projectId: "p", selection: FAR_FROM_ANY, at: Date.UTC(2026, 10, 21), limit: 10 });
	expect(step).toMatchObject({ count: 0, next: `att_${String(MAX_SCANNED).padStart(26, "0")}` });
});

test("nothing is read if no status can have such a response", () => {
	expect(
		verbs.countAttempts({ projectId: "p", filter: { statuses: ["delivered"], ...FAR_FROM_ANY }, max: 10_000 }).capped,
	).toBe(false);
	const success = { codes: [{ from: 200, to: 299 }], maxScanned: MAX_SCANNED };
	expect(
		verbs.countAttempts({ projectId: "p", filter: { statuses: ["failed"], response: success }, max: 10_000 }).capped,
	).toBe(false);
	expect(verbs.countAttempts({ projectId: "p", filter: { response: success }, max: 10_000 })).toEqual({
		count: 0,
		capped: false,
	});
});
