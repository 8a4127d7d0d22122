/** What screen readers read out: names of controls, and what changes. */
import type { Page } from "@playwright/test";
import { purchase } from "../shop.ts";
import { choose, type Dashboard, expect, test } from "./dashboard.ts";

/** The log of two failing webhooks' deliveries of two orders, and of an event without an order. */
async function openLog({ dashboard, page }: { dashboard: Dashboard; page: Page }, query = "", rows = 8) {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500 }));
	for (const description of ["Accounting", "Chat"])
		await shop.webhook(receiver.url("/hooks"), { description, events: ["purchase.completed", "customer.created"] });
	for (const n of [1, 2]) await shop.post(shop.path("/events"), purchase(n));
	for (const _ of [1, 2]) await shop.post(shop.path("/events"), { type: "customer.created", data: {} });
	await receiver.count(8);
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/logs${query}`));
	await expect(page.getByRole("row", { name: "500" })).toHaveCount(rows);
}

const namesOf = (page: Page, role: "button" | "checkbox", name: RegExp) =>
	page.getByRole(role, { name }).evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));

// "Retry now: purchase.completed to Accounting" was the name of several buttons, and "Copy id" of all.
test("no two rows have a control of the same name", async ({ dashboard, page }) => {
	await openLog({ dashboard, page });
	const retries = await namesOf(page, "button", /^Retry now/);
	expect(retries).toContain("Retry now: purchase.completed (order ord_1) to Chat");
	expect(retries).toContainEqual(expect.stringMatching(/^Retry now: customer\.created \(evt_\w+…\w+\) to Accounting$/));
	expect(new Set(retries).size).toBe(8);
	const boxes = await namesOf(page, "checkbox", /^Select \w+\./);
	expect(boxes).toContain("Select purchase.completed (order ord_2) to Accounting, attempt 1");
	expect(new Set(boxes).size).toBe(8);
	await page.goto(dashboard.project());
	await expect(page.getByRole("button", { name: /^Retry now/ })).toHaveCount(6);
	expect(new Set(await namesOf(page, "button", /^Retry now/)).size).toBe(6);
	const copies = await namesOf(page, "button", /^Copy id evt_/);
	// Six of eight deliveries, two for each of four events.
	expect(new Set(copies).size).toBeGreaterThanOrEqual(3);
	for (const name of ["Accounting", "Chat"])
		await expect(page.getByRole("link", { name: `How to fix it: ${name}` })).toBeVisible();
});

/** Collects what is added to live regions from now on. */
const LISTEN = `
	globalThis.said = [];
	new MutationObserver((changes) => {
		for (const { target, addedNodes } of changes) {
			const region = (target instanceof Element ? target : target.parentElement)?.closest("[aria-live], [role=status], [role=alert]");
			if (region == null || region.getAttribute("aria-live") === "off") continue;
			const added = target.nodeType === Node.TEXT_NODE ? [target] : [...addedNodes];
			if (added.length > 0) globalThis.said.push((region.ariaAtomic === "true" ? region : added[0]).textContent);
		}
	}).observe(document, { subtree: true, childList: true, characterData: true });
