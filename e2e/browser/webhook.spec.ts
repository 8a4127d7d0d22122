import type { Page } from "@playwright/test";
import { purchase, type Receiver } from "../shop.ts";
import { type Dashboard, expect, expectAccessible, test, watch } from "./dashboard.ts";

/** Registers a webhook by hand, and returns the secret from the dialog. */
async function register(page: Page, dashboard: Dashboard, receiver: Receiver, description: string): Promise<string> {
	await page.goto(dashboard.project("/webhooks/new"));
	await page.getByLabel("URL").fill("http://localhost/hooks");
	await expect(page.getByText(/must begin with https/).first()).toBeVisible();
	await page.getByLabel("URL").fill(receiver.url("/hooks"));
	await expect(page.getByText("The URL passes the checks.")).toBeAttached();
	await page.getByRole("textbox", { name: "Description" }).fill(description);
	await page.getByLabel("purchase.completed", { exact: true }).check();
	await page.getByRole("button", { name: "Create webhook" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("is only shown now");
	return (await dialog.getByTestId("secret").textContent()) ?? "";
}

test("a new webhook shows its secret once, and receives verifiable events", async ({ dashboard, page, context }) => {
	const faults = watch(context);
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project("/webhooks"));
	await expectAccessible(page);

	const secret = await register(page, dashboard, receiver, "Accounting");
	expect(secret).toMatch(/^whsec_/);
	receiver.setSecret(secret);
	const dialog = page.getByRole("dialog");
	for (const language of ["TypeScript", "Python", "PHP", "Go", "Ruby"]) {
		await dialog.getByRole("tab", { name: language }).click();
		await expect(dialog.getByRole("tabpanel")).toContainText(/hmac/i);
	}
	await expectAccessible(page);
	// It can't be closed by accident.
	await page.keyboard.press("Escape");
	await expect(dialog).toBeVisible();
	await dialog.getByLabel("I've stored it").check();
	await dialog.getByRole("button", { name: "Done" }).click();
	await expect(page.getByRole("heading", { name: "Accounting", level: 1 })).toBeVisible();
	expect(await page.content()).not.toContain(secret);
	await expectAccessible(page);

	await shop.post(shop.path("/events"), purchase(1));
	expect((await receiver.next()).verified).toBe(true);
	await expect(page.getByRole("table", { name: "Recent attempts" }).getByText("Delivered")).toBeVisible();
	await expect(page.getByText("Healthy", { exact: true })).toBeVisible();

	await page.getByRole("button", { name: "Send test event" }).click();
	await dialog.getByRole("button", { name: "Send", exact: true }).click();
	await expect(dialog.getByText(/Returned 200/)).toBeVisible();
	expect((await receiver.next()).verified).toBe(true);
	await expectAccessible(page);
	expect(faults).toEqual([]);
});

test("rotating invalidates the old secret immediately", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id, secret: old } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await page.getByRole("button", { name: "Rotate signing secret" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("The old secret stops working immediately");
	await dialog.getByRole("button", { name: "Rotate now" }).click();
	const secret = (await dialog.getByTestId("secret").textContent()) ?? "";
	expect(secret).not.toBe(old);

	await shop.post(shop.path("/events"), purchase(1));
	expect((await receiver.next()).verified, "with the old secret").toBe(false);
	receiver.setSecret(secret);
	await shop.post(shop.path("/events"), purchase(2));
	expect((await receiver.next()).verified, "with the new secret").toBe(true);
});

test("a paused webhook keeps its backlog, and resumes with or without it", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const dialog = page.getByRole("dialog");
	const pause = async (): Promise<void> => {
		await page.getByRole("tabpanel").getByRole("button", { name: "Pause", exact: true }).click();
		await dialog.getByRole("button", { name: "Pause", exact: true }).click();
		await expect(dialog).toHaveCount(0);
		await expect(page.getByRole("heading", { name: "Paused" })).toBeVisible();
	};
	const resume = async (choice: RegExp): Promise<void> => {
		await page.reload();
		await page.getByRole("button", { name: "Resume" }).last().click();
		await dialog.getByLabel(choice).check();
		await expectAccessible(page);
		await dialog.getByRole("button", { name: "Resume" }).click();
		await expect(dialog).toHaveCount(0);
		await expect(page.getByRole("heading", { name: "Active" })).toBeVisible();
	};

	await pause();
	await shop.post(shop.path("/events"), purchase(1));
	await resume(/Send it/);
	expect((await receiver.next()).body).toMatchObject({ data: { n: 1 } });
	await pause();
	await shop.post(shop.path("/events"), purchase(2));
	await resume(/Skip it/);
	await shop.post(shop.path("/events"), purchase(3));
	expect((await receiver.next()).body).toMatchObject({ data: { n: 3 } });
	expect(receiver.received).toBe(2);
});

test("a webhook is deleted by typing its name", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await expectAccessible(page);
	await page.getByRole("button", { name: "Delete webhook" }).click();
	const dialog = page.getByRole("dialog");
	const act = dialog.getByRole("button", { name: "Delete webhook" });
	await expect(act).toBeDisabled();
	await dialog.getByRole("textbox").fill("Accounting");
	await act.click();
	await expect(page).toHaveURL(/\/webhooks$/);
	expect((await shop.get(shop.path(`/webhooks/${id}`))).status).toBe(404);
});
