import { expect, test } from "./dashboard.ts";

test.describe("with longer descriptions and URLs than by default", () => {
	test.use({ settings: { POSTHORN_MAX_DESCRIPTION_LENGTH: "300", POSTHORN_MAX_URL_LENGTH: "4096" } });

	// The form only knew the defaults: it refused to save anything of such a webhook, and cut URLs off.
	test("the form has the service's limits", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		const url = receiver.url(`/${"u".repeat(3_000)}`);
		const { id } = await shop.webhook(url, { description: "d".repeat(300) });
		await dashboard.enter(page);
		await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
		await expect(page.getByLabel("300 of 300 characters")).toBeVisible();
		await page.getByLabel("URL").fill(`${url}u`);
		await page.getByRole("button", { name: "Save" }).first().click();
		await expect(page.getByText("Saved. Retries and replays use it from now on, too.")).toBeVisible();
		expect((await shop.get(shop.path(`/webhooks/${id}`))).body.url).toBe(`${url}u`);
		await page.getByRole("textbox", { name: "Description" }).fill("d".repeat(301));
		await page.getByRole("button", { name: "Save" }).first().click();
		await expect(page.getByText("Must have at most 300 characters.")).toBeVisible();
	});
});
