import { expect, expectAccessible, PASSWORD, test } from "./dashboard.ts";

const completed = (order: string, email: string) => ({
	type: "purchase.completed",
	data: { order_id: order, customer_email: email, amount_cents: 999, currency: "EUR", items: [{ name: "Mug" }] },
});
const DOWN = { status: 500, body: '{"error":"the database is read-only"}' };

test.describe("after the last attempt", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "0.2" } });

	test("an owner finds out why an order wasn't delivered, and sends it again", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const [erp, mail] = [await shop.receiver(), await shop.receiver()];
		erp.respondWith(() => DOWN);
		await shop.webhook(erp.url("/hooks"), { description: "ERP" });
		await shop.webhook(mail.url("/hooks"), { description: "Newsletter" });
		await dashboard.setUp();
		for (const order of ["1233", "1234"]) await shop.post(shop.path("/events"), completed(order, "anna@example.com"));
		await Promise.all([erp.count(4), mail.count(2)]);
		await page.goto(dashboard.project());
		await page.getByLabel("E-mail").fill("operator@example.com");
		await page.getByLabel(/^Password/).fill(PASSWORD);
		await page.keyboard.press("Enter");

		// From any page, as people write it.
		await page.getByRole("textbox", { name: "Find an id, order or customer" }).fill("#1234");
		await page.keyboard.press("Enter");
		const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
		await expect(rows).toHaveCount(1 + 2);
		await rows.filter({ hasText: "ERP" }).click();
		const drawer = page.getByRole("dialog", { name: /^purchase\.completed/ });
		await expect(drawer).toContainText("It said: the database is read-only");
		erp.respondWith(() => ({}));
		// It replayed at once here, and asked in a row.
		await drawer.getByRole("button", { name: "Replay" }).click();
		const question = page.getByRole("dialog", { name: "Replay", exact: true });
		await expect(question).toContainText("Send purchase.completed (order 1234) to ERP again?");
		await expectAccessible(page);
		await question.getByRole("button", { name: "Replay" }).click();
		await expect(page.getByText("Sending purchase.completed (order 1234) to ERP again.")).toBeVisible();
		await expect(drawer).toContainText("Delivered on the first attempt");
		expect(erp.requests.at(-1)?.body).toMatchObject({ data: { order_id: "1234" } });

		// The drawer leads on to all that the log has about the customer.
		await expect(drawer.getByRole("link", { name: "1234", exact: true })).toBeVisible();
		await drawer.getByRole("link", { name: "anna@example.com" }).click();
		await expect(drawer).toHaveCount(0);
		await expect(page).toHaveURL(/customer_email=anna/);
		await expect(rows).toHaveCount(1 + 5);
	});

	test("a failing webhook quotes the response, and a test that succeeds offers a replay", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const erp = await shop.receiver();
		erp.respondWith(() => DOWN);
		const { id } = await shop.webhook(erp.url("/hooks"), { description: "ERP" });
		await dashboard.enter(page);
		for (let n = 1; n <= 3; n++) await shop.post(shop.path("/events"), completed(`ord_${n}`, "anna@example.com"));
		await erp.count(6);
		await page.goto(dashboard.project(`/webhooks/${id}`));
		const banner = page.getByRole("region", { name: "What is wrong" });
		await expect(banner).toContainText("It said: the database is read-only");
		await expect(banner.getByRole("button", { name: "Replay 3 failed deliveries" })).toBeVisible();
		erp.respondWith(() => ({}));
		await page.getByRole("button", { name: "Send test event" }).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByRole("button", { name: "Send", exact: true }).click();
		await expect(dialog).toContainText("It works now. 3 deliveries failed for good.");
		await expectAccessible(page);
		await dialog.getByRole("button", { name: "Replay 3 failed deliveries" }).click();
		await dialog.getByRole("button", { name: "Replay 3 deliveries" }).click();
		await erp.count(6 + 1 + 3);
		await expect(dialog).toContainText("3 deliveries are being sent again");
	});
});

test.describe("with long delays", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

	test("a test that fails can be cancelled where it was sent", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const erp = await shop.receiver();
		erp.respondWith(() => DOWN);
		const { id } = await shop.webhook(erp.url("/hooks"), { description: "ERP" });
		await dashboard.enter(page);
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await page.getByRole("button", { name: "Send test event" }).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByRole("button", { name: "Send", exact: true }).click();
		await expect(dialog).toContainText("Returned 500");
		await dialog.getByRole("button", { name: "Cancel test" }).click();
		await expect(dialog.getByText("Cancelled", { exact: true })).toBeVisible();
		await expectAccessible(page);
	});

	// It suggested a test, as if there had been none, or said that an earlier one had succeeded.
	test("a webhook's header says that its last test failed, and not after one that succeeds", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const erp = await shop.receiver();
		const { id } = await shop.webhook(erp.url("/hooks"), { description: "ERP" });
		await dashboard.enter(page);
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await expect(page.getByText("Send a test event to see whether it works.")).toBeVisible();
		const send = () => shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
		await send();
		await expect(page.getByText("Tested: it accepted a test event")).toBeVisible();
		erp.respondWith(() => DOWN);
		await send();
		const said = page.getByText(
			/No event has been sent to it yet\. Its last test failed .*\. The receiver returned 500/,
		);
		await expect(said).toBeVisible();
		await expectAccessible(page);
		await said.getByRole("link", { name: "See the response" }).click();
		await expect(page.getByRole("dialog")).toContainText("the database is read-only");
		await page.goBack();
		erp.respondWith(() => ({}));
		await shop.post(shop.path("/events"), completed("ord_1", "anna@example.com"));
		await expect(page.getByText(/^Healthy\. 1 delivery accepted/)).toBeVisible();
		await expect(page.getByText("Its last test failed")).toHaveCount(0);
		erp.respondWith(() => DOWN);
		await send();
		await expect(page.getByText(/^Healthy\. .* Its last test failed/)).toBeVisible();
	});

	test("a row's action stays in sight on a small laptop", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const erp = await shop.receiver();
		erp.respondWith(() => DOWN);
		const { id } = await shop.webhook(erp.url("/hooks"), { description: "Accounting" });
		await dashboard.setUp();
		await page.setViewportSize({ width: 1024, height: 768 });
		await dashboard.signIn(page);
		await shop.post(shop.path("/events"), completed("ord_1", "anna@example.com"));
		await page.goto(dashboard.project("/logs"));
		await expect(page.getByRole("button", { name: /^Retry now: purchase/ })).toBeInViewport({ ratio: 1 });
		// Names and types were broken within words.
		const expectOneLine = async (table: string, text: string) => {
			const part = page.getByRole("table", { name: table }).getByText(text, { exact: true });
			expect((await part.boundingBox())!.height, text).toBeLessThan(30);
		};
		await page.goto(dashboard.project("/logs?view=attempts"));
		await expectOneLine("Attempts", "Accounting");
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await expectOneLine("Recent attempts", "purchase.completed");
		await page.goto(dashboard.project("/webhooks"));
		await expect(page.getByRole("table", { name: "Webhooks" }).getByText("500")).toBeInViewport({ ratio: 1 });
	});
});
