import { EVENT_TYPES } from "@posthorn/protocol";
import { choose, expect, expectAccessible, test, watch } from "./dashboard.ts";

const completed = (order: string, email: string, item = "Mug") => ({
	type: "purchase.completed",
	data: { order_id: order, customer_email: email, amount_cents: 999, currency: "EUR", items: [{ name: item }] },
});

test("orders, customers and text are found from the search box, and their filters are shared by URL", async ({
	dashboard,
	page,
	context,
}) => {
	const faults = watch(context);
	const { shop } = dashboard;
	const [sound, broken] = [await shop.receiver(), await shop.receiver()];
	broken.respondWith(() => ({ status: 410 }));
	await shop.webhook(sound.url("/hooks"), { description: "Sound", events: ["purchase.completed"] });
	await shop.webhook(broken.url("/hooks"), { description: "Broken", events: ["purchase.completed"] });
	await dashboard.enter(page);
	for (let n = 1; n <= 3; n++)
		await shop.post(shop.path("/events"), completed(`ord_${n}`, n === 2 ? "Grace@Example.com" : "ada@example.com"));
	await shop.post(shop.path("/events"), completed("10482", "ada@example.com", "Glass jar"));
	await shop.post(shop.path("/events"), { type: "chargeback.created", data: { order_id: "ord_lost" } });
	await sound.count(4);
	await broken.count(4);
	await page.goto(dashboard.project("/logs"));
	const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 8);
	const box = page.getByRole("combobox", { name: "Search", exact: true });

	await box.fill("grace@example.COM");
	await expect(page.getByRole("option")).toHaveText([
		"Customer: grace@example.COM",
		"Text in events and responses: grace@example.COM",
	]);
	await shot(page, "menu");
	await page.keyboard.press("Enter");
	await expect(rows).toHaveCount(1 + 2);
	// Nothing had the focus, so the next Tab began at the top of the page.
	const content = page.locator("#content");
	await expect(content).toBeFocused();
	await page.keyboard.press("/");
	await expect(box).toBeFocused();
	await page.keyboard.press("Escape");
	await expect(content).toBeFocused();
	await expect(page).toHaveURL(/customer_email=grace/);
	await expect(box).toHaveValue("");
	await expectAccessible(page);
	// A colleague who opens the link sees the same.
	await page.reload();
	await expect(rows).toHaveCount(1 + 2);
	await page.getByRole("button", { name: "Remove the filter grace@example.COM" }).click();
	await expect(rows).toHaveCount(1 + 8);

	// Several orders, one of them of digits, which the address bar could take for a number.
	for (const order of ["10482", "ord_1"]) {
		await box.fill(order);
		await page.keyboard.press("Enter");
	}
	await expect(rows).toHaveCount(1 + 4);
	await page.reload();
	await expect(rows).toHaveCount(1 + 4);
	const responses = page
		.getByRole("combobox", { name: "Responses" })
		.or(page.getByRole("textbox", { name: "Responses" }));
	await responses.click();
	await choose(page.getByRole("option", { name: "4xx", exact: true }));
	await page.keyboard.press("Escape");
	await expect(rows).toHaveCount(1 + 2);
	await shot(page, "filters");
	await page.getByRole("radiogroup", { name: "Show" }).getByText("Attempts").click();
	await expect(page.getByRole("table", { name: "Attempts" }).getByRole("row")).toHaveCount(1 + 2);
	await expect(page.getByText("2 attempts of order 10482 or ord_1 that ended with 4xx.")).toBeVisible();
	await expectAccessible(page);
	await page.getByRole("button", { name: "Clear", exact: true }).click();

	// No webhook wanted this one, but the event exists.
	await box.fill("ord_lost");
	await page.keyboard.press("Enter");
	// It said that nothing in the log matches.
	await expect(page.getByRole("heading", { name: "Published, but not sent" })).toBeVisible();
	await expect(page.getByText("No webhook receives chargeback.created.")).toBeVisible();
	await expect(page.getByRole("list", { name: "Events of this search" })).toContainText("chargeback.created");
	await expectAccessible(page);
	await shot(page, "undelivered");
	// Its own page, too.
	await page.getByRole("link", { name: "chargeback.created" }).click();
	await expect(page).toHaveURL(/event_id=/);
	await expect(page.getByText("No webhook receives chargeback.created.")).toBeVisible();

	await page.goto(dashboard.project("/logs?order_id=ord_unheard"));
	await expect(page.getByRole("heading", { name: "Nothing matches" })).toBeVisible();
	// With the search as the only filter, it said to remove one of all filters.
	await expect(
		page.getByText(/^Nothing in the log matches\. The log goes back .* An order id matches only in full and exactly/),
	).toBeVisible();
	await expectAccessible(page);

	// Part of an id, in the wrong case, found nothing, and nothing said what else to try.
	await page.goto(dashboard.project("/logs?order_id=ORD_los"));
	await page.getByRole("link", { name: "Search for it as text" }).click();
	await expect(page).toHaveURL(/\/logs\?text=ORD_los$/);
	await expect(page.getByRole("list", { name: "Events" }).locator("mark")).toHaveText("ord_los");

	await page.goto(dashboard.project("/webhooks"));
	await page.getByRole("textbox", { name: "Find an id, order or customer" }).fill("glass jar");
	await page.keyboard.press("Enter");
	await expect(page).toHaveURL(/text=glass/);
	await expect(page.getByRole("status")).toHaveText(/^Searched the whole log, 5 events and \d+ responses?: 1 found\.$/);
	await expect(page.getByRole("list", { name: "Events" }).locator("mark")).toHaveText("Glass jar");
	await expectAccessible(page);
	await shot(page, "text");
	await page.getByRole("list", { name: "Events" }).getByRole("link", { name: "purchase.completed" }).click();
	await expect(rows).toHaveCount(1 + 2);
	expect(faults).toEqual([]);
});