`;
/** All announcements since the last call, once they include a text. */
async function expectSaid(page: Page, text: string | RegExp): Promise<string[]> {
	const all: string[] = [];
	await expect
		.poll(async () => {
			all.push(...((await page.evaluate("said.splice(0)")) as string[]));
			return all.some((one) => (typeof text === "string" ? one === text : text.test(one)));
		}, `said ${text}`)
		.toBe(true);
	return all;
}

// It was silent if the next one had failed in the same way. All of it was read when it opened.
test("an open delivery is announced once when another one, or its next attempt, takes its place", async ({
	dashboard,
	page,
}) => {
	await openLog({ dashboard, page }, "?type=purchase.completed", 4);
	await page.getByRole("row", { name: "ord_2" }).first().focus();
	await page.keyboard.press("Enter");
	const drawer = page.getByRole("dialog");
	const words = (order: number, name: string, attempt = 1) =>
		`purchase.completed (order ord_${order}) to ${name}, attempt ${attempt} of 8: Waiting. The receiver returned 500 (Internal Server Error).`;
	await expect(drawer).toHaveAccessibleDescription(
		/^purchase\.completed \(order ord_2\) to \w+, attempt 1 of 8: Waiting\. /,
	);
	await expect(drawer.getByRole("heading", { level: 3 }).first()).toHaveText(/^The receiver returned 500/);
	const described = await page.locator(".mantine-Drawer-body").getAttribute("aria-label");
	const names = described?.includes(" to Chat,") ? ["Chat", "Accounting"] : ["Accounting", "Chat"];
	await page.evaluate(LISTEN);
	await page.keyboard.press("j");
	expect(await expectSaid(page, words(2, names[1]!))).toEqual([words(2, names[1]!)]);
	await expect(page).toHaveTitle("purchase.completed (order ord_2), attempt 1 of 8 · Posthorn");
	await page.keyboard.press("k");
	expect(await expectSaid(page, words(2, names[0]!))).toEqual([words(2, names[0]!)]);
	await page.keyboard.press("r");
	await expectSaid(page, words(2, names[0]!, 2));
});

// Among the page's links, they were "1", "0" and "0".
test("the overview's links to the log say what they count", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"));
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await dashboard.enter(page);
	await page.goto(dashboard.project());
	for (const name of ["Delivered 1", "Waiting for a retry 0", "To decide 0"])
		await expect(page.getByRole("link", { name, exact: true })).toBeVisible();
});

// The page's first line stayed the same, and has no count.
test("a filter's result is announced, but not how it grows", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await openLog({ dashboard, page }, "?type=purchase.completed&type=customer.created");
	await page.evaluate(LISTEN);
	await page.getByRole("combobox", { name: "Webhooks" }).click();
	await choose(page.getByRole("option", { name: "Chat" }));
	await expectSaid(page, "4 deliveries.");
	await page.keyboard.press("Escape");
	await shop.post(shop.path("/events"), purchase(3));
	await expect(page.getByRole("row", { name: "500" })).toHaveCount(5);
	await page.getByRole("combobox", { name: "States" }).click();
	await choose(page.getByRole("option", { name: "Delivered" }));
	const said = await expectSaid(page, "Nothing matches.");
	expect(said).not.toContain("5 deliveries.");
});

// Each part was read out on its own: "2", then nothing more.
test("the selection is announced as a whole", async ({ dashboard, page }) => {
	await openLog({ dashboard, page });
	await page.evaluate(LISTEN);
	const boxes = page.getByRole("checkbox", { name: /^Select \w+\./ });
	await boxes.nth(0).press("Space");
	await expectSaid(page, "1 selected");
	await boxes.nth(1).press("Space");
	await expectSaid(page, "2 selected");
});

// It had the focus already, so nothing was read.
test("the fault of a field that has the focus is announced each time", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.goto(dashboard.project("/api-keys"));
	await page.getByRole("button", { name: "New key" }).click();
	const name = page.getByRole("textbox", { name: "Name" });
	await expect(name).toBeFocused();
	await page.evaluate(LISTEN);
	for (const _ of [1, 2]) {
		await name.press("Enter");
		await expectSaid(page, "Enter a name.");
		await expect(name).toHaveAccessibleDescription(/^Enter a name\./);
	}
});

// It went to the page as a whole, because the button was disabled with nothing left to save.
test("a form's button keeps the focus when it has saved", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"));
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const save = page.getByRole("button", { name: "Save" }).first();
	await expect(save).toBeDisabled();
	const description = page.getByRole("textbox", { name: "Description" });
	let patches = 0;
	page.on("request", (request) => request.method() === "PATCH" && patches++);
	await description.press("Enter");
	await description.fill("Accounting");
	await save.press("Enter");
	await expect(page.getByText(/^Saved\./)).toBeVisible();
	await expect(page.getByRole("heading", { level: 1, name: "Accounting" })).toBeVisible();
	await expect(save).toBeDisabled();
	await expect(save).toBeFocused();
	await save.press("Enter");
	await description.press("Enter");
	expect(patches).toBe(1);
});
