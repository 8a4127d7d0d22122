import type { Page } from "@playwright/test";
import { type Dashboard, expect, expectAccessible, test } from "./dashboard.ts";

/** Opens the log of three deliveries that don't move, and finds the drawer of one. */
const openLog = async ({ dashboard, page }: { dashboard: Dashboard; page: Page }) => ({
	rows: await dashboard.openLog(page, "?state=delivered"),
	drawer: page.getByRole("dialog").filter({ hasText: "Attempt 1 of" }),
});

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

// They moved the list below the menu.
test("an open menu has the keyboard, and only that", async ({ dashboard, page }) => {
	const { rows } = await openLog({ dashboard, page });
	for (const name of ["More actions", "Theme", "Olga Operator", "A store"]) {
		await rows.nth(0).focus();
		await pressFast(page, "j");
		await expect(rows.nth(1)).toBeFocused();
		const opener = page.getByRole("button", { name, expanded: false });
		await opener.focus();
		await page.keyboard.press("Enter");
		// Opening it moves the focus into it.
		await expect(page.getByRole("button", { name, expanded: true })).not.toBeFocused();
		await pressFast(page, "j", "k", "r", "/", "?");
		await page.keyboard.press("j");
		await expect(page.locator("tbody tr:focus")).toHaveCount(0);
		await expect(page.getByRole("dialog", { name: /Keyboard|Replay/ })).toHaveCount(0);
		await page.keyboard.press("Escape");
		await expect(opener).toBeFocused();
	}
	await pressFast(page, "j");
	await expect(rows.nth(2)).toBeFocused();
});

test("single keys can be switched off, in the menu of the account", async ({ dashboard, page }) => {
	const { rows } = await openLog({ dashboard, page });
	const help = page.getByRole("dialog", { name: "Keyboard" });
	const open = async () => {
		await page.getByRole("button", { name: "Account of" }).click();
		await page.getByRole("menuitem", { name: "Keyboard" }).press("Enter");
		await expect(help).toBeVisible();
	};
	const toggle = page.getByRole("switch", { name: "Single-key shortcuts" });
	await open();
	await expectAccessible(page);
	await toggle.press("Space");
	await expect(toggle).not.toBeChecked();
	await page.keyboard.press("Escape");
	await expect(help).toHaveCount(0);
	await page.reload();
	await expect(rows).toHaveCount(3);
	await rows.nth(0).focus();
	await pressFast(page, "j", "?", "/", "r");
	await expect(rows.nth(0)).toBeFocused();
	await expect(page.getByRole("dialog")).toHaveCount(0);
	await page.keyboard.press("ArrowDown");
	await expect(rows.nth(1)).toBeFocused();
	await open();
	await toggle.press("Space");
	await page.keyboard.press("Escape");
	await expect(help).toHaveCount(0);
	await rows.nth(0).focus();
	await pressFast(page, "j");
	await expect(rows.nth(1)).toBeFocused();

	// Other tabs kept the keys until they were loaded again.
	const other = await page.context().newPage();
	await other.goto(dashboard.project());
	const hint = other.getByRole("banner").locator("kbd").first();
	await expect(hint).toBeVisible();
	await open();
	await toggle.press("Space");
	await expect(hint).toHaveCount(0);
});

/** Puts off what a page updates because of new data, until \`showArrived()\` in the page. */
const HOLD_UPDATES = `
	const held = [];
	const { setTimeout } = globalThis;
	globalThis.isHeld = false;
	globalThis.showArrived = () => {
		globalThis.isHeld = false;
		for (const update of held.splice(0)) update();
	};
	globalThis.setTimeout = (act, ms = 0, ...args) =>
		globalThis.isHeld && ms === 0 ? held.push(() => act(...args)) : setTimeout(act, ms, ...args);
	for (const name of ["json", "text"]) {
		const read = Response.prototype[name];
		Response.prototype[name] = async function () {
			const body = await read.call(this);
			const { attempts } = typeof body === "string" ? JSON.parse(body || "{}") : body;
			globalThis.attempts = attempts?.length ?? globalThis.attempts;
			return body;
		};
	}
`;

// The drawer jumped to the new attempt, or opened again.
for (const key of ["j", "Escape"] as const) {
	test(`a retry's result that arrives while ${key} leads elsewhere stays there`, async ({ dashboard, page }) => {
		const receiver = await dashboard.failing("Accounting", 2);
		await dashboard.enter(page);
		await page.setViewportSize({ width: 1700, height: 900 });
		await page.addInitScript(HOLD_UPDATES);
		await page.goto(dashboard.project("/logs?view=attempts&status=retrying"));
		const rows = page.getByRole("table", { name: "Attempts", includeHidden: true }).locator("tbody tr");
		await expect(rows).toHaveCount(2);
		const answer = Promise.withResolvers<void>();
		receiver.respondWith(async () => {
			await answer.promise;
			return { status: 500 };
		});
		await rows.nth(0).click();
		const drawer = page.getByRole("dialog").filter({ hasText: "Attempt 1 of" });
		await expect(drawer).toContainText("ord_2");
		await drawer.getByRole("button", { name: "Retry now" }).click();
		await receiver.count(3);
		await page.evaluate("isHeld = true");
		answer.resolve();
		await expect.poll(() => page.evaluate("attempts")).toBe(2);
		await page.evaluate(`
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true, cancelable: true }));
			showArrived();
		`);
		if (key === "j") await expect(drawer).toContainText("ord_1");
		else await expect(page.getByRole("dialog")).toHaveCount(0);
	});
}
