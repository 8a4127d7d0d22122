import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600,3600,3600" } });

/** Clicks, and clicks there again as the second half of a double click once `then` resolves. */
async function doubleClick(page: Page, target: Locator, then: () => Promise<unknown>): Promise<void> {
	const box = (await target.boundingBox())!;
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.up();
	await then();
	await page.mouse.down({ clickCount: 2 });
	await page.mouse.up({ clickCount: 2 });
}

/** Collects the calls of the page that change something. */
function watchCalls(page: Page): string[] {
	const calls: string[] = [];
	page.on("request", (request) => {
		if (request.method() !== "GET")
			calls.push(`${request.method()} ${new URL(request.url()).pathname.split("/").at(-1)}`);
	});
	return calls;
}

test("a double click acts once, even if something else is under the pointer by then", async ({ dashboard, page }) => {
	const receiver = await dashboard.failing("ERP", 3);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs"));
	const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
	const calls = watchCalls(page);

	// The retried delivery moves up, and another one is under the pointer.
	await expect(rows.nth(3)).toContainText("ord_1");
	await doubleClick(page, rows.nth(3).getByRole("button", { name: /^Retry now/ }), () =>
		expect(rows.nth(3)).toContainText("ord_2"),
	);
	await expect(
		page.getByRole("alert").filter({ hasText: "Retrying purchase.completed (order ord_1) now." }),
	).toHaveCount(1);
	await rows
		.nth(3)
		.getByRole("button", { name: /^Retry now/ })
		.click();
	await receiver.count(5);
	await expect.poll(() => calls).toEqual(["POST retry", "POST retry"]);

	// By then, the dialog's backdrop has appeared.
	const dialog = page.getByRole("dialog");
	await doubleClick(page, page.getByRole("button", { name: "Replay all matching" }), () => dialog.waitFor());
	await expect(dialog.getByText("No failed delivery that matches can be replayed.")).toBeVisible();
});

test("a held key acts once", async ({ dashboard, page }) => {
	const receiver = await dashboard.failing("ERP", 1);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks"));
	await page.getByRole("link", { name: "ERP" }).click();
	await page.getByRole("button", { name: "Send test event" }).click();
	const dialog = page.getByRole("dialog");
	const calls = watchCalls(page);
	await dialog.getByRole("button", { name: "Send", exact: true }).focus();
	await page.keyboard.down("Enter");
	await expect(dialog.getByRole("button", { name: "Send another" })).toBeVisible();
	await page.keyboard.down("Enter");
	await page.keyboard.up("Enter");
	// The button lost the focus while the test was being sent.
	await expect(dialog.getByRole("button", { name: "Send another" })).toBeFocused();
	await dialog.getByRole("button", { name: "Cancel test" }).click();
	await expect(dialog.getByText("Cancelled", { exact: true })).toBeVisible();
	await expect.poll(() => calls).toEqual(["POST test", "POST cancel"]);
	await dialog.getByRole("button", { name: "Close", exact: true }).last().click();

	await page.goto(dashboard.project("/logs?state=waiting"));
	await page.getByRole("row", { name: /ord_1/ }).focus();
	await page.keyboard.down("r");
	await receiver.count(3);
	await expect(page.getByText("Retrying purchase.completed (order ord_1) now.")).toBeVisible();
	await page.keyboard.down("r");
	await page.keyboard.up("r");
	await page.getByRole("row", { name: /ord_1/ }).focus();
	await page.keyboard.press("r");
	await receiver.count(4);
	await expect.poll(() => calls.slice(2)).toEqual(["POST retries", "POST retries"]);
});
