import { purchase } from "../shop.ts";
import { expect, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600", POSTHORN_LOG_RETENTION_DAYS: "7" } });

test("pending deliveries of several webhooks are counted as deliveries, and deleting one says what it drops", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const webhooks = [];
	for (const description of ["Accounting", "Shipping"]) {
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		webhooks.push(await shop.webhook(receiver.url("/hooks"), { description }));
	}
	await dashboard.enter(page);
	for (const n of [1, 2]) await shop.post(shop.path("/events"), purchase(n));
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(4);
	await page.goto(dashboard.project());
	// Two events that each wait for two webhooks were "4 events".
	await expect(page.getByText("4 deliveries wait; the next attempt is")).toBeVisible();
	// The other tiles count deliveries, of which a "success rate" of attempts seemed to be one.
	await expect(page.getByRole("term").filter({ hasText: "Attempts delivered" })).toBeVisible();

	for (const { id } of webhooks) await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
	await shop.post(shop.path("/events"), purchase(3));
	await page.goto(dashboard.project());
	await expect(page.getByText("6 deliveries wait for 2 webhooks that are paused.")).toBeVisible();
	await page.goto(dashboard.project("/logs"));
	await expect(page.getByText(/2 deliveries for Accounting \(paused\) and Shipping \(paused\) wait/)).toBeVisible();

	await page.goto(dashboard.project(`/webhooks/${webhooks[0]!.id}?tab=settings`));
	await page.getByRole("button", { name: "Delete webhook" }).click();
	await expect(page.getByRole("dialog")).toContainText(
		"1 new event and 2 retries that wait for it will not be sent. Its failed deliveries can no longer be replayed",
	);
});

test("an empty result says how far back this log goes, and that order ids match exactly", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await page.goto(dashboard.project("/logs?order_id=ORD_1"));
	await expect(page.getByText("The log goes back 7 days. An order id matches only in full")).toBeVisible();
	await page.goto(dashboard.project("/logs?state=failed"));
	await expect(page.getByText("The log goes back 7 days.")).toBeVisible();
	await expect(page.getByText("An order id matches")).toHaveCount(0);
});

// It said that nothing had ever been sent, and the overview began with the first steps again.
test("a webhook that is older than the log says since when nothing was sent", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByText("No event has been sent to it yet.")).toBeVisible();
	await expect(page.getByText("Nothing has been sent yet.")).toBeVisible();
	await page.goto(dashboard.project());
	await expect(page.getByRole("list", { name: "First steps" })).toBeVisible();
	// The log keeps 7 days.
	const created = (await shop.get(shop.path(`/webhooks/${id}`))).body.created_at as string;
	const earlier = new Date(Date.parse(created) - 8 * 86_400_000).toISOString();
	await page.route(/\/webhooks(\?|\/wh_\w+$)/, async (route) => {
		const response = await route.fetch();
		await route.fulfill({ response, body: (await response.text()).replace(created, earlier) });
	});
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByText("No event has been sent to it in the last 7 days.")).toBeVisible();
	await expect(page.getByText("Nothing has been sent in the last 7 days.")).toBeVisible();
	await page.goto(dashboard.project());
	await expect(page.getByText("1 has not been sent anything in the last 7 days.")).toBeVisible();
	await expect(page.getByRole("list", { name: "First steps" })).toHaveCount(0);
	await page.goto(dashboard.project("/webhooks"));
	await expect(page.getByText("No deliveries", { exact: true })).toBeVisible();
});

// Actions before midnight stayed under "Today" until the page was opened again.
test("the audit log's days end at midnight", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await dashboard.shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await page.clock.install();
	await page.goto(dashboard.project("/audit"));
	await expect(page.getByRole("heading", { name: "Today" })).toBeVisible();
	// Otherwise, the service's time corrects the browser's.
	await page.route("**/v1/**", (route) => route.abort());
	await page.clock.fastForward("24:00:00");
	await expect(page.getByRole("heading", { name: "Yesterday" })).toBeVisible();
	await expect(page.getByRole("heading", { name: "Today" })).toHaveCount(0);
});

// Their times were shown as "just now" until they had come, and nothing said why newer attempts weren't first.
test("the log says why attempts from a clock that was ahead are first", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 2);
	await dashboard.enter(page);
	const ahead = new Date(Date.now() + 40 * 86_400_000);
	await page.route("**/attempts/summaries*", async (route) => {
		const response = await route.fetch();
		const list = await response.json();
		const [first, ...others] = list.data;
		await route.fulfill({
			response,
			json: { ...list, data: [{ ...first, started_at: ahead.toISOString() }, ...others] },
		});
	});
	await page.goto(dashboard.project("/logs?view=attempts"));
	await expect(page.getByText("made while the service's clock was ahead")).toBeVisible();
	await expect(page.getByText(`${ahead.getFullYear()}`).first()).toBeVisible();
	await page.unrouteAll();
	await page.reload();
	await expect(page.getByRole("row")).toHaveCount(3);
	await expect(page.getByText("clock was ahead")).toHaveCount(0);
});
