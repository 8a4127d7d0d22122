import type { Page } from "@playwright/test";
import { purchase, type Receiver } from "../shop.ts";
import { type Dashboard, expect, expectAccessible, test, watch } from "./dashboard.ts";

/** Registers a webhook by hand, and returns the secret from the dialog. */
async function register(page: Page, dashboard: Dashboard, receiver: Receiver, description: string): Promise<string> {
	await page.goto(dashboard.project("/webhooks/new"));
	// A URL, but without a host: it once said "Events are sent to once you choose which."
	await page.getByLabel("URL").fill("localhost:3000");
	await expect(page.getByText("Choose a URL and the events to send.")).toBeVisible();
	await page.getByLabel("URL").fill("http://localhost/hooks");
	await expect(page.getByText(/must begin with https/).first()).toBeVisible();
	// The service names a field's fault without the field.
	await page.getByLabel("URL").fill("https://localhost/hooks#here");
	await expect(page.getByText("Must not have a fragment (#…): it would never be sent.: no")).toBeVisible();
	await page.getByLabel("URL").fill(receiver.url("/hooks"));
	await expect(page.getByText("The URL passes the checks. Nothing was sent to it.")).toBeAttached();
	// It once said that the address can be reached, although that had not been tried.
	await expect(page.getByText("Address is allowed: yes")).toBeVisible();
	await page.getByRole("textbox", { name: "Description" }).fill("🎺");
	await expect(page.getByLabel("1 of 200 characters")).toBeVisible();
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
	await dashboard.enter(page);
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

// The button seemed to do nothing: the field was out of sight.
test("a form that can't be submitted shows the first field with a fault", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.setViewportSize({ width: 1_280, height: 700 });
	await page.goto(dashboard.project("/webhooks/new"));
	const url = page.getByLabel("URL");
	const create = page.getByRole("button", { name: "Create webhook" });
	await create.click();
	await expect(url).toBeFocused();
	// The focus stayed on the button.
	await url.fill("https://localhost/hooks");
	await create.click();
	await expect(page.getByRole("checkbox", { name: "All event types" })).toBeFocused();
	await expect(page.getByRole("alert")).toBeInViewport();
	await expectAccessible(page);
	await page.getByRole("checkbox", { name: /^purchase\.completed/ }).check();
	await url.fill("");
	await create.click();
	await expect(url).toBeFocused();
	await expect(url).toBeInViewport();
	// The service finds this one.
	await url.fill("https://localhost/hooks#here");
	await create.click();
	await expect(page.getByText("Must not have a fragment (#…): it would never be sent.", { exact: true })).toBeVisible();
	await expect(url).toBeFocused();
	await expect(url).toBeInViewport();
});

// Both got each event, and nothing said why.
test("a form says which other webhook has its URL, without forbidding it", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const url = "https://example.com/hooks";
	const { id } = await shop.webhook(url, { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks/new"));
	const remark = page.getByText(/has this URL, too\. Events that both receive are sent to it twice\.$/);
	await page.getByLabel("URL").fill(url);
	await expect(remark).toHaveText(/^The webhook Accounting has/);
	await expectAccessible(page);
	await page.getByLabel("URL").fill(`${url}/2`);
	await expect(remark).toHaveCount(0);
	await page.getByLabel("URL").fill(url);
	await page.getByLabel("Description").fill("Chat");
	await page.getByRole("checkbox", { name: /^purchase\.completed/ }).check();
	await page.getByRole("button", { name: "Create webhook" }).click();
	await expect(page.getByRole("dialog")).toContainText("store its signing secret");
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await expect(remark).toHaveText(/^The webhook Chat has/);
});

test("a webhook also sends the headers of Standard Webhooks once its settings say so", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	await dashboard.setUp();
	const { id } = await shop.webhook(receiver.url("/hooks"));
	await dashboard.signIn(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const standard = page.getByRole("switch", { name: "Standard Webhooks headers" });
	await expect(standard).not.toBeChecked();
	await standard.click();
	await page.getByRole("button", { name: "Save" }).first().click();
	await expect(page.getByText("Saved.").first()).toBeVisible();
	await expectAccessible(page);
	await shop.post(shop.path("/events"), purchase(1));
	expect((await receiver.next()).headers["webhook-signature"]).toMatch(/^v1,/);
	await page.reload();
	await expect(standard).toBeChecked();

	await page.goto(dashboard.project("/webhooks/new"));
	await standard.click();
	await expect(page.getByLabel("Sample request of purchase.completed")).toContainText("webhook-signature: v1,");
	await expectAccessible(page);
});

// The time within the body was the browser's, and next to it was the service's.
test("the sample request has the service's time, whatever the browser's clock says", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.clock.install({ time: Date.now() + 5 * 3_600_000 });
	await page.goto(dashboard.project("/webhooks/new"));
	const sample = page.getByLabel("Sample request of purchase.completed");
	await expect(sample).toContainText("Timestamp: ");
	const text = await sample.innerText();
	const timestamp = Number(/Timestamp: (\d+)/.exec(text)?.[1]);
	expect(Math.floor(Date.parse(/"created_at": "([^"]+)"/.exec(text)?.[1] ?? "") / 1_000)).toBe(timestamp);
});

// An empty field became 0, and "25" typed into it 250, which was cut to 100.
test("the number of events in flight can be cleared and typed again", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks");
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const inFlight = page.getByLabel("Events in flight");
	await inFlight.press("ControlOrMeta+a");
	await page.keyboard.press("Backspace");
	const save = page.getByRole("button", { name: "Save" }).nth(1);
	await save.click();
	await expect(page.getByText("Enter a whole number from 1 to 100.")).toBeVisible();
	await expect(inFlight).toBeFocused();
	await page.keyboard.type("25");
	await save.click();
	await expect(page.getByText("Saved.")).toBeVisible();
	expect((await shop.get(shop.path(`/webhooks/${id}`))).body.max_in_flight).toBe(25);
});

