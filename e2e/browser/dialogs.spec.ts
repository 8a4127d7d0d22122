import type { Locator, Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { axe, type Dashboard, expect, expectAccessible, expectToFit, test } from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "0" } });

/** A webhook whose only delivery has failed for good, and a member. */
async function furnish({ shop }: Dashboard): Promise<string> {
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500 }));
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "ERP" });
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(2);
	await shop.post(shop.path("/api-keys"), { name: "Shop server" });
	return id;
}

const button = (name: string | RegExp) => (page: Page) => page.getByRole("button", { name }).first();
const inMenu = (menu: string | RegExp, item: RegExp) => async (page: Page) => {
	await button(menu)(page).focus();
	await page.keyboard.press("Enter");
	return page.getByRole("menuitem", { name: item });
};

/** The dialogs, what opens them, and what has the focus afterwards if that is gone. */
const dialogs = (
	webhook: string,
): [path: string, opener: (page: Page) => Locator | Promise<Locator>, back?: (page: Page) => Locator][] => [
	[`/webhooks/${webhook}`, button("Send test event")],
	[`/webhooks/${webhook}`, button(/^Replay 1 failed/)],
	[`/webhooks/${webhook}?tab=settings`, button("Rotate signing secret")],
	[`/webhooks/${webhook}?tab=settings`, button("Pause")],
	[`/webhooks/${webhook}?tab=settings`, button("Delete webhook")],
	["/webhooks", button("Publish a sample")],
	["/api-keys", button("New key")],
	["/api-keys", button(/^Revoke/)],
	["/members", button("Invite")],
	["/apps", button("Remove")],
	["/logs", button(/^Replay all/)],
	["/logs", button(/^Replay: purchase\.completed .* to ERP$/)],
	["/logs", inMenu("More actions", /^Dismiss all/), button("More actions")],
	["", inMenu(/^Account of/, /^Keyboard/), button(/^Account of/)],
	["/../../projects", button("New project")],
	["/../../projects", button("Sign-in link")],
	["/../../projects", button(/^Rename/)],
	["/../../account", button("Sign out everywhere")],
];

test("dialogs are opened and closed by keyboard, keep the focus, return it, and are accessible in light and dark", async ({
	dashboard,
	page,
}) => {
	test.slow();
	const webhook = await furnish(dashboard);
	await dashboard.enter(page);
	const dialog = page.getByRole("dialog");
	for (const [path, openerOf, backOf] of dialogs(webhook)) {
		await page.emulateMedia({ colorScheme: "light" });
		await page.goto(new URL(dashboard.project(path)).href);
		await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
		const opener = await openerOf(page);
		const name = `${path} ${opener}`;
		await opener.focus();
		await page.keyboard.press("Enter");
		await expect(dialog, name).toBeVisible();
		await expectAccessible(page);
		await page.emulateMedia({ colorScheme: "dark" });
		await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
		await expectAccessible(page);
		for (let stop = 0; stop < 10; stop++) {
			await page.keyboard.press("Tab");
			expect(await dialog.evaluate((one) => one.matches(":focus-within")), name).toBe(true);
		}
		await page.keyboard.press("Escape");
		await expect(dialog, name).toHaveCount(0);
		await expect(backOf === undefined ? opener : backOf(page), name).toBeFocused();
	}
});

// Focus was lost, so the next Tab began at the top of the page.
test("when the focused element disappears, focus moves to the next row or to the page", async ({
	dashboard,
	page,
	browser,
}) => {
	const webhook = await furnish(dashboard);
	await dashboard.shop.post(dashboard.shop.path("/api-keys"), { name: "Laptop" });
	await dashboard.enter(page);
	const other = await browser.newContext();
	await dashboard.signIn(await other.newPage());
	const content = page.locator("#content");
	const press = async (name: string | RegExp) => {
		await page.getByRole("button", { name }).last().focus();
		await page.keyboard.press("Enter");
	};
	const confirm = async (name: string) => {
		await page.getByRole("dialog").getByRole("button", { name }).press("Enter");
		await expect(page.getByRole("dialog")).toHaveCount(0);
	};
	await page.goto(dashboard.project("/api-keys"));
	await press("Revoke Laptop");
	await confirm("Revoke key");
	await expect(page.getByRole("button", { name: "Revoke Shop server" })).toBeFocused();
	await page.keyboard.press("Enter");
	await confirm("Revoke key");
	await expect(content).toBeFocused();

	await page.goto(dashboard.project(`/webhooks/${webhook}?tab=settings`));
	await press("Delete webhook");
	await page.getByRole("dialog").getByRole("textbox").fill("ERP");
	await confirm("Delete webhook");
	await expect(page.getByRole("heading", { name: "Webhooks", level: 1 })).toBeVisible();
	await expect(content).toBeFocused();

	await page.goto(dashboard.project("/apps"));
	await press("Remove");
	await confirm("Remove and pause");
	await expect(page.getByRole("button", { name: "Install" })).toBeFocused();

	// Without a dialog.
	await page.goto(`${dashboard.url}/account`);
	const sessions = page.getByRole("button", { name: /^Sign out (?!everywhere|of this)/ });
	await sessions.last().press("Enter");
	await expect(content).toBeFocused();
	await other.close();
});

