import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { purchase } from "../shop.ts";
import { expect, expectAccessible, test } from "./dashboard.ts";

test.describe("with long delays", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600,3600" } });

	test("a test that waits for a retry is cancelled from its row or the drawer", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		for (let n = 1; n <= 2; n++) await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
		await receiver.count(2);
		await page.goto(dashboard.project());
		await expect(page.getByText("2 tests wait; the next attempt is")).toBeVisible();
		// They counted as deliveries.
		const tile = page.getByRole("term").filter({ hasText: "Waiting for a retry" }).locator("..");
		await expect(tile.getByRole("link")).toHaveText("0");
		await tile.getByRole("link").click();
		await expect(page).toHaveURL(/test=false/);
		await expect(page.getByRole("heading", { name: "Nothing matches" })).toBeVisible();
		await page.goto(dashboard.project("/webhooks"));
		await expect(page.getByRole("row", { name: /Accounting/ }).getByText("None", { exact: true })).toBeVisible();
		await page.goto(dashboard.project("/logs"));
		const table = page.getByRole("table", { name: "Deliveries" });
		await expect(table.getByRole("button", { name: /^Cancel the test/ })).toHaveCount(2);
		await expectAccessible(page);
		await table
			.getByRole("button", { name: /^Cancel the test/ })
			.first()
			.click();
		await expect(table.getByText("Cancelled", { exact: true })).toHaveCount(1);
		await table.getByRole("row").filter({ hasText: "Waiting" }).getByRole("link").click();
		const drawer = page.getByRole("dialog");
		await drawer.getByRole("button", { name: "Cancel test" }).click();
		await expect(drawer.getByText("Cancelled", { exact: true }).first()).toBeVisible();
		await expect(drawer.getByRole("button", { name: "Cancel test" })).toHaveCount(0);
		await expectAccessible(page);
		await page.goto(dashboard.project());
		// Failed tests need no decision.
		await expect(page.getByRole("term").filter({ hasText: "To decide" }).locator("..")).toContainText("0");
		expect(receiver.requests).toHaveLength(2);
	});

	// A test has two buttons. Those of other rows were beneath the first one, and its own weren't on one line.
	test("buttons of pending retries are aligned, whether or not a test is among them", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
		await receiver.count(2);
		await page.goto(dashboard.project());
		const retries = page.getByRole("button", { name: /^Retry now/ });
		await expect(retries).toHaveCount(2);
		const [one, other] = [(await retries.first().boundingBox())!, (await retries.last().boundingBox())!];
		expect(one.x).toBe(other.x);
		const row = page.getByRole("listitem").filter({ hasText: "Test" });
		const middles = await row
			.getByRole("button", { name: /^(Cancel|Retry)/ })
			.evaluateAll((buttons) =>
				buttons.map((one) => one.getBoundingClientRect()).map(({ y, height }) => y + height / 2),
			);
		expect(middles).toHaveLength(2);
		expect(Math.abs(middles[0]! - middles[1]!)).toBeLessThan(1);
	});
});

