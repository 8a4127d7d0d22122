// Retries and replays from the log.
import { purchase } from "../shop.ts";
import { expect, expectAccessible, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "0.2,0.2" } });

test("a bulk replay continues, and says what it did, while it empties the list", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 503 }));
	await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), purchase(n));
	await receiver.count(6);
	for (const [path, count] of [
		["?state=failed&unhandled=true", 2],
		// Those of the first replay failed, too.
		["?status=failed", 4],
	] as const) {
		await page.goto(dashboard.project(`/logs${path}`));
		const rows = page.getByRole("table", { name: /Deliveries|Attempts/ }).getByRole("row");
		await expect(rows).toHaveCount(1 + count);
		await page.getByRole("button", { name: "Replay all matching" }).click();
		const dialog = page.getByRole("dialog");
		await expect(dialog).toContainText("This sends 2 deliveries again");
		await expect(dialog).toContainText("Dismissed deliveries and test events are left out.");
		// The list is empty before the last step ends.
		const [empty, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
		await page.route(/\/(deliveries|attempts\/summaries)\?/, async (route) => {
			const response = await route.fetch();
			empty.resolve();
			await route.fulfill({ response, json: { data: [], next_cursor: null } });
		});
		await page.route(/\/replays$/, async (route) => {
			const response = await route.fetch();
			await held.promise;
			await route.fulfill({ response });
		});
		await dialog.getByRole("button", { name: "Replay 2 deliveries" }).press("Enter");
		await empty.promise;
		await expect(rows).toHaveCount(0);
		await expect(dialog).toContainText("0 of 2 are queued to be sent again");
		held.resolve();
		await expect(dialog).toContainText("2 deliveries are being sent again, oldest first.");
		// The button that had the focus is gone.
		await expect(dialog.getByRole("button", { name: "Done" })).toBeFocused();
		await page.keyboard.press("Enter");
		await expect(dialog).toHaveCount(0);
		await page.unrouteAll({ behavior: "wait" });
		await expect.poll(async () => (await shop.get(shop.path("/waiting"))).body.data.length).toBe(0);
	}
});

// It counted 1, and the dialog said that there was none.
test("an incident's replay includes deliveries that failed in the minute before it", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 503 }));
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(3);
	const failed = async () => (await shop.get(shop.path("/attempts?status=failed"))).body.data;
	await expect.poll(async () => (await failed()).length).toBe(1);
	const [{ started_at }] = await failed();
	const later = (ms: number) => new Date(Date.parse(started_at) + ms).toISOString();
	const deliveries = { count: 1, capped: false, delivered: 0, waiting: 0, failed: 1, dismissed: 0 };
	const incident = {
		...{ webhook_id: id, state: "over", started_at: later(30_000), ended_at: later(90_000) },
		...{ failures_since: later(-30_000), failures_until: later(150_000) },
		...{ failed_attempts: 3, delivered_attempts: 0, status_code: 503, error_code: null },
		...{ deliveries, last_delivered_at: null, next_retry_at: null },
	};
	let data = [incident];
	await page.route("**/incidents*", (route) => route.fulfill({ json: { data } }));
	await page.goto(dashboard.project());
	const incidents = page.getByRole("list", { name: "Incidents" });
	// Its log had fewer deliveries than it said were held up.
	const log = new URL((await incidents.getByRole("link").getAttribute("href")) ?? "", page.url()).searchParams;
	expect(Object.fromEntries(log)).toMatchObject({ since: later(-30_000), until: later(150_000), view: "attempts" });
	await incidents.getByRole("button", { name: "Replay 1 failed delivery" }).click();
	await expect(page.getByRole("dialog").getByRole("button", { name: "Replay 1 delivery" })).toBeVisible();

	// The earlier one's button said 1, too, but its replay includes what has failed since.
	await shop.post(shop.path("/events"), purchase(2));
	await receiver.count(6);
	await expect.poll(async () => (await failed()).length).toBe(2);
	data = [{ ...incident, started_at: later(40_000) }, incident];
	await page.reload();
	await expect(incidents.getByRole("button").first()).toHaveText("Replay 1 failed delivery");
	const since = incidents.getByRole("button", { name: /^Replay all failed since (.+, )?\d\d:\d\d$/ });
	await expect(since).toBeVisible();
	// The later one may still last, and be shown above.
	data = [{ ...incident, state: "ongoing", started_at: later(40_000) }, incident];
	await page.reload();
	await expect(incidents.getByRole("listitem")).toHaveCount(1);
	await since.click();
	const replay = page.getByRole("dialog").getByRole("button", { name: "Replay 2 deliveries" });
	await expect(replay).toBeVisible();
	// One that fails after the question has counted is left alone. It was sent again, too.
	await shop.post(shop.path("/events"), purchase(3));
	await receiver.count(9);
	await expect.poll(async () => (await failed()).length).toBe(3);
	await replay.click();
	await expect(page.getByRole("dialog")).toContainText("2 deliveries are being sent again, oldest first.");
});

