import { within } from "@posthorn/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR_KEY, TestApi } from "../../test/api/api.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;

test("what a filter matches is exported in both formats, named, and audited", async () => {
	const project = await api.project();
	await api.webhook(project);
	const [, second, third] = await api.deliver(project, 200, 500, 500);
	const csv = await api.call("GET", `${project}/deliveries/export.csv?state=failed`);
	expect(csv.status).toBe(200);
	expect(csv.headers["content-type"]).toMatch(/^text\/csv/);
	expect(csv.headers["content-disposition"]).toMatch(
		/^attachment; filename="[a-z0-9-]+_deliveries_filtered_\d{4}-\d\d-\d\dT\d\d-\d\d\.csv"$/,
	);
	for (const [query, which] of [
		["", "all_"],
		["?until=2026-11-24T10:00:00Z", "all_"],
		["?since=2026-11-24T10:00:00Z", ""],
	]) {
		const { headers } = await api.call("HEAD", `${project}/attempts/export.csv${query}`);
		expect(headers["content-disposition"]).toMatch(new RegExp(`_attempts_${which}\\d{4}-`));
	}
	const [head, ...rows] = csv.text.trimEnd().split("\r\n");
	expect(head).toMatch(/^last_attempt_at,state,handled,event_type,event_id,/);
	expect(rows.map((row) => row.split(",")[4])).toEqual([third, second]);

	const jsonl = await api.call("GET", `${project}/attempts/export.jsonl?status=delivered`);
	const lines = jsonl.text.trimEnd().split("\n");
	expect(lines.map((line) => JSON.parse(line))).toEqual([
		expect.objectContaining({ status: "delivered", status_code: 200, attempt: 1, test: false }),
	]);
	expect((await api.call("GET", `${project}/audit`)).json.data.slice(0, 2)).toMatchObject([
		{ action: "log.exported", detail: { what: "attempts", format: "jsonl", filter: { status: ["delivered"] } } },
		{ action: "log.exported", detail: { what: "deliveries", format: "csv", filter: { state: ["failed"] } } },
	]);
	expect((await api.call("GET", `${project}/attempts/export.csv?status=nope`)).status).toBe(422);
	const elsewhere = await api.call("GET", `${project}/attempts/export.csv`, {
		headers: { "sec-fetch-site": "cross-site" },
	});
	expect(elsewhere.status).toBe(403);
});

// Readers that take JSON strictly refused the whole page.
test("the audit log keeps no half of a character where it cuts a long value", async () => {
	const project = await api.project();
	const order = `${"x".repeat(99)}🎺`;
	await api.call("GET", `${project}/attempts/export.csv?order_id=${encodeURIComponent(order)}`);
	const [entry] = (await api.call("GET", `${project}/audit`)).json.data;
	expect(entry).toMatchObject({ detail: { filter: { order_id: [`${"x".repeat(99)}\ufffd`] } } });
});

test("an export reads page by page, and releases its slot at the end, even after an error", async () => {
	const project = await api.project();
	await api.webhook(project);
	await api.deliver(project, 200);
	const page = await api.storage.listAttemptSummaries({ projectId: idOf(project), filter: {}, page: { limit: 1 } });
	const real = api.storage.listAttemptSummaries;
	let calls = 0;
	api.storage.listAttemptSummaries = async () => ({
		rows: Array.from({ length: 200 }, () => page.rows[0]!),
		next: ++calls < 3 ? page.rows[0]!.id : null,
	});
	try {
		for (const _ of [1, 2]) {
			calls = 0;
			const { text, status } = await api.call("GET", `${project}/attempts/export.csv`);
			expect([status, text.split("\r\n").length, calls]).toEqual([200, 1 + 600 + 1, 3]);
		}
		api.storage.listAttemptSummaries = async () => {
			throw new Error("The database is down.");
		};
		for (const _ of [1, 2]) expect((await api.call("GET", `${project}/attempts/export.csv`)).status).toBe(500);
	} finally {
		api.storage.listAttemptSummaries = real;
	}
});

test("an export whose client leaves in the middle stops reading and releases its slot", async () => {
	const project = await api.project();
	await api.webhook(project);
	await api.deliver(project, 200);
	const { rows } = await api.storage.listAttemptSummaries({ projectId: idOf(project), filter: {}, page: { limit: 1 } });
	const real = api.storage.listAttemptSummaries;
	const [reading, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	let furtherPages = 0;
	let isEndless = true;
	api.storage.listAttemptSummaries = async ({ page }) => {
		if (!isEndless && page.before === undefined) return { rows: [], next: null };
		if (page.before !== undefined && ++furtherPages === 2) {
			reading.resolve();
			await held.promise;
		}
		return { rows: Array.from({ length: 200 }, () => rows[0]!), next: rows[0]!.id };
	};
	const url = await api.app.listen({ host: "127.0.0.1", port: 0 });
	const closed = new Promise<void>((resolve) =>
		api.app.server.once("connection", (socket) => socket.once("close", () => resolve())),
	);
	try {
		const left = new AbortController();
		const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
		const response = await fetch(`${url}${project}/attempts/export.csv`, { headers, signal: left.signal });
		expect(response.status).toBe(200);
		// It reads its second further page.
		await within("the export to read on", reading.promise);
		isEndless = false;
		expect((await api.call("GET", `${project}/attempts/export.csv`)).status).toBe(429);
		left.abort();
		await within("the service to notice", closed);
		expect((await api.call("GET", `${project}/attempts/export.csv`)).status).toBe(200);
		held.resolve();
		// Exports that come later are read to their end, and the one that was left isn't read any further.
		for (const _ of [1, 2]) expect((await api.call("GET", `${project}/attempts/export.csv`)).status).toBe(200);
		expect(furtherPages).toBe(2);
	} finally {
		held.resolve();
		api.storage.listAttemptSummaries = real;
	}
});

test("a principal runs one export at a time", async () => {
	const project = await api.project();
	const real = api.storage.listAttemptSummaries;
	const reading = Promise.withResolvers<void>();
	const held = Promise.withResolvers<void>();
	api.storage.listAttemptSummaries = async () => {
		reading.resolve();
		await held.promise;
		return { rows: [], next: null };
	};
	try {
		const first = api.call("GET", `${project}/attempts/export.csv`);
		await reading.promise;
		const second = await api.call("GET", `${project}/attempts/export.csv`);
		expect([second.status, second.headers["retry-after"]]).toEqual([429, "10"]);
		held.resolve();
		expect((await first).status).toBe(200);
		expect((await api.call("GET", `${project}/attempts/export.csv`)).status).toBe(200);
	} finally {
		api.storage.listAttemptSummaries = real;
	}
});

test("an export says that it may lack events that aren't indexed yet, or that are too many", async () => {
	const project = await api.project();
	const real = api.parts.references.findAttempted;
	const found = { seqs: [], since: null };
	try {
		for (const [given, last] of [
			[{ complete: true, capped: false }, null],
			[{ complete: false, capped: false }, "Not complete: some events aren't indexed yet. Export again in a moment."],
			[
				{ complete: true, capped: true },
				"Not complete: only the newest events of each order id or customer are searched.",
			],
		] as const) {
			api.parts.references.findAttempted = async () => ({ ...found, ...given });
			const { text } = await api.call("GET", `${project}/deliveries/export.jsonl?order_id=1042`);
			expect(text).toBe(last === null ? "" : `${JSON.stringify({ incomplete: last })}\n`);
		}
	} finally {
		api.parts.references.findAttempted = real;
	}
});
