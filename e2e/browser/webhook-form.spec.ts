import { expect, expectAccessible, test } from "./dashboard.ts";

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

// It said so twice, said "Not checked yet." twice without saying what, and announced what would be sent to the URL.
test("a form says once that a URL must be https, and promises nothing", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks/new"));
	const url = page.getByLabel("URL");
	const checks = page.getByRole("listitem").filter({ hasText: /: (yes|no|not checked yet|could not be checked)$/ });
	await url.fill("http://example.com/hooks");
	const others = ["Host name resolves: not checked yet", "Address is allowed: not checked yet"];
	const reason = "The URL must begin with https://. Webhooks are delivered over HTTPS only.";
	await expect(checks).toHaveText([`${reason}: no`, ...others]);
	await expect(page.getByText("Choose a URL and the events to send.")).toBeVisible();
	await expect(page.getByText("https://…", { exact: true })).toBeVisible();
	await page.getByRole("button", { name: "Create webhook" }).click();
	await expect(page.getByText("Use an https URL. Events are only sent encrypted.")).toBeVisible();
	await expect(checks).toHaveText(others);
	await expectAccessible(page);
	// The same check refuses it, although it uses https.
	await url.fill("https://example.com/hooks#here");
	const fragment = "Must not have a fragment (#…): it would never be sent.";
	await expect(checks).toHaveText([`${fragment}: no`, ...others]);
	await page.getByLabel("customer.created", { exact: true }).check();
	await page.getByRole("button", { name: "Create webhook" }).click();
	await expect(page.getByText(fragment, { exact: true }).first()).toBeVisible();
	await expect(checks).toHaveText(others);
});

test("a sample request shows the URL as it is called", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks/new"));
	await page.getByLabel("URL").fill("https://Example.com/shop/../hooks");
	await expect(page.getByText("https://example.com/hooks", { exact: true })).toBeVisible();
});

// Screen readers announced that it passes the checks.
test("a URL whose name couldn't be looked up isn't said to pass the checks", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	const slow = "slow.example did not resolve within 3 seconds. It may resolve when an event is sent.";
	const later = "The address can be checked once the name resolves.";
	const checks = [
		{ name: "https", state: "ok", detail: "Sent encrypted, over HTTPS." },
		{ name: "reachable_name", state: "unknown", detail: slow },
		{ name: "public_address", state: "unknown", detail: later },
	];
	await page.route("**/webhooks/check-url", (route) => route.fulfill({ json: { ok: true, checks } }));
	await page.goto(dashboard.project("/webhooks/new"));
	await page.getByLabel("URL").fill("https://slow.example/hooks");
	// One region says all of it.
	await expect(page.getByText(/slow\.example did not resolve .+ The address can be checked once/i)).toBeAttached();
	await expect(page.getByText(/passes the checks/)).toHaveCount(0);
});