test.describe("with short delays", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "0.2" } });

	// It was offered, and did nothing.
	test("a delivery that is being sent isn't offered to be retried", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		const answered = Promise.withResolvers<void>();
		receiver.respondWith(async (_, number) => {
			if (number === 1) return { status: 500 };
			await answered.promise;
			return { status: 200 };
		});
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.count(2);
		const retry = page.getByRole("button", { name: /^Retry now/ });
		await page.goto(dashboard.project(`/webhooks/${id}`));
		const row = page.getByRole("listitem").filter({ hasText: "attempt 2 of 2, being sent" });
		await expect(row).toHaveCount(1);
		expect(await retry.count()).toBe(0);
		await page.goto(dashboard.project());
		// It was "next: being sent".
		await expect(page.getByText("1 delivery waits; the next attempt is being sent", { exact: true })).toBeVisible();
		await page.goto(dashboard.project("/logs"));
		await expect(page.getByRole("row").filter({ hasText: "Waiting" })).toHaveCount(1);
		expect(await retry.count()).toBe(0);
		answered.resolve();
		await expect(page.getByRole("row").filter({ hasText: "Delivered" })).toHaveCount(1);
	});

	test("a replay says what it will send, and failed deliveries are dismissed together", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const [sound, broken] = [await shop.receiver(), await shop.receiver()];
		broken.respondWith(() => ({ status: 500 }));
		await shop.webhook(sound.url("/hooks"), { description: "Sound" });
		await shop.webhook(broken.url("/hooks"), { description: "Broken" });
		await dashboard.enter(page);
		for (let n = 1; n <= 3; n++) await shop.post(shop.path("/events"), purchase(n));
		await broken.count(6);
		await page.goto(dashboard.project("/logs"));
		await expect(page.getByRole("table", { name: "Deliveries" }).getByText("Failed")).toHaveCount(3);
		await page.getByRole("button", { name: "Replay all matching" }).click();
		const dialog = page.getByRole("dialog");
		await expect(dialog).toContainText("This sends 3 deliveries again, oldest first");
		const groups = dialog.getByRole("table", { name: "What matches" });
		await expect(groups.getByRole("row")).toHaveText([/Event type/, /purchase\.completed\s*Broken\s*3/]);
		await expect(dialog).toContainText("signed again with its current secret");
		await expect(dialog).toContainText("up to 2 attempts");
		await expect(dialog).not.toContainText("a second time");
		await expectAccessible(page);
		// On a phone, it said "purchase.compl" and, below, "eted".
		const { width, height } = page.viewportSize()!;
		await page.setViewportSize({ width: 390, height: 844 });
		const lines = await groups.getByText("purchase.completed").evaluate(({ lastChild, ownerDocument }) => {
			const range = ownerDocument.createRange();
			range.selectNodeContents(lastChild!);
			return range.getClientRects().length;
		});
		expect(lines).toBe(1);
		await page.setViewportSize({ width, height });
		await dialog.getByRole("radio", { name: /All that have ended/ }).check();
		await expect(dialog).toContainText("This sends 6 deliveries again");
		await expect(groups.getByRole("row")).toHaveCount(3);
		await expect(dialog).toContainText("a second time");
		await dialog.getByRole("button", { name: "Cancel" }).click();

		// Above 100, the number must be typed.
		const replays = shop.path("/replays");
		await page.route(`**${replays}`, async (route) => {
			const response = await route.fetch();
			await route.fulfill({ response, json: { ...(await response.json()), count: 101 } });
		});
		await page.getByRole("button", { name: "Replay all matching" }).click();
		const replay = dialog.getByRole("button", { name: "Replay 101 deliveries" });
		await expect(replay).toBeDisabled();
		await dialog.getByRole("textbox", { name: "Type 101 to confirm" }).fill("101");
		await expect(replay).toBeEnabled();
		await dialog.getByRole("button", { name: "Cancel" }).click();
		await page.unroute(`**${replays}`);

		// It once offered failed ones here.
		await page.goto(dashboard.project("/logs?state=delivered"));
		await page.getByRole("button", { name: "Replay all matching" }).click();
		await expect(groups.getByRole("row")).toHaveText([/Event type/, /purchase\.completed\s*Sound\s*3/]);
		await expect(dialog.getByRole("radio")).toHaveCount(0);
		await dialog.getByRole("button", { name: "Cancel" }).click();
		await page.getByRole("button", { name: "More actions" }).click();
		await expect(page.getByRole("menuitem", { name: "Export as CSV" })).toBeVisible();
		await expect(page.getByRole("menuitem", { name: "Dismiss all failed" })).toHaveCount(0);

		await page.goto(dashboard.project("/logs"));
		await page.getByRole("button", { name: "More actions" }).click();
		// Not clicked: on a busy machine, the menu is somewhere else in its first frames.
		await page.getByRole("menuitem", { name: "Dismiss all failed" }).press("Enter");
		await expect(dialog).toContainText("This marks 3 failed deliveries as needing no decision");
		await expectAccessible(page);
		// The list once kept its rows if they weren't there before the pointer rested on it.
		const pointed = Promise.withResolvers<void>();
		await page.route(/\/deliveries\?/, async (route) => {
			await pointed.promise;
			await route.continue();
		});
		await dialog.getByRole("button", { name: "Dismiss 3 deliveries" }).click();
		await expect(dialog).toContainText("3 deliveries are dismissed.");
		await dialog.getByRole("button", { name: "Done" }).click();
		await expect(dialog).toHaveCount(0);
		await page.getByRole("table", { name: "Deliveries" }).getByRole("row").nth(2).hover();
		pointed.resolve();
		await expect(page.getByRole("table", { name: "Deliveries" }).getByText("Dismissed")).toHaveCount(3);
		expect(broken.requests).toHaveLength(6);
	});

	// The audit log only had their number.
	test("the audit log says which deliveries a selection or a filter was about", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		for (let n = 1; n <= 8; n++) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(16);
		const failed = async () => (await shop.get(shop.path("/deliveries?state=failed"))).body.data;
		await expect.poll(async () => (await failed()).length).toBe(8);
		const deliveries = (await failed()).slice(0, 6).map(({ webhook_id, event_id }: Record<string, string>) => ({
			...{ webhook_id, event_id },
		}));
		await shop.post(shop.path("/dismissals"), { deliveries });
		const filter = { webhook_id: id, type: "purchase.completed", order_id: ["ord_1", "ord_2"] };
		await shop.post(shop.path("/dismissals"), { filter });
		await shop.post(shop.path(`/webhooks/${id}/deliveries/${deliveries[3].event_id}/replay`), {});
		await page.goto(dashboard.project("/audit"));
		// It named only the event, which may have gone to several webhooks.
		await expect(page.getByText(/replayed a delivery of/)).toHaveText(
			/replayed a delivery of evt_\w+ to Accounting\.$/,
		);
		const entries = page.getByRole("listitem").filter({ hasText: "dismissed" });
		await expect(entries).toHaveText([
			/dismissed 2 failed deliveries of Accounting\.Those of purchase\.completed of order ord_1 or ord_2 to Accounting\./,
			/dismissed 6 failed deliveries of Accounting\.evt_.*, evt_.*, evt_.*, evt_.*, evt_.* and 1 more/,
		]);
		await expectAccessible(page);
		const rows = page.getByRole("table", { name: "Deliveries" }).getByRole("row");
		await entries.nth(1).getByRole("link", { name: /^evt_/ }).first().click();
		await expect(page).toHaveURL(new RegExp(`event_id=${deliveries[0].event_id}`));
		await expect(rows).toHaveCount(1 + 1);
		await page.goBack();
		await entries.first().getByRole("link", { name: "See them in the log" }).click();
		await expect(rows).toHaveCount(1 + 2);
		await expect(rows.filter({ hasText: "Dismissed" })).toHaveCount(2);
	});

	test("a sample is published only once the project's name is typed, and is marked in the log", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting", events: ["purchase.completed"] });
		await dashboard.enter(page);
		const { name } = (await shop.get(shop.path(""))).body;
		await page.goto(dashboard.project("/webhooks"));
		await page.getByRole("button", { name: "Publish a sample" }).click();
		const dialog = page.getByRole("dialog");
		// It ended with "It can't be taken back:", over the names of the webhooks.
		await expect(dialog).toContainText(/It can't be taken back\. 1 webhook gets it, signed, with [^.]+:/);
		await expect(dialog.getByRole("listitem")).toHaveText(["Accounting"]);
		const publish = dialog.getByRole("button", { name: "Publish to 1 webhook" });
		await expect(publish).toBeDisabled();
		await expectAccessible(page);
		// In a small window the button was out of sight.
		const window = page.viewportSize()!;
		await page.setViewportSize({ width: 1024, height: 600 });
		await expect(publish).toBeInViewport({ ratio: 1 });
		await page.setViewportSize(window);
		await dialog.getByRole("textbox", { name: /to confirm/ }).fill(name);
		const data = dialog.getByRole("textbox", { name: "Data" });
		const sample = JSON.parse(await data.inputValue());
		await data.fill(JSON.stringify({ ...sample, amount_cents: "1" }));
		await publish.click();
		await expect(dialog).toContainText("/amount_cents must be a whole number");
		await data.fill(JSON.stringify({ ...sample, order_id: "ord_sample" }));
		await publish.click();
		const { body } = await receiver.next();
		expect(body).toMatchObject({ id: expect.stringMatching(/^evt_sample_/), data: { order_id: "ord_sample" } });
		const sampled = page.getByRole("table", { name: "Deliveries" }).getByText("Sample", { exact: true });
		await expect(sampled).toBeVisible();
		await page.goto(dashboard.project("/audit"));
		await page
			.getByText(/published the sample event/)
			.getByRole("link", { name: /^evt_sample_/ })
			.click();
		await expect(page).toHaveURL(/event_id=evt_sample_/);
		await expect(sampled).toBeVisible();
	});

	test("what the log's filter shows is downloaded as a file", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		for (let n = 1; n <= 2; n++) await shop.post(shop.path("/events"), purchase(n));
		await receiver.count(2);
		await page.goto(dashboard.project("/logs?state=delivered&span=hour"));
		await expect(page.getByRole("table", { name: "Deliveries" }).getByText("Delivered")).toHaveCount(2);
		await page.getByRole("button", { name: "More actions" }).click();
		const [download] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("menuitem", { name: "Export as CSV" }).press("Enter"),
		]);
		expect(download.suggestedFilename()).toMatch(/^a-store_deliveries_filtered_\d{4}-.*_\d{4}-.*\.csv$/);
		const lines = readFileSync(await download.path(), "utf8")
			.trimEnd()
			.split("\r\n");
		expect(lines).toHaveLength(3);
		expect(lines[0]).toMatch(/^last_attempt_at,state/);
	});

	test("the signature check finds out what a receiver has wrong", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		const { id, secret } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		const { headers, body } = await receiver.next();
		const timestamp = String(headers["x-service-timestamp"]);
		const pretty = JSON.stringify(body, null, 2);
		const computed = createHmac("sha256", secret).update(`${timestamp}.${pretty}`).digest("hex");
		await page.goto(dashboard.project(`/webhooks/${id}?tab=verify`));
		const signature = page.getByLabel("Signature that the receiver computed");
		const clock = page.getByLabel("The receiver's clock then");
		// With nothing to check, the button was disabled without a reason.
		await page.getByRole("button", { name: "Find out" }).click();
		await expect(signature).toBeFocused();
		await expect(signature).toHaveAccessibleDescription(/or anything else that the receiver saw/);
		await clock.fill("noon");
		await expect(signature).toHaveAccessibleDescription("");
		await page.getByRole("button", { name: "Find out" }).click();
		await expect(clock).toBeFocused();
		await expect(clock).toHaveAccessibleDescription(/Seconds since 1970/);
		await clock.fill(`${timestamp}000`);
		await page.getByRole("button", { name: "Find out" }).click();
		await expect(clock).toHaveAccessibleDescription(/looks like milliseconds/);
		await signature.fill(computed);
		await page.getByLabel("Body that the receiver saw").fill(pretty);
		await clock.fill(String(Number(timestamp) + 900));
		await page.getByRole("button", { name: "Find out" }).click();
		const findings = page.getByRole("list", { name: "Findings" });
		await expect(findings).toContainText("Wrong: body. The body was parsed and serialized again");
		await expect(findings).toContainText("Wrong: clock. The clock was 900 s after");
		await expect(findings).toContainText("Right: secret.");
		await expectAccessible(page);

		// With each new request, it was the newest one that was checked.
		const chosen = page.getByRole("combobox", { name: "Request" });
		const before = await chosen.inputValue();
		await shop.post(shop.path("/events"), purchase(2));
		await receiver.next();
		await chosen.click();
		await expect(page.getByRole("option")).toHaveCount(2);
		await page.keyboard.press("Escape");
		await expect(chosen).toHaveValue(before);
		// A late result is about the previous input.
		const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
		await page.route("**/signature-check", async (route) => {
			asked.resolve();
			await held.promise;
			await route.continue();
		});
		const find = page.getByRole("button", { name: "Find out" });
		await find.click();
		await asked.promise;
		await clock.fill(timestamp);
		held.resolve();
		await expect(find).toBeEnabled();
		await expect(findings).toHaveCount(0);
		await find.click();
		await expect(findings).toContainText("Right: clock.");
	});
});