// The address bar's number was another one: 12345678901234567000.
test("an order id of many digits is found by its address", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	for (const order of ["12345678901234567890", "1e5", "10482"])
		await shop.post(shop.path("/events"), completed(order, "ada@example.com"));
	await receiver.count(3);
	const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
	for (const order of ["12345678901234567890", "1e5", "10482"]) {
		await page.goto(dashboard.project(`/logs?order_id=${order}`));
		await expect(page.getByRole("button", { name: `Remove the filter Order ${order}`, exact: true })).toBeVisible();
		await expect(rows).toHaveCount(1 + 1);
	}
});

test("a search for text shows how far it has come, and can be stopped and continued", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await dashboard.enter(page);
	for (let n = 1; n <= 3; n++)
		await shop.post(shop.path("/events"), completed(`ord_${n}`, "ada@example.com", "Glass jar"));
	// The service is quick: each step waits until the test lets it go, and finds one event.
	const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	let steps = 0;
	await page.route(/events\/search/, async (route) => {
		await gates[steps++]?.promise;
		await route.continue({ url: route.request().url().replace("limit=50", "limit=1") }).catch(() => undefined);
	});
	await page.goto(dashboard.project("/logs?text=jar"));
	const status = page.getByRole("status");
	await expect(status).toContainText("none found so far");
	gates[0]!.resolve();
	await expect(status).toContainText(/^Searching the newest 3 events and 0 responses, back to .*: 1 found so far\.$/);
	await page.getByRole("button", { name: "Stop" }).click();
	await expect(status).toContainText(/^Searched the newest .*: 1 found\.$/);
	await expectAccessible(page);
	await shot(page, "stopped");
	for (const gate of gates) gate.resolve();
	await page.getByRole("button", { name: "Search older events" }).click();
	await expect(status).toContainText(/^Searched the whole log/);
	await expect(page.getByRole("list", { name: "Events" }).locator("mark")).toHaveCount(3);
});

test("what a receiver responded is found, and leads to the attempt", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 422, body: '{"error":"No such plan"}' }));
	await shop.webhook(receiver.url("/hooks"), { events: ["purchase.completed"] });
	await dashboard.enter(page);
	await shop.post(shop.path("/events"), completed("ord_1", "ada@example.com"));
	await receiver.count(1);
	await page.goto(dashboard.project("/logs"));
	await expect(page.getByRole("table", { name: "Deliveries" }).getByRole("row")).toHaveCount(1 + 1);
	await page.getByRole("combobox", { name: "Search", exact: true }).fill("no such plan");
	await page.keyboard.press("Enter");
	await expect(page.getByRole("status")).toHaveText("Searched the whole log, 1 event and 1 response: 1 found.");
	const found = page.getByRole("list", { name: "Events" });
	await expect(found.locator("mark")).toHaveText("No such plan");
	await expectAccessible(page);
	await shot(page, "response");
	await found.getByRole("link", { name: /^Response 422 from localhost/ }).click();
	await expect(page.getByRole("dialog")).toContainText("No such plan");
});

