import { findChromium } from "@posthorn/testkit";
import { purchase } from "../shop.ts";
import { expect, expectAccessible, expectToFit, test } from "./dashboard.ts";

const { executablePath, args, env } = await findChromium();

// Tests run without scrollbars by default, but this one is about scrollbars.
test.use({
	launchOptions: {
		executablePath,
		args,
		ignoreDefaultArgs: ["--hide-scrollbars"],
		...(env && { env: env as Record<string, string> }),
	},
});

test("in a wide window the list stays next to a delivery, to read and to open others", async ({ dashboard, page }) => {
	const rows = await dashboard.openLog(page);
	const drawer = page.getByRole("dialog");
	await rows.nth(0).getByText("ord_3").click();
	await expect(drawer).toContainText("ord_3");
	// The list was dimmed, and a click on another row only closed the drawer.
	await expect(page.locator(".mantine-Drawer-overlay")).toHaveCount(0);
	await rows.nth(1).getByText("ord_2").click();
	await expect(drawer).toContainText("ord_2");
	await expect(drawer).toBeFocused();
	await expectAccessible(page);
	// Cancelled, it focused the drawer as a whole, so the next Tab began at its top.
	const replay = page.getByRole("button", { name: "Replay", exact: true });
	await replay.focus();
	await page.keyboard.press("Enter");
	const question = page.getByRole("dialog", { name: "Replay", exact: true });
	await expect(question).toBeVisible();
	await page.keyboard.press("Escape");
	await expect(question).toHaveCount(0);
	await expect(replay).toBeFocused();
	await page.keyboard.press("j");
	await expect(drawer).toContainText("ord_1");
	await page.keyboard.press("Escape");
	await expect(drawer).toHaveCount(0);
	await expect(rows.nth(2)).toBeFocused();
});

// The space reserved for the page's scrollbar stayed bright next to every drawer, and the page under it moved.
test("overlays cover the whole page, and the page behind them doesn't move", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	const rows = page.getByRole("table", { name: "Attempts" }).getByRole("row");
	const shownWidth = () => page.locator("html").evaluate((html) => html.clientWidth);
	const main = page.getByRole("main");
	let made = 0;
	// A page that fits its window, and a longer one.
	for (const upTo of [1, 40]) {
		while (made < upTo) await shop.post(shop.path("/events"), purchase(++made));
		await receiver.count(upTo);
		await page.goto(dashboard.project("/logs?view=attempts"));
		await expect(rows).toHaveCount(1 + upTo);
		const width = page.viewportSize()!.width;
		expect(await shownWidth(), "the scrollbar takes up space").toBeLessThan(width);
		await rows.nth(upTo).scrollIntoViewIfNeeded();
		const place = (await main.boundingBox())!;

		await rows.nth(upTo).getByRole("link").click();
		const drawer = page.getByRole("dialog");
		await expect(drawer).toContainText("Delivered on the first attempt");
		await expect.poll(async () => (await page.locator(".mantine-Drawer-overlay").boundingBox())?.width).toBe(width);
		expect(await shownWidth()).toBe(width);
		await expect
			.poll(async () => {
				const box = (await drawer.boundingBox())!;
				return box.x + box.width;
			})
			.toBe(width);
		expect(await page.locator("main").boundingBox()).toEqual(place);
		await page.keyboard.press("Escape");
		await expect(drawer).toHaveCount(0);
		expect(await main.boundingBox()).toEqual(place);
	}
	// It was 13 pixels wider than its room next to a page's scrollbar.
	await page.goto(dashboard.project("/logs"));
	const deliveries = page.getByRole("table", { name: "Deliveries" });
	await expect(deliveries.getByRole("row")).toHaveCount(1 + made);
	await expectToFit(deliveries.locator("../.."), "the list at 1,280 px");
});

// It stayed open out of sight: the page couldn't be scrolled, and keys did nothing.
test("the menu of a narrow window closes once the window is wide", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.setViewportSize({ width: 700, height: 900 });
	await page.goto(dashboard.project());
	await page.getByRole("button", { name: "Open the menu" }).click();
	await expect(page.getByRole("dialog", { name: "Menu" })).toBeVisible();
	await page.setViewportSize({ width: 1280, height: 900 });
	await expect(page.getByRole("dialog", { name: "Menu", includeHidden: true })).toHaveCount(0);
	await page.keyboard.press("/");
	await expect(page.getByLabel("Find an id, order or customer")).toBeFocused();
});
