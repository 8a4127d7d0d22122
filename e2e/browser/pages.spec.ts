import { purchase } from "../shop.ts";
import { expect, expectAccessible, expectToFit, test, watch } from "./dashboard.ts";

const PAGES = ["", "/apps", "/webhooks", "/webhooks/new", "/api-keys", "/logs", "/members", "/audit"];

for (const filled of [true, false])
	test(`every page is accessible, light and dark, ${filled ? "with traffic" : "empty"}`, async ({
		dashboard,
		page,
		context,
	}) => {
		test.slow();
		const { shop } = dashboard;
		const pages = PAGES.map((path) => dashboard.project(path));
		if (filled) {
			const [sound, broken] = [await shop.receiver(), await shop.receiver()];
			broken.respondWith(() => ({ status: 503 }));
			await shop.webhook(sound.url("/hooks"), { description: "Sound" });
			const { id } = await shop.webhook(broken.url("/hooks"), { description: "Broken" });
			await shop.post(shop.path("/api-keys"), { name: "Shop server" });
			for (let n = 1; n <= 3; n++) await shop.post(shop.path("/events"), purchase(n));
			await Promise.all([sound.count(3), broken.count(3)]);
			await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(6);
			const [attempt] = (await shop.get(shop.path("/attempts/summaries?status=retrying"))).body.data;
			for (const path of [`/webhooks/${id}`, `/webhooks/${id}?tab=settings`, `/logs/${attempt.id}`])
				pages.push(dashboard.project(path));
		}
		const faults = watch(context);
		await dashboard.enter(page);
		// Each page loads in the color scheme that the previous one ended with.
		let colorScheme: "light" | "dark" = "light";
		for (const url of [...pages, `${dashboard.url}/projects`, `${dashboard.url}/account`, `${dashboard.url}/nowhere`]) {
			await page.goto(url);
			await expectAccessible(page);
			colorScheme = colorScheme === "light" ? "dark" : "light";
			await page.emulateMedia({ colorScheme });
			await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
			await expectAccessible(page);
		}
		expect(faults).toEqual([]);
	});

test.describe("with no other project", () => {
	test.use({ ownService: true });

	test("pages fit a narrow screen, and every page is reachable", async ({ dashboard, browser }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		const { id } = await shop.webhook(receiver.url(`/hooks/${"long".repeat(40)}`), {
			description: "Accounting ".repeat(10),
		});
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(1);
		await dashboard.setUp();
		const context = await browser.newContext({ viewport: { width: 360, height: 740 }, reducedMotion: "reduce" });
		const page = await context.newPage();
		await dashboard.signIn(page);
		for (const path of [...PAGES, `/webhooks/${id}`, `/webhooks/${id}?tab=settings`]) {
			await page.goto(dashboard.project(path));
			await page.getByRole("heading", { level: 1 }).first().waitFor();
			await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
			expect(await page.locator("html").evaluate((html) => html.scrollWidth), path).toBeLessThanOrEqual(360);
		}
		// Names once ran out of their cards.
		const longName = "A name that takes more than a line ".repeat(2).trim();
		await shop.post(shop.path("/api-keys"), { name: longName });
		await shop.patch(`/v1/projects/${shop.projectId}`, { name: longName });
		for (const url of [dashboard.project("/api-keys"), `${dashboard.url}/projects`]) {
			await page.goto(url);
			const name = page.getByRole("table").getByText(longName);
			expect(await name.evaluate((element) => element.getBoundingClientRect().right), url).toBeLessThan(345);
			await expect(page.getByRole("table")).toContainText(longName);
		}
		// On a laptop at 150%, next to the menu: scopes were cut, and the log's table hid webhooks and responses.
		await page.setViewportSize({ width: 900, height: 740 });
		await page.goto(dashboard.project("/api-keys"));
		const scope = page.getByRole("table").getByText("Publish");
		await expectToFit(scope);
		await page.goto(dashboard.project("/logs"));
		const card = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
		await expect(card.getByText(/^Accounting/)).toBeInViewport({ ratio: 1 });
		await expect(card.getByText("200")).toBeInViewport({ ratio: 1 });
		await page.goto(dashboard.project(`/webhooks/${id}`));
		const recent = page.getByRole("list", { name: "Recent attempts" });
		await expect(recent.getByText(/^200, /)).toBeVisible();
		// The menu once had a line for itself.
		await page.setViewportSize({ width: 320, height: 740 });
		await page.goto(dashboard.project("/logs"));
		const [replay, more] = ["Replay all", "More actions"].map((button) => page.getByRole("button", { name: button }));
		const top = async (button: typeof replay) => (await button!.boundingBox())!.y;
		expect(await top(more)).toBe(await top(replay));
		await page.goto(dashboard.project("/webhooks"));
		await page
			.getByRole("button", { name: /navigation|menu/i })
			.first()
			.click();
		await page.getByRole("link", { name: "Logs" }).click();
		await expect(page.getByRole("heading", { name: "Logs", level: 1 })).toBeVisible();
		await expectAccessible(page);
		await context.close();
	});
});

