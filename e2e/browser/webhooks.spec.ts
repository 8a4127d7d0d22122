import type { Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { expect, expectAccessible, expectToFit, test, watch } from "./dashboard.ts";

const MANY = 130;

/** The webhooks whose health a page requests, none for all of them, and whether with hours. */
function healthRequests(page: Page) {
	const asked: { ids: string[]; hours: boolean }[] = [];
	page.on("request", (request) => {
		const { pathname, searchParams } = new URL(request.url());
		if (!pathname.endsWith("/webhooks/health")) return;
		const ids = searchParams.getAll("webhook_id");
		const hours = searchParams.get("hours") !== "false";
		asked.push({ ids, hours });
	});
	return {
		ids: () => asked.map(({ ids }) => ids),
		withHours: () => asked.filter(({ hours }) => hours).map(({ ids }) => ids),
		clear: () => void asked.splice(0),
	};
}

test.describe("with many webhooks", () => {
	test.use({ settings: { POSTHORN_MAX_WEBHOOKS: String(MANY) } });

	// 5,000 of them once took 11 seconds and 245,000 elements.
	test("a long list of webhooks renders the rows in sight, failing ones first, and is searched", async ({
		dashboard,
		page,
		context,
	}) => {
		const faults = watch(context);
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		for (let n = 1; n < MANY; n++)
			await shop.webhook(`https://example.com/hooks/${n}`, {
				description: `Customer ${n}`,
				events: ["customer.created"],
			});
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		for (let n = 1; n <= 3; n++) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(3);
		await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBeGreaterThan(2);
		await dashboard.enter(page);
		const health = healthRequests(page);
		await page.goto(dashboard.project("/webhooks"));
		const table = page.getByRole("table", { name: "Webhooks" });
		await expect(table).toHaveAttribute("aria-rowcount", String(MANY + 1));
		await expect(table.getByRole("row").nth(1)).toContainText("Accounting");
		expect(await table.locator("tbody tr").count()).toBeLessThan(60);
		// The longest state was once cut off.
		const state = table.getByText("No deliveries").first();
		expect(await state.evaluate((element) => element.getBoundingClientRect().right)).toBeLessThanOrEqual(
			await state.evaluate((element) => element.closest("td")!.getBoundingClientRect().right),
		);
		// Times of three digits stuck out of their column.
		const p95 = table.locator('tr[aria-rowindex="2"]').getByText(/^p95 /);
		const tooWide = await p95.evaluate((words) => {
			const figure = words.parentElement!.cloneNode(true) as typeof words;
			figure.lastElementChild!.textContent = "p95 ~880 ms";
			words.closest("td")!.append(figure);
			const beyond = figure.scrollWidth - figure.clientWidth;
			figure.remove();
			return beyond;
		});
		expect(tooWide).toBe(0);
		// Hours are most of the health's bytes, so they are only fetched for the rows in sight.
		const barsOf = (n: number) =>
			table.locator(`tr[aria-rowindex="${n}"]`).getByRole("img", { name: /The last 24 hours/ });
		await expect(barsOf(2)).toBeVisible();
		const inSight = health.withHours().flat();
		expect(inSight.length).toBeGreaterThan(5);
		expect(inSight.length).toBeLessThan(60);
		// Tab stops at one row, and not at each row's link.
		await page.getByRole("combobox", { name: "State" }).focus();
		await page.keyboard.press("Tab");
		await expect(table.getByRole("row").nth(1)).toBeFocused();
		await page.keyboard.press("Tab");
		await expect(table.locator(":focus")).toHaveCount(0);
		await expectAccessible(page);
		await expect(async () => {
			await page.mouse.wheel(0, 20_000);
			await expect(table.locator(`tr[aria-rowindex="${MANY + 1}"]`)).toBeInViewport({ timeout: 500 });
		}).toPass();
		await expect(barsOf(MANY + 1)).toBeVisible();
		// On paper, rows out of sight were blank.
		await page.emulateMedia({ media: "print" });
		await expect(table.locator("tbody tr")).toHaveCount(MANY);
		await expect(table.locator("tbody tr:not([data-index])")).toHaveCount(0);
		await page.emulateMedia({ media: null });
		await expect(table).toHaveAttribute("aria-rowcount", String(MANY + 1));
		for (const { length } of health.withHours()) expect(length > 0 && length <= 50, `${length} webhooks`).toBe(true);

		await page.getByRole("textbox", { name: "Find a webhook" }).fill("customer 12");
		await expect(page.getByText(`11 of ${MANY} webhooks match.`)).toBeVisible();
		await expect(table.getByRole("row")).toHaveCount(1 + 11);
		await page.reload();
		await expect(table.getByRole("row")).toHaveCount(1 + 11);
		await page.getByRole("combobox", { name: "State" }).selectOption("Paused");
		await expect(page.getByText(`None of ${MANY} webhooks matches.`)).toBeVisible();
		await expectAccessible(page);
		await page.getByRole("button", { name: "Clear the filters" }).click();
		await expect(page).toHaveURL(/\/webhooks$/);
		await page.setViewportSize({ width: 390, height: 844 });
		const cards = page.getByRole("list", { name: "Webhooks" }).getByRole("listitem");
		await expect(cards).toHaveCount(50);
		await page.getByRole("button", { name: "Show 50 more" }).click();
		await expect(cards).toHaveCount(100);
		await expectAccessible(page);
		await page.getByRole("link", { name: "Accounting" }).click();
		await expect(page.getByRole("heading", { name: "Accounting" })).toBeVisible();
		// A webhook's own page requests nothing about the others. Until it is shown, the list may request its new cards.
		health.clear();
		await page.reload();
		await expect(page.getByText("Failing", { exact: true }).first()).toBeVisible();
		const ownId = new URL(page.url()).pathname.split("/").at(-1);
		expect(health.ids()).toContainEqual([ownId]);
		expect(health.ids().filter((ids) => ids.length !== 1)).toEqual([]);
		expect(faults).toEqual([]);
	});

	// The operator of 200 stores could only scroll.
	test("a long list of projects is searched, including those that aren't loaded yet", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const named = dashboard.address("Store");
		// A page has 100.
		for (let n = 1; n <= 105; n++) await shop.post("/v1/projects", { name: `${named} ${n}`, apps: [] });
		await dashboard.enter(page);
		await page.goto(`${dashboard.url}/projects`);
		const table = page.getByRole("table", { name: "Projects" });
		await expect(table.getByRole("row")).toHaveCount(1 + 100);
		await page.keyboard.press("/");
		const field = page.getByRole("textbox", { name: "Find a project" });
		await expect(field).toBeFocused();
		await page.keyboard.type(`${named.toLowerCase()} 10`);
		await expect(page.getByText(/^7 of 1\d\d projects match\.$/)).toBeVisible();
		await expect(table.getByRole("row")).toHaveCount(1 + 7);
		await page.reload();
		await expect(table.getByRole("row")).toHaveCount(1 + 7);
		await expectAccessible(page);
		// On phones, rows had what they were meant to leave out.
		await page.setViewportSize({ width: 390, height: 844 });
		await expect(table.getByText("Owner").first()).toBeHidden();
		await expectAccessible(page);
		await field.fill("nothing has this name");
		await expect(page.getByText(/^None of 1\d\d projects matches\.$/)).toBeVisible();
		await expectAccessible(page);
		await page.getByRole("button", { name: "Clear the search" }).click();
		await expect(page).toHaveURL(/\/projects$/);
		await expect(table.getByRole("row").nth(1)).toBeVisible();
		await field.fill(`${named} 105`);
		await expect(table.getByRole("row")).toHaveCount(1 + 1);
		// Past the button that clears it, and what needs attention.
		for (let stop = 1; stop <= 3; stop++) await page.keyboard.press("Tab");
		await page.keyboard.press("Enter");
		await expect(page.getByRole("heading", { name: `${named} 105`, level: 1 })).toBeVisible();

		// The switcher listed up to 200, without a way to find one.
		await page.setViewportSize({ width: 1280, height: 900 });
		const switcher = page.getByRole("button", { name: `${named} 105` });
		await switcher.click();
		const list = page.getByRole("dialog", { name: "Projects" });
		const sought = list.getByRole("textbox", { name: "Find a project" });
		await expect(sought).toBeFocused();
		await expectAccessible(page);
		await page.keyboard.type(`${named.toLowerCase()} 10`);
		await expect(list.getByText(/^7 of 1\d\d projects match\.$/)).toBeVisible();
		await expectAccessible(page);
		for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
		await expect(list.getByRole("link", { name: `${named} 100` })).toBeFocused();
		await page.keyboard.press("Enter");
		await expect(page.getByRole("heading", { name: `${named} 100`, level: 1 })).toBeVisible();
		await expect(list).toHaveCount(0);
		await page.setViewportSize({ width: 390, height: 844 });
		await page.getByRole("button", { name: "Open the menu" }).click();
		const onPhone = page.getByRole("dialog", { name: "Menu" }).getByRole("button", { name: `${named} 100` });
		await onPhone.click();
		// Until then, a space is for the button, and closes the list.
		await expect(sought).toBeFocused();
		await page.keyboard.type("nothing has this name");
		await expect(list.getByText(/^None of 1\d\d projects matches\.$/)).toBeVisible();
		await page.keyboard.press("Escape");
		await expect(list).toHaveCount(0);
		await expect(onPhone).toBeFocused();
		await page.keyboard.press("Enter");
		await expect(sought).toBeFocused();
		await page.keyboard.type(`${named} 101`);
		await expect(list.getByText(/^1 of 1\d\d projects matches\.$/)).toBeVisible();
		await page.keyboard.press("Enter");
		await expect(page.getByRole("heading", { name: `${named} 101`, level: 1 })).toBeVisible();
	});
});