test("a failed row is replayed in place", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 503 }));
	await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), purchase(n));
	await receiver.count(6);
	await page.goto(dashboard.project("/logs"));
	const rows = page.getByRole("table", { name: "Deliveries" });
	const replays = rows.getByRole("button", { name: /^Replay: purchase\.completed .* to Accounting$/ });
	await expect(replays).toHaveCount(2);
	await expectAccessible(page);
	receiver.respondWith(() => ({ status: 200 }));
	await replays.first().click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText(/Send purchase\.completed \(order ord_\d\) to Accounting again\?/);
	await expect(dialog).not.toContainText("already delivered");
	await dialog.getByRole("button", { name: "Replay" }).click();
	await receiver.count(7);
	await expect(rows.getByText("Delivered")).toHaveCount(1);
	await expect(replays).toHaveCount(1);
	// Only the dialog opened, not the row.
	await expect(page).toHaveURL(/\/logs$/);
	await page.setViewportSize({ width: 390, height: 844 });
	const cards = page.getByRole("list", { name: "Deliveries" });
	await cards.getByRole("button", { name: /^Replay: purchase\.completed .* to Accounting$/ }).click();
	await dialog.getByRole("button", { name: "Replay" }).click();
	await receiver.count(8);
	await expect(cards.getByText("Delivered")).toHaveCount(2);
	await expect(page).toHaveURL(/\/logs$/);
});

test.describe("with long delays", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

	test("a waiting row is retried in place", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 503 }));
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(1);
		receiver.respondWith(() => ({ status: 200 }));
		await page.goto(dashboard.project());
		const pending = page.getByRole("listitem").filter({ has: page.getByRole("button", { name: /^Retry now/ }) });
		await expect(pending).toContainText("Order ord_1");
		await page.goto(dashboard.project("/logs"));
		const rows = page.getByRole("table", { name: "Deliveries" });
		await rows.getByRole("button", { name: /^Retry now: purchase\.completed .* to Accounting$/ }).click();
		await receiver.count(2);
		await expect(rows.getByText("Delivered")).toHaveCount(1);
		await expect(page).toHaveURL(/\/logs$/);
	});

	// It once stayed on the previous attempt.
	test("after a retry, the drawer shows the retry's attempt, and its row stays marked", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 503 }));
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(1);
		receiver.respondWith(() => ({ status: 200 }));
		await page.goto(dashboard.project("/logs"));
		const rows = page.getByRole("table", { name: "Deliveries" });
		await rows.getByRole("link", { name: "purchase.completed" }).click();
		const drawer = page.getByRole("dialog");
		await expect(drawer).toContainText("The receiver returned 503");
		const before = page.url();
		await drawer.getByRole("button", { name: "Retry now" }).click();
		await expect(drawer).toContainText("Delivered on attempt 2");
		expect(page.url()).not.toBe(before);
		// The drawer covers the list, and hides it from screen readers.
		await expect(page.locator("tr[data-open]").getByText("Delivered")).toHaveCount(1);
	});

	// It appeared at the next poll, and only if a minute had ended meanwhile.
	test("an incident's action appears on the overview as soon as its receiver recovers", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		// It is unstable before and after.
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(1);
		receiver.respondWith(() => ({ status: 500 }));
		for (const n of [2, 3, 4]) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(4);
		await page.goto(dashboard.project());
		const incidents = page.getByRole("list", { name: "Incidents" });
		await expect(page.getByRole("listitem").filter({ hasText: "Accounting" }).first()).toContainText(
			"3 deliveries held up, all waiting.",
		);
		await expect(incidents).toHaveCount(0);
		await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
		receiver.respondWith(() => ({ status: 200 }));
		await shop.post(shop.path("/events"), purchase(5));
		await expect(incidents).toContainText("Returned 500. 3 deliveries held up, all waiting.");
		await incidents.getByRole("button", { name: "Retry all 3 deliveries now" }).click();
		await receiver.count(1 + 3 + 1 + 3);
		await expect(incidents.getByText("waiting")).toHaveCount(0);
		await expect(incidents.getByRole("button")).toHaveCount(0);
	});

	// Incidents follow slowly: one said "2 waiting" below "Waiting for a retry 0".
	test("once everything is delivered, no incident says that something waits", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 503 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		for (let n = 1; n <= 3; n++) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(3);
		await page.goto(dashboard.project(`/webhooks/${id}`));
		const incidents = page.getByRole("list", { name: "Incidents" });
		await expect(incidents).toContainText("Returning 503. 3 deliveries held up, all waiting.");
		receiver.respondWith(() => ({ status: 200 }));
		await page.getByRole("button", { name: "Retry all 3 deliveries now" }).click();
		await receiver.count(6);
		// Such a short outage is still listed only if a minute ended meanwhile.
		await expect(incidents.getByText("waiting")).toHaveCount(0);
	});
});
