import type { Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { type Dashboard, expect, test } from "./dashboard.ts";

/** Opens the log of three deliveries, with room for a delivery next to it. */
async function openLog({ dashboard, page }: { dashboard: Dashboard; page: Page }) {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	for (const n of [1, 2, 3]) await shop.post(shop.path("/events"), purchase(n));
	await receiver.count(3);
	await page.setViewportSize({ width: 1700, height: 900 });
	await page.goto(dashboard.project("/logs?state=delivered"));
	const rows = page.getByRole("table", { name: "Deliveries", includeHidden: true }).locator("tbody tr");
	await expect(rows.filter({ hasText: "Delivered" })).toHaveCount(3);
	return { rows, drawer: page.getByRole("dialog").filter({ hasText: "Attempt 1 of" }) };
}

/**
 * Presses keys so fast that a page has no turn in between. Browsers also handle a key before timers that are due, so
 * that one may come between a key and what the page puts off because of it.
 */
const pressFast = (page: Page, ...keys: string[]) =>
	page.evaluate(`(async () => {
		for (const key of ${JSON.stringify(keys)}) {
			const init = { key, bubbles: true, cancelable: true };
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", init));
			// React applies what a key changes before its next turn.
			await null;
		}
	})()`);

// Until a dialog had faded out, and a moment longer, the keys were dead. Until it had faded in, those of what it covers
// weren't.
for (const reducedMotion of ["reduce", "no-preference"] as const) {
	test(`an open dialog has the keyboard, and only that: with motion ${reducedMotion}`, async ({ dashboard, page }) => {
		await page.emulateMedia({ reducedMotion });
		const { rows, drawer } = await openLog({ dashboard, page });
		const question = page.getByRole("dialog", { name: "Replay", exact: true });
		// Over the list.
		await rows.nth(0).focus();
		await page.keyboard.press("r");
		await expect(question).toBeVisible();
		await pressFast(page, "j", "Escape", "j");
		await expect(question).toHaveCount(0);
		await expect(rows.nth(1)).toBeFocused();
		// Over a delivery.
		await page.keyboard.press("Enter");
		await expect(drawer).toContainText("ord_2");
		await pressFast(page, "r", "j", "Escape");
		await expect(question).toHaveCount(0);
		await expect(drawer).toContainText("ord_2");
		await page.keyboard.press("r");
		await expect(question).toBeVisible();
		await pressFast(page, "Escape", "j");
		await expect(question).toHaveCount(0);
		await expect(drawer).toContainText("ord_1");
		await page.keyboard.press("r");
		await expect(question).toBeVisible();
		await pressFast(page, "Escape", "Escape");
		await expect(page.getByRole("dialog")).toHaveCount(0);
		await expect(rows.nth(2)).toBeFocused();
	});
}

// A key that was pressed before the next delivery was shown had no effect, and one while it closed opened the next one.
test("each key moves by one delivery, however fast they come", async ({ dashboard, page }) => {
	const { rows, drawer } = await openLog({ dashboard, page });
	await rows.nth(0).focus();
	await pressFast(page, "j", "j");
	await expect(rows.nth(2)).toBeFocused();
	await page.keyboard.press("Enter");
	await expect(drawer).toContainText("ord_1");
	await pressFast(page, "k", "k");
	await expect(drawer).toContainText("ord_3");
	await pressFast(page, "j", "k", "j");
	await expect(drawer).toContainText("ord_2");
	await pressFast(page, "Escape", "j");
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await expect(rows.nth(1)).toBeFocused();
});

// Escape closed the delivery, which had opened later, below the dialog.
test("Escape closes a dialog before the delivery that the browser's Back opened below it", async ({
	dashboard,
	page,
}) => {
	const { rows, drawer } = await openLog({ dashboard, page });
	await rows.nth(0).click();
	await expect(drawer).toBeVisible();
	await page.keyboard.press("Escape");
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await page.keyboard.press("?");
	const help = page.getByRole("dialog", { name: "Keyboard" });
	await expect(help).toBeVisible();
	await page.goBack();
	await expect(drawer).toBeVisible();
	await page.keyboard.press("Escape");
	await expect(help).toHaveCount(0);
	await expect(drawer).toBeVisible();
	await page.keyboard.press("Escape");
	await expect(page.getByRole("dialog")).toHaveCount(0);
});