// The cursor jumped to the end with each character: "acing" became "accingount".
test("a search is corrected in its middle, and follows the address bar", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	for (let n = 1; n <= 9; n++) await shop.webhook(`https://example.com/${n}`, { description: `Accounting ${n}` });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks?text=acing"));
	const field = page.getByRole("textbox", { name: "Find a webhook" });
	await expect(field).toHaveValue("acing");
	await field.press("Home");
	for (let n = 1; n <= 2; n++) await page.keyboard.press("ArrowRight");
	await page.keyboard.type("count");
	await expect(field).toHaveValue("accounting");
	await expect(page).toHaveURL(/text=accounting$/);
	await expect(page.getByText("9 webhooks, none is failing.")).toBeVisible();
	await field.fill("nothing has this name");
	await page.getByRole("button", { name: "Clear the filters" }).click();
	await expect(field).toHaveValue("");
	await field.fill("accounting 9");
	await page.getByRole("button", { name: "Clear" }).click();
	await expect(field).toHaveValue("");
	await expect(page).toHaveURL(/webhooks$/);
});

// It said "12.3K, for 5…".
test("a large backlog and its age are shown whole", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.route("**/webhooks/health?*", async (route) => {
		const response = await route.fetch();
		const { data, ...rest } = await response.json();
		const backlog = { events: 12_345, oldest_at: new Date(Date.now() - 59.5 * 60_000).toISOString() };
		await route.fulfill({ response, json: { ...rest, data: data.map((one: object) => ({ ...one, backlog })) } });
	});
	await page.goto(dashboard.project("/webhooks"));
	const cell = page.getByRole("cell").filter({ hasText: /^12\.3K, for 59 min$/ });
	await expect(cell).toBeVisible();
	await expectToFit(cell);
});

test("an empty log shows an example of what its view will list", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	for (const [view, column] of [
		["deliveries", "State"],
		["attempts", "Outcome"],
	] as const) {
		await page.goto(dashboard.project(`/logs?view=${view}`));
		await expect(page.getByRole("heading", { name: "The log is empty" })).toBeVisible();
		// The example is hidden from screen readers.
		await expect(page.locator("[inert] th", { hasText: column })).toBeVisible();
		await expect(page.locator("[inert] tbody tr")).toHaveCount(3);
		await expectAccessible(page);
	}
});