test("menus are opened, walked and closed by keyboard, and filters keep to one line", async ({ dashboard, page }) => {
	await furnish(dashboard);
	await dashboard.enter(page);
	for (const [path, opener] of [
		["", /^Posthorn/],
		["", "Theme"],
		["", /^Account of/],
		["/logs", "More actions"],
	] as const) {
		await page.goto(dashboard.project(path));
		await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
		const target = page.getByRole("button", { name: opener });
		await target.focus();
		await page.keyboard.press("Enter");
		// The switcher has links and, if there are many projects, a field.
		const items = page.getByRole("menuitem").or(page.getByRole("dialog", { name: "Projects" }).locator("input, a"));
		await expect(items.first()).toBeFocused();
		await page.keyboard.press("ArrowDown");
		await expect(items.nth(1)).toBeFocused();
		// A menu is in no landmark, because it's above the page.
		const { violations } = await (await axe(page)).disableRules("region").analyze();
		expect(violations).toEqual([]);
		await page.keyboard.press("Escape");
		await expect(items).toHaveCount(0);
		await expect(target).toBeFocused();
	}
	// A chosen value once pushed what follows it to a second line.
	const filter = page.getByRole("search", { name: "Filters" });
	const heightOf = async (label: string) =>
		(await filter
			.getByLabel(label, { exact: true })
			.first()
			.locator("xpath=ancestor::*[contains(@class,'Input-wrapper')][1]")
			.boundingBox())!.height;
	const height = await heightOf("Event types");
	for (const label of ["Webhooks", "Event types", "Responses"]) {
		await filter.getByLabel(label, { exact: true }).first().focus();
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.keyboard.press("Escape");
		expect(await heightOf(label), label).toBe(height);
	}
	// Short words were cut to their first letter.
	await page.setViewportSize({ width: 390, height: 844 });
	await page.goto(dashboard.project("/logs?state=waiting"));
	const chosen = filter.getByText("Waiting", { exact: true });
	await expectToFit(chosen);
	await page.setViewportSize({ width: 320, height: 844 });
	const empty = filter.getByLabel("Webhooks", { exact: true }).first();
	await expectToFit(empty);
});

test("the browser's Back closes a delivery, and returns the focus to its row", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	for (let n = 1; n <= 3; n++) await shop.post(shop.path("/events"), purchase(n));
	await receiver.count(3);
	await dashboard.enter(page);
	await page.goto(dashboard.project("/logs"));
	const row = page.getByRole("table", { name: "Deliveries" }).getByRole("row").nth(2);
	// Until the deliveries have been read, there are rows without any.
	await expect(row).toContainText("purchase.completed");
	// By keyboard, and by pointer.
	for (const open of [() => row.press("Enter"), () => row.getByRole("link", { name: "purchase.completed" }).click()]) {
		await row.focus();
		await open();
		await expect(page.getByRole("dialog")).toBeVisible();
		await page.goBack();
		await expect(page.getByRole("dialog")).toHaveCount(0);
		await expect(row).toBeFocused();
	}
});