test("the figure of deliveries leads to as many rows, without tests", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { events: ["purchase.completed"] });
	await dashboard.enter(page);
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), completed(`ord_${n}`, "ada@example.com"));
	await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
	await receiver.count(3);
	await page.goto(dashboard.project(""));
	await page.getByRole("definition").filter({ hasText: /^2$/ }).getByRole("link").last().click();
	await expect(page).toHaveURL(/state=delivered.*test=false|test=false.*state=delivered/);
	const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
	await expect(rows).toHaveCount(1 + 2);
	await page.getByRole("button", { name: "Remove the filter Without tests" }).click();
	await expect(rows).toHaveCount(1 + 3);
});

// The list once had test events in addition.
test("a bar of a chart leads to as many attempts as it counts, without tests", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { events: ["purchase.completed"] });
	await dashboard.enter(page);
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), completed(`ord_${n}`, "ada@example.com"));
	await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
	await receiver.count(3);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(3);
	for (const path of ["", `/webhooks/${id}`]) {
		// If the hour ends meanwhile, there are two bars.
		let shown = 0;
		for (let bar = 0; shown < 2; bar++) {
			await page.goto(dashboard.project(path));
			await page.getByText("Show the data").first().click();
			const table = page.getByRole("region", { name: "Data of the chart" }).first();
			const row = table
				.getByRole("row")
				.filter({ hasText: /[12]00$/ })
				.nth(bar);
			const [delivered] = /[12](?=00$)/.exec((await row.textContent()) ?? "") ?? [];
			await row.getByRole("button").click();
			await expect(page.getByRole("table", { name: "Attempts" }).getByRole("row")).toHaveCount(1 + Number(delivered));
			await expect(page.getByText(/ attempts? (to .*, )?from .*, without tests\.$/)).toBeVisible();
			shown += Number(delivered);
		}
		expect(shown).toBe(2);
	}
	// Deliveries keep the filter.
	await page.getByRole("radiogroup", { name: "Show" }).getByText("Deliveries").click();
	await expect(page).toHaveURL(/test=false/);
});

/** With SCREENSHOTS=folder: pictures to look at, wide and narrow, light and dark. */
async function shot(page: import("@playwright/test").Page, name: string): Promise<void> {
	const folder = process.env.SCREENSHOTS;
	if (folder === undefined) return;
	for (const colorScheme of ["light", "dark"] as const)
		for (const width of [1280, 390]) {
			await page.emulateMedia({ colorScheme });
			await page.setViewportSize({ width, height: 900 });
			await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png` });
		}
	await page.emulateMedia({ colorScheme: "light" });
	await page.setViewportSize({ width: 1280, height: 900 });
}

// The service refused such a list, in words for programs.
test("the log's filters take what can be combined, and say so", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	const refused: string[] = [];
	page.on("response", (response) => void (response.status() === 422 && refused.push(response.url())));
	const ids = Array.from({ length: 10 }, (_, n) => `wh_${n}`).join();
	const types = EVENT_TYPES.map(({ type }) => type).join();
	await page.goto(dashboard.project(`/logs?webhook_id=${ids}&type=${types}`));
	await expect(page.getByRole("heading", { name: "Nothing matches" })).toBeVisible();
	expect(refused).toEqual([]);
	await expect(page.getByText("No more webhooks or event types can be added to these filters")).toBeVisible();
	const field = page.getByRole("combobox", { name: "Event types" });
	await field.click();
	await choose(page.getByRole("option", { name: "chargeback.created" }));
	await choose(page.getByRole("option", { name: "customer.created" }));
	await choose(page.getByRole("option", { name: "chargeback.created" }));
	await expect(page).toHaveURL(/chargeback\.created/);
	await expect(page).not.toHaveURL(/customer\.created/);
	expect(refused).toEqual([]);
});
