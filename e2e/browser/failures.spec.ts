import type { Page } from "@playwright/test";
import { expect, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

/** Resolves once the page has rendered again, and what it requested then has arrived. */
const rendered = (page: Page) =>
	page.evaluate(`(async () => {
		for (const _ of [1, 2]) await new Promise((go) => requestAnimationFrame(go));
		await fetch("/v1/setup");
	})()`);

// It was requested again as soon as that had failed, for as long as the page was open.
test("older rows that can't be loaded are only requested again on demand", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 60);
	await dashboard.enter(page);
	let asked = 0;
	let isFailing = true;
	await page.route(/cursor=/, (route) => {
		asked++;
		return isFailing ? route.fulfill({ status: 500, body: "" }) : route.continue();
	});
	for (const [view, label] of [
		["deliveries", "Show older deliveries"],
		["attempts", "Show older attempts"],
	] as const) {
		[asked, isFailing] = [0, true];
		await page.goto(dashboard.project(`/logs?view=${view}`));
		await page.getByRole("button", { name: label }).click();
		// Below the rows, where someone looks for more.
		await expect(page.getByRole("alert")).toHaveCount(1);
		await rendered(page);
		expect(asked).toBe(1);
		isFailing = false;
		await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
		await expect(page.getByRole("alert")).toHaveCount(0);
		await expect(page.getByRole("row")).toHaveCount(61);
		expect(asked).toBe(2);
	}
});

// The service may return a page without rows although more follow.
test("a list whose first rows can't be loaded says so, and is only requested again on demand", async ({
	dashboard,
	page,
}) => {
	await dashboard.failing("Accounting", 1);
	await dashboard.enter(page);
	let asked = 0;
	let isFailing = true;
	await page.route(/\/deliveries\?/, async (route) => {
		const isFirst = !route.request().url().includes("cursor=");
		if (isFirst) return route.fulfill({ json: { data: [], next_cursor: "more" } });
		asked++;
		if (isFailing) return route.fulfill({ status: 500, body: "" });
		return route.fulfill({
			response: await route.fetch({
				url: route
					.request()
					.url()
					.replace(/&cursor=\w+/, ""),
			}),
		});
	});
	await page.goto(dashboard.project("/logs"));
	await expect(page.getByRole("alert")).toHaveCount(1);
	await rendered(page);
	expect(asked).toBe(1);
	isFailing = false;
	await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
	await expect(page.getByRole("table", { name: "Deliveries" }).getByText("purchase.completed")).toBeVisible();
	await expect(page.getByRole("alert")).toHaveCount(0);
});