test("the log can be used with only the keyboard", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await shop.post(shop.path("/events"), purchase(2));
	await receiver.count(2);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs?view=attempts"));
	await expect(page.getByRole("table", { name: "Attempts" }).getByRole("row")).toHaveCount(1 + 2);
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	await page.keyboard.press("Enter");
	await expect(page.getByRole("dialog")).toContainText('"n": 1');
	await page.keyboard.press("Escape");
	await expect(page.getByRole("dialog")).toHaveCount(0);
	// Two fields offered this key, and only one of them got it.
	await expect(page.locator("kbd", { hasText: /^\/$/ })).toHaveCount(1);
	await page.keyboard.press("/");
	await expect(page.getByRole("combobox", { name: "Search", exact: true })).toBeFocused();
	await page.keyboard.press("Escape");
	await page.keyboard.press("?");
	await expect(page.getByRole("dialog")).toContainText(/keyboard/i);
	await page.keyboard.press("Escape");
	await page.goto(dashboard.project("/webhooks"));
	await expect(page.locator("kbd", { hasText: /^\/$/ })).toHaveCount(1);
	await page.keyboard.press("/");
	await expect(page.getByRole("textbox", { name: "Find an id, order or customer" })).toBeFocused();
});

test("titles share one left edge, rows one height, and bars lead to their attempts", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const [sound, broken] = [await shop.receiver(), await shop.receiver()];
	broken.respondWith(() => ({ status: 503 }));
	await shop.webhook(sound.url("/hooks"), { description: "Sound" });
	await shop.webhook(broken.url(`/hooks/${"long".repeat(40)}`), {
		description: "Accounting ".repeat(10),
		events: ["purchase.completed", "purchase.refunded", "customer.created"],
	});
	await shop.post(shop.path("/events"), purchase(1));
	await Promise.all([sound.count(1), broken.count(1)]);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(2);
	await dashboard.enter(page);
	const edges = new Set<number>();
	for (const url of [...PAGES.map((path) => dashboard.project(path)), `${dashboard.url}/account`]) {
		await page.goto(url);
		await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
		edges.add((await page.getByRole("heading", { level: 1 }).boundingBox())!.x);
	}
	expect([...edges]).toHaveLength(1);

	for (const [path, label] of [
		["/webhooks", "Webhooks"],
		["/logs?view=attempts", "Attempts"],
	] as const) {
		await page.goto(dashboard.project(path));
		const rows = page.getByRole("table", { name: label }).locator("tbody tr");
		await expect(rows).toHaveCount(2);
		const [one, other] = [await rows.nth(0).boundingBox(), await rows.nth(1).boundingBox()];
		expect(Math.abs(one!.height - other!.height)).toBeLessThanOrEqual(1);
		expect(one!.height).toBeLessThan(70);
	}

	// By keyboard, the bars are rows of a table.
	await page.goto(dashboard.project());
	await page.getByText("Show the data").click();
	// If the hour ended between the two attempts, there are two bars.
	const bar = page
		.getByRole("table")
		.getByRole("row")
		.filter({ has: page.getByRole("button") })
		.first();
	// It was out of sight, below the oldest ones.
	await page.getByRole("region", { name: "Data of the chart" }).scrollIntoViewIfNeeded();
	await expect(bar).toBeInViewport({ ratio: 1 });
	const counted = [...(await bar.getByRole("cell").allTextContents())].slice(-3).map(Number);
	await bar.getByRole("button").click();
	await expect(page).toHaveURL(/\/logs\?since=.*until=/);
	await expect(page.getByRole("table", { name: "Attempts" }).locator("tbody tr")).toHaveCount(
		counted.reduce((sum, count) => sum + count),
	);
	expect(counted).not.toEqual([0, 0, 0]);
});