// It then asked about the delivery before it.
test("the browser's Back closes a question about a delivery, too", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), purchase(n));
	await receiver.count(2);
	await dashboard.enter(page);
	await page.setViewportSize({ width: 1700, height: 900 });
	await page.goto(dashboard.project("/logs"));
	const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
	const question = page.getByRole("dialog", { name: "Replay" });
	for (const order of ["ord_1", "ord_2"]) {
		await rows.filter({ hasText: order }).getByRole("link").click();
		await expect(page.getByRole("dialog").getByRole("link", { name: order })).toBeVisible();
	}
	await page.keyboard.press("r");
	await expect(question).toContainText("Send purchase.completed (order ord_2) to Accounting again?");
	await page.goBack();
	await expect(page.getByRole("dialog").getByRole("link", { name: "ord_1" })).toBeVisible();
	await expect(question).toHaveCount(0);
	await page.goForward();
	await expect(page.getByRole("dialog").getByRole("link", { name: "ord_2" })).toBeVisible();
	await expect(question).toHaveCount(0);
});

test.describe("with long delays", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600,3600" } });

	test("the focus stays in a delivery while it changes, and the sign-in page has one from the start", async ({
		dashboard,
		page,
		context,
	}) => {
		const receiver = await dashboard.failing("ERP", 2);
		await dashboard.enter(page);
		await page.goto(dashboard.project("/logs"));
		const drawer = page.getByRole("dialog");
		const focused = page.locator("[role=dialog]:focus-within");
		await page.getByRole("row", { name: /ord_2/ }).focus();
		await page.keyboard.press("Enter");
		await drawer.getByRole("link", { name: /^attempt 1 of/ }).focus();
		await page.keyboard.press("j");
		await expect(drawer.getByRole("link", { name: "ord_1" })).toBeVisible();
		await expect(focused).toHaveCount(1);
		// The help opens above it, gets the keys, and closes without closing the drawer.
		const retry = drawer.getByRole("button", { name: "Retry now" });
		await retry.focus();
		await page.keyboard.press("?");
		const help = page.getByRole("dialog", { name: "Keyboard" });
		await expect(help.getByRole("button")).toBeFocused();
		await help.getByText("Show this help").click();
		await page.keyboard.press("k");
		await page.keyboard.press("Escape");
		await expect(help).toHaveCount(0);
		await expect(retry).toBeFocused();
		await expect(drawer.getByRole("link", { name: "ord_1" })).toBeVisible();
		await drawer.getByRole("button", { name: "Retry now" }).focus();
		await page.keyboard.press("r");
		await receiver.count(3);
		await expect(drawer.getByRole("heading", { name: /^Attempt 2 of/ })).toBeVisible();
		await expect(page.getByRole("row", { name: /ord_1/, includeHidden: true })).toContainText("2/");
		await expect(focused).toHaveCount(1);
		await page.keyboard.press("Escape");
		await expect(page.getByRole("row", { name: /ord_1/ })).toBeFocused();

		await context.clearCookies();
		await page.reload();
		await expect(page.getByLabel("E-mail")).toBeFocused();
	});
});

// A failure went unreported, and success closed whichever dialog was open by then.
test("what a dialog has begun ends without it once it's closed", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	for (const name of ["One", "Two"]) await shop.post(shop.path("/api-keys"), { name, scopes: ["read"] });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/api-keys"));
	const dialog = page.getByRole("dialog");
	/** Begins to revoke a key, closes the dialog, and returns how to respond. */
	const begin = async (name: string) => {
		const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
		await page.unrouteAll();
		await page.route("**/api-keys/key_*", async (route) => {
			begun.resolve();
			const status = await held.promise;
			return status === 204 ? route.continue() : route.fulfill({ status, body: "" });
		});
		await page.getByRole("button", { name: `Revoke ${name}` }).click();
		await dialog.getByRole("button", { name: "Revoke key" }).click();
		await begun.promise;
		await page.keyboard.press("Escape");
		await expect(dialog).toHaveCount(0);
		return (status: number) => held.resolve(status);
	};
	const fail = await begin("One");
	fail(500);
	const problem = page.getByRole("alert");
	await expect(problem).toContainText("The service returned 500");
	await problem.getByRole("button", { name: "Close" }).click();
	await expect(problem).toHaveCount(0);

	const succeed = await begin("One");
	await page.getByRole("button", { name: "Revoke Two" }).click();
	await expect(dialog).toContainText("Revoke Two?");
	succeed(204);
	await expect(page.getByRole("row", { name: /One/ })).toHaveCount(0);
	await expect(page.getByText("One is revoked.")).toBeVisible();
	await expect(dialog).toContainText("Revoke Two?");
	await page.unrouteAll();
	await dialog.getByRole("button", { name: "Revoke key" }).click();
	await expect(dialog).toHaveCount(0);
	await expect(page.getByRole("heading", { name: "No keys yet" })).toBeVisible();
});