test("rotating invalidates the old secret immediately", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id, secret: old } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const rotate = page.getByRole("button", { name: "Rotate signing secret" });
	await rotate.press("Enter");
	const dialog = page.getByRole("dialog");
	await expect(dialog).toContainText("The old secret stops working immediately");
	await dialog.getByRole("button", { name: "Rotate now" }).press("Enter");
	const secret = (await dialog.getByTestId("secret").textContent()) ?? "";
	expect(secret).not.toBe(old);
	// The first dialog gave it back to the page below the second one.
	await expect(dialog.getByRole("button", { name: "Copy signing secret" })).toBeFocused();

	await shop.post(shop.path("/events"), purchase(1));
	expect((await receiver.next()).verified, "with the old secret").toBe(false);
	receiver.setSecret(secret);
	await shop.post(shop.path("/events"), purchase(2));
	expect((await receiver.next()).verified, "with the new secret").toBe(true);
	await dialog.getByLabel("I've stored it").press("Space");
	await dialog.getByRole("button", { name: "Done" }).press("Enter");
	await expect(rotate).toBeFocused();
});

test("a paused webhook keeps its backlog, and resumes with or without it", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await dashboard.enter(page);
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
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await expectAccessible(page);
	await page.getByRole("button", { name: "Delete webhook" }).click();
	const dialog = page.getByRole("dialog");
	const act = dialog.getByRole("button", { name: "Delete webhook" });
	await expect(act).toBeDisabled();
	await dialog.getByRole("textbox").fill("Accounting");
	// Live updates may say so before the service has responded. The page then stayed, without the webhook.
	await page.route(`**/webhooks/${id}`, async (route) => {
		const response = await route.fetch();
		if (route.request().method() === "DELETE") await page.getByRole("alert").waitFor();
		await route.fulfill({ response });
	});
	await act.click();
	await expect(page).toHaveURL(/\/webhooks$/);
	await expect(page.getByText("Accounting is deleted.")).toBeVisible();
	expect((await shop.get(shop.path(`/webhooks/${id}`))).status).toBe(404);
});

