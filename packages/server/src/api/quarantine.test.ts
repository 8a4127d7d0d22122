import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { member, setUp } from "../../test/api/browser.ts";
import type { QuarantineMark } from "../storage/port.ts";

let api: TestApi;
let mark: QuarantineMark | null = { since: Date.UTC(2026, 10, 24, 10, 5), backupAt: Date.UTC(2026, 10, 23, 2) };
beforeAll(async () => {
	api = await TestApi.start({
		parts: () => ({
			quarantine: {
				get mark() {
					return mark;
				},
				read: async () => mark,
				async release() {
					const ended = mark !== null;
					mark = null;
					return ended;
				},
			},
		}),
	});
});
afterAll(() => api.close());

// e2e/restore.test.ts shows that nothing is sent.
test("shows a restored database to everyone, its pending deliveries to the operator, and refuses test events", async () => {
	const browser = await setUp(api);
	const [project, quiet] = [await api.project("Busy"), await api.project("Quiet")];
	const webhook = await api.webhook(project);
	await api.webhook(quiet);
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	await api.publish(project);
	await api.call("PATCH", webhook, { body: { description: "Accounting" } });

	const key = await api.keyOf(project);
	expect((await api.call("GET", "/v1/quarantine", { key })).json).toEqual({
		active: true,
		since: "2026-11-24T10:05:00.000Z",
		backup_at: "2026-11-23T02:00:00.000Z",
		detail: expect.stringMatching(/of 2026-11-23 02:00 UTC at 2026-11-24 10:05 UTC, .* posthorn release[^A]*$/),
	});
	// Only members who can revoke access see that it is back.
	const people = await Promise.all(
		(["owner", "developer", "viewer"] as const).map((role) => member(api, project, role, role)),
	);
	const details = await Promise.all(
		[browser, ...people].map(async (one) => (await one.call("GET", "/v1/quarantine")).json.detail as string),
	);
	expect(details.map((detail) => detail.includes("Access is as of the backup"))).toEqual([true, true, false, false]);
	expect((await api.call("GET", "/v1/quarantine")).json.detail).toContain("Access");
	expect((await browser.call("GET", "/v1/session")).json).toMatchObject({ quarantine: true });
	const ready = await api.call("GET", "/readyz");
	expect(ready.json).toMatchObject({ notice: expect.stringMatching(/quarantine/) });
	expect(ready.text).not.toContain("Access");

	const idOf = (path: string) => path.split("/").at(-1)!;
	const first = await api.call("GET", "/v1/quarantine/waiting?limit=1");
	expect(first.json.data).toEqual([
		{
			id: idOf(project),
			name: "Busy",
			webhooks: [
				{
					id: idOf(webhook),
					url: api.receiver.url(),
					description: "Accounting",
					status: "paused",
					backlog: { events: 1, oldest_seq: 1, oldest_at: expect.any(String) },
					waiting: { count: 0, tests: 0, next_at: null },
				},
			],
		},
	]);
	const second = await api.call("GET", `/v1/quarantine/waiting?limit=1&cursor=${first.json.next_cursor}`);
	expect(second.json).toEqual({ data: [{ id: idOf(quiet), name: "Quiet", webhooks: [] }], next_cursor: null });

	// Skipping its pending deliveries doesn't resume it.
	const skipped = await api.call("PATCH", webhook, { body: { from: "now" } });
	expect(skipped.json).toMatchObject({ status: "paused", backlog: { events: 0 } });
	await api.call("PATCH", webhook, { body: { status: "active" } });
	const tested = await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	expect([tested.status, tested.json.detail]).toEqual([409, expect.stringMatching(/restored from a backup/)]);

	const released = await api.call("POST", "/v1/quarantine/release");
	expect(released.json).toEqual({ active: false, since: null, backup_at: null, detail: null, released: true });
	expect((await api.call("POST", "/v1/quarantine/release")).json).toMatchObject({ active: false, released: false });
	expect((await browser.call("GET", "/v1/session")).json).toMatchObject({ quarantine: false });
	expect((await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } })).status).toBe(202);
});

// A page of projects with thousands of webhooks was too large to be sent, so the database couldn't be released.
test("a project with thousands of webhooks is listed on several pages", async () => {
	const idOf = (path: string) => path.split("/").at(-1)!;
	const shop = await api.project();
	await api.webhook(shop);
	const [webhook] = await api.parts.webhooks.list(idOf(shop), { limit: 1 });
	const [large, other] = [idOf(await api.project()), idOf(await api.project())];
	const ids = Array.from({ length: 1_234 }, (_, n) => `wh_${String(n).padStart(26, "0")}`);
	const list = vi.spyOn(api.parts.webhooks, "list").mockImplementation(async (projectId, { limit, after = "" }) =>
		(projectId === large ? ids : projectId === other ? ids.slice(0, 1) : [])
			.filter((id) => id > after)
			.slice(0, limit)
			.map((id) => ({
				webhook: { ...webhook!.webhook, id, projectId },
				backlog: { events: 1, oldestSeq: 1, oldestAt: 1 },
				secretState: "usable",
			})),
	);
	const found: string[] = [];
	let pages = 0;
	for (let cursor: string | null = ""; cursor !== null; pages++) {
		const { status, json } = await api.call("GET", `/v1/quarantine/waiting?limit=200${cursor && `&cursor=${cursor}`}`);
		expect(status).toBe(200);
		const page = (json.data as unknown as { id: string; webhooks: { id: string }[] }[]).flatMap((project) =>
			project.webhooks.map(({ id }) => `${project.id} ${id}`),
		);
		expect(page.length).toBeLessThan(600);
		found.push(...page);
		cursor = json.next_cursor as string | null;
	}
	expect(pages).toBe(3);
	expect(found).toEqual([...ids.map((id) => `${large} ${id}`), `${other} ${ids[0]}`]);
	const position = (text: string) =>
		api.call("GET", `/v1/quarantine/waiting?cursor=${Buffer.from(text).toString("base64url")}`);
	expect((await position(`${large}.wh_x`)).status).toBe(422);
	list.mockRestore();
});