// The pause dialog opened on its own once the webhook was active again.
test("a question about a webhook's state ends when someone else changes it", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await page.getByRole("button", { name: "Pause" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("Nothing is sent until you resume it.");
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
	await expect(dialog).toHaveCount(0);
	await expect(page.getByRole("heading", { name: "Paused" })).toBeVisible();
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "active" });
	await page.getByRole("tabpanel").getByRole("button", { name: "Pause" }).click();
	// With the other one, there would be two buttons.
	await dialog.getByRole("button", { name: "Pause" }).click();
	await expect(page.getByText("Accounting is paused.")).toBeVisible();
	await expect(dialog).toHaveCount(0);
	await shop.patch(shop.path(`/webhooks/${id}`), { status: "active" });
	await expect(page.getByRole("heading", { name: "Active" })).toBeVisible();
	await page.getByRole("tab", { name: "Activity" }).click();
	await expect(page.getByRole("tab", { name: "Activity" })).toHaveAttribute("aria-selected", "true");
	await expect(dialog).toHaveCount(0);
});

// It led away from whichever page was open by then.
test("a webhook that is deleted after its dialog was closed leaves the page that is open", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	await page.route(`**/webhooks/${id}`, async (route) => {
		if (route.request().method() === "DELETE") {
			asked.resolve();
			await held.promise;
		}
		await route.continue();
	});
	await page.getByRole("button", { name: "Delete webhook" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("textbox").fill("Accounting");
	await dialog.getByRole("button", { name: "Delete webhook" }).click();
	await asked.promise;
	await page.keyboard.press("Escape");
	await expect(dialog).toHaveCount(0);
	await page.getByRole("link", { name: "API Keys" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "API Keys" })).toBeVisible();
	held.resolve();
	await expect(page.getByText("Accounting is deleted.")).toBeVisible();
	await expect(page.getByRole("heading", { level: 1, name: "API Keys" })).toBeVisible();
});

test.describe("a service of its own", () => {
	test.use({ ownService: true });

	// A fault of no field was hidden by that of a field, and none was shown once the dialog was closed.
	test("a new project's form shows every fault, and ends without its dialog once that is closed", async ({
		dashboard,
		page,
	}) => {
		await dashboard.enter(page);
		await page.goto(`${dashboard.url}/projects`);
		const dialog = page.getByRole("dialog");
		const alert = page.getByRole("alert");
		let held = Promise.resolve();
		let asked = Promise.withResolvers<void>();
		let faults: readonly { pointer: string; detail: string }[] = [
			{ pointer: "/name", detail: "is taken" },
			{ pointer: "/apps", detail: "are too many" },
		];
		await page.route("**/v1/projects", async (route) => {
			if (route.request().method() !== "POST") return route.continue();
			asked.resolve();
			await held;
			if (faults.length === 0) return route.continue();
			return route.fulfill({ status: 422, json: { type: "https://posthorn.dev/errors/invalid", errors: faults } });
		});
		const create = () => dialog.getByRole("button", { name: "Create project" }).click();
		const open = async () => {
			await page.getByRole("button", { name: "New project" }).click();
			await dialog.getByLabel("Name").fill("Another store");
		};
		/** Begins to create it, closes the dialog, and returns how to respond. */
		const begin = async () => {
			const gate = Promise.withResolvers<void>();
			held = gate.promise;
			asked = Promise.withResolvers<void>();
			await open();
			await create();
			await asked.promise;
			await page.keyboard.press("Escape");
			await expect(dialog).toHaveCount(0);
			return gate.resolve;
		};
		await open();
		await create();
		await expect(dialog.getByRole("alert")).toContainText("Is taken. Are too many.");
		await expect(dialog.getByLabel("Name")).toHaveAccessibleDescription(/Is taken\./);
		await page.keyboard.press("Escape");
		await expect(dialog).toHaveCount(0);

		faults = faults.slice(0, 1);
		(await begin())();
		await expect(alert).toContainText("Is taken.");
		await alert.getByRole("button", { name: "Close" }).click();

		faults = [];
		(await begin())();
		await expect(page.getByText("Another store is created.")).toBeVisible();
		await expect(page.getByRole("heading", { level: 1, name: "Projects" })).toBeVisible();
		await expect(page.getByRole("link", { name: "Another store" })).toBeVisible();
	});
});