test.describe("with retries that wait for an hour", () => {
	test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600,3600" } });

	test("one event, or everything that waits, is retried now", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		for (const n of [1, 2, 3]) {
			await shop.post(shop.path("/events"), purchase(n));
			await receiver.next();
		}
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await expect(page.getByText(/3 deliveries wait for a retry/).first()).toBeVisible();
		// It was offered up to three times.
		await expect(page.getByRole("button", { name: "Retry all 3 deliveries now" })).toHaveCount(1);
		await expectAccessible(page);
		receiver.respondWith(() => ({}));
		await page.getByRole("button", { name: "Retry now: purchase.completed" }).first().click();
		expect((await receiver.next()).body).toMatchObject({ data: { n: 1 } });
		await expect(page.getByText(/2 deliveries wait for a retry/).first()).toBeVisible();

		// A test shows that the receiver works again, and offers the rest.
		await page.getByRole("button", { name: "Send test event" }).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByRole("button", { name: "Send", exact: true }).click();
		await receiver.next();
		await expect(dialog).toContainText("It works now. 2 deliveries wait for a retry.");
		await dialog.getByRole("button", { name: "Retry all 2 deliveries now" }).click();
		const sent = [await receiver.next(), await receiver.next()].map(
			({ body }) => (body as { data: { n: number } }).data.n,
		);
		expect(sent.toSorted()).toEqual([2, 3]);
		await dialog.getByRole("button", { name: "Close" }).last().click();
		await expect(page.getByText("Nothing is waiting.")).toBeVisible();
	});

	// The text left tests out, which the button next to it counted.
	test("a test that succeeds offers to retry the tests that wait, too", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
		await receiver.count(2);
		await page.goto(dashboard.project(`/webhooks/${id}`));
		await expect(page.getByText("1 delivery and 1 test wait for a retry").first()).toBeVisible();
		receiver.respondWith(() => ({}));
		await page.getByRole("button", { name: "Send test event" }).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByRole("button", { name: "Send", exact: true }).click();
		await expect(dialog).toContainText("It works now. 1 delivery and 1 test wait for a retry.");
		await dialog.getByRole("button", { name: "Retry all 2 now" }).click();
		await receiver.count(2 + 1 + 2);
	});

	// All actions were offered, of which some could do nothing.
	test("a selection offers the actions that suit it, with how many deliveries they change", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		const [broken, sound] = [await shop.receiver(), await shop.receiver()];
		broken.respondWith(() => ({ status: 500 }));
		await shop.webhook(broken.url("/hooks"), { description: "Accounting" });
		await shop.webhook(sound.url("/hooks"), { description: "Chat" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(2);
		await page.goto(dashboard.project("/logs"));
		const row = (name: string) => page.getByRole("row", { name: new RegExp(name) }).getByRole("checkbox");
		const button = (name: string) => page.getByRole("button", { name, exact: true });
		const actions = page
			.getByText(/\d selected/)
			.locator("..")
			.getByRole("button");
		await row("Accounting").check();
		await expect(actions).toHaveText(["Retry 1 now", "Unselect"]);
		await expect(button("Retry 1 now")).toHaveAttribute("data-variant", "filled");
		await row("Chat").check();
		await expect(page.getByText("2 selected")).toBeVisible();
		await expect(actions).toHaveText(["Retry 1 now", "Replay 1", "Unselect"]);
		await expect(button("Retry 1 now")).toHaveAttribute("data-variant", "default");
		await expect(button("Replay 1")).toHaveAttribute("data-variant", "filled");
		await row("Accounting").uncheck();
		await expect(actions).toHaveText(["Replay 1", "Unselect"]);
		await page.getByRole("radiogroup", { name: "Show" }).getByText("Attempts").click();
		await row("Accounting").check();
		await expect(actions).toHaveText(["Retry 1 now", "Unselect"]);
		await row("Chat").check();
		await expect(actions).toHaveText(["Retry 1 now", "Replay 1", "Unselect"]);
	});

	test("a retry is made from the drawer, and keeps its number", async ({ dashboard, page }) => {
		const { shop } = dashboard;
		const receiver = await shop.receiver();
		receiver.respondWith(() => ({ status: 500 }));
		await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
		await dashboard.enter(page);
		await shop.post(shop.path("/events"), purchase(1));
		await receiver.next();
		await page.goto(dashboard.project("/logs"));
		await page.getByRole("link", { name: "purchase.completed" }).first().click();
		const drawer = page.getByRole("dialog");
		await drawer.getByRole("button", { name: "Retry now" }).click();
		await receiver.next();
		await expect(drawer.getByText("attempt 2", { exact: false }).first()).toBeAttached();
		await drawer.getByRole("button", { name: "Retry now" }).click();
		await receiver.next();
		await expect(drawer.getByRole("button", { name: "Replay" })).toBeEnabled();
	});

	// "r" said that it was retried, and the drawer when it would be.
	test("a delivery of a paused webhook says that it waits for it, and isn't retried by a key", async ({
		dashboard,
		page,
	}) => {
		const { shop } = dashboard;
		await dashboard.failing("Accounting", 1);
		const [{ id }] = (await shop.get(shop.path("/webhooks"))).body.data;
		await shop.patch(shop.path(`/webhooks/${id}`), { status: "paused" });
		await dashboard.enter(page);
		const refusal = page.getByText("Its webhook is paused. It will be sent once the webhook is resumed.");
		for (const view of ["deliveries", "attempts"]) {
			await page.goto(dashboard.project(`/logs?view=${view}`));
			await expect(page.getByText("when resumed")).toBeVisible();
			await page.keyboard.press("j");
			await page.keyboard.press("r");
			await expect(refusal).toHaveCount(1);
		}
		await page.getByRole("link", { name: "purchase.completed" }).click();
		const drawer = page.getByRole("dialog");
		await expect(drawer).toContainText("The next attempt is made once the webhook is resumed.");
		await expect(drawer).not.toContainText("The next retry");
		await expect(drawer).toContainText("Once it's fixed, resume the webhook.");
		const stations = drawer.getByRole("region", { name: "Original delivery" }).getByRole("listitem");
		await expect(stations.nth(1)).toContainText("attempt 2 of 3, once the webhook is resumed");
		await expect(stations.nth(1)).not.toContainText(/\d:\d\d/);
		await page.getByRole("alert").getByRole("button", { name: "Close" }).click();
		await page.keyboard.press("r");
		await expect(refusal).toHaveCount(1);
	});
});
