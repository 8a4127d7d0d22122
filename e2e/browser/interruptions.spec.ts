import { purchase } from "../shop.ts";
import {
	type Dashboard,
	expect,
	expectAccessible,
	expectToFit,
	PASSWORD,
	test,
	watch,
	watchShifts,
} from "./dashboard.ts";

test.use({ settings: { POSTHORN_RETRY_DELAYS: "3600" } });

/** Adds a developer to the shop's project, and returns their e-mail address. */
async function developer(dashboard: Dashboard, name: string, role = "developer"): Promise<string> {
	const { shop } = dashboard;
	const email = dashboard.address(name);
	const token = new URL((await shop.post(shop.path("/invitations"), { role })).body.url).hash.slice(1);
	const account = { token, email, name, password: PASSWORD };
	expect((await shop.post("/v1/invitations/accept", account)).status).toBe(200);
	return email;
}

test("a webhook that someone else deletes while its page is open is gone", async ({ dashboard, page, context }) => {
	const faults = watch(context);
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect(page.getByText("No event has been sent to it yet.").first()).toBeVisible();
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	expect((await shop.delete(shop.path(`/webhooks/${id}`))).status).toBe(204);
	await expect(page.getByText("There is no such webhook.")).toBeVisible();
	await expect(page.getByRole("button", { name: "Send test event" })).toHaveCount(0);
	// Trying again wouldn't help.
	await expect(page.getByRole("button", { name: "Try again" })).toHaveCount(0);
	await page.getByRole("link", { name: "All webhooks" }).click();
	await expect(page.getByRole("heading", { name: "No webhooks" })).toBeVisible();
	expect(faults).toEqual([]);
});

test("saving settings doesn't undo what someone else has saved meanwhile", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const [save, description] = [page.getByRole("button", { name: "Save" }).first(), page.getByLabel("Description")];
	await description.fill("Books");
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	const theirs = {
		description: "Accounting (old)",
		events: ["purchase.completed", "purchase.refunded"],
		max_in_flight: 7,
	};
	await shop.patch(shop.path(`/webhooks/${id}`), theirs);
	await expect(page.getByRole("checkbox", { name: "purchase.refunded" })).toBeChecked();
	await expect(page.getByLabel("Events in flight")).toHaveValue("7");
	await expect(description).toHaveValue("Books");
	const [held, isSaving] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	await page.route(`**/webhooks/${id}`, async (route) => {
		if (route.request().method() !== "PATCH") return route.fallback();
		const response = await route.fetch();
		isSaving.resolve();
		await held.promise;
		await route.fulfill({ response });
	});
	await save.click();
	await isSaving.promise;
	await expect(page.getByRole("heading", { level: 1, name: "Books" })).toBeVisible();
	// Text typed during the save stays.
	await description.fill("Books and more");
	held.resolve();
	await expect(page.getByText("Saved. Retries and replays use it from now on, too.")).toBeVisible();
	await expect(description).toHaveValue("Books and more");
	await expect(save).toBeEnabled();
	await description.fill("Books");
	expect((await shop.get(shop.path(`/webhooks/${id}`))).body).toMatchObject({ ...theirs, description: "Books" });
	await expect(save).toBeDisabled();
	// Discarding returns to the values that were saved last, by anyone.
	await description.fill("Ledger");
	await shop.patch(shop.path(`/webhooks/${id}`), { description: "Accounting (new)" });
	await expect(page.getByRole("heading", { level: 1, name: "Accounting (new)" })).toBeVisible();
	await page.getByRole("button", { name: "Discard" }).first().click();
	await expect(description).toHaveValue("Accounting (new)");
	await expect(save).toBeDisabled();
});

// They were lost without a warning.
test("unsaved settings stay while other tabs are shown, and are only lost on purpose", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.enter(page);
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const [description, inFlight] = [page.getByLabel("Description"), page.getByLabel("Events in flight")];
	const settings = page.getByRole("tab", { name: "Settings" });
	const dialog = page.getByRole("dialog", { name: "Discard your changes?" });
	await description.fill("Books");
	await inFlight.fill("5");
	await page.getByRole("tab", { name: "Activity" }).click();
	await expect(page.getByText("Recent attempts")).toBeVisible();
	await expect(settings).toHaveAccessibleName("Settings (unsaved changes)");
	// Someone else saves meanwhile.
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	await shop.patch(shop.path(`/webhooks/${id}`), { description: "Ledger", standard_webhooks: true });
	await expect(page.getByRole("heading", { level: 1, name: "Ledger" })).toBeVisible();

	// From another tab, too, the page isn't left without a question.
	await page.getByRole("link", { name: "Logs" }).click();
	await expect(dialog).toContainText("The settings of Ledger have unsaved changes.");
	await expectAccessible(page);
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await settings.click();
	await expect(description).toHaveValue("Books");
	await expect(inFlight).toHaveValue("5");
	await expect(page.getByRole("switch", { name: "Standard Webhooks headers" })).toBeChecked();
	await page.getByRole("button", { name: /Account of/ }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	const asked = page.waitForEvent("dialog");
	const reloaded = page.reload();
	const question = await asked;
	expect(question.type()).toBe("beforeunload");
	await question.accept();
	await reloaded;
	await expect(description).toHaveValue("Ledger");

	await inFlight.fill("5");
	await page.getByRole("link", { name: "Logs" }).click();
	await dialog.getByRole("button", { name: "Discard and leave" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Logs" })).toBeVisible();
	// Without changes, nothing asks.
	await page.goBack();
	await expect(inFlight).toHaveValue("1");
	await description.fill("Books");
	await page.getByRole("button", { name: "Save" }).first().click();
	await expect(settings).toHaveAccessibleName("Settings");
	await page.getByRole("link", { name: "Logs" }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Logs" })).toBeVisible();
	await page.goBack();
	await expect(description).toHaveValue("Books");
	await description.fill("Books and more");
	await page.getByRole("button", { name: /Account of/ }).click();
	await page.getByRole("menuitem", { name: "Sign out" }).press("Enter");
	await dialog.getByRole("button", { name: "Discard and sign out" }).click();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

test("acting after the session has ended in another tab leads to the sign-in and back", async ({
	dashboard,
	page,
	context,
}) => {
	const errors: string[] = [];
	page.on("console", (message) => {
		if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
			errors.push(message.text());
	});
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await page.getByRole("button", { name: "Send test event" }).click();
	const dialog = page.getByRole("dialog");
	await expect(dialog.getByRole("button", { name: "Send" })).toBeVisible();
	await context.clearCookies();
	await dialog.getByRole("button", { name: "Send" }).click();
	await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
	expect(new URL(page.url()).searchParams.get("next")).toContain(`/webhooks/${id}`);
	expect(errors).toEqual([]);
});

// Signing in again led back to the page, but with the form as it was before.
test("what someone has typed into a webhook's form survives the end of their session", async ({
	dashboard,
	page,
	browser,
}) => {
	const { shop } = dashboard;
	const { id } = await shop.webhook("https://example.com/hooks", { description: "Accounting" });
	const email = await developer(dashboard, "dora");
	const signInAs = async (address: string) => {
		await expect(page.getByText("Your session has ended.")).toBeVisible();
		await page.getByLabel("E-mail").fill(address);
		await page.getByLabel(/^Password/).fill(PASSWORD);
		await page.getByRole("button", { name: "Sign in" }).click();
	};
	const elsewhere = await browser.newContext();
	const { request } = elsewhere;
	/** Ends the page's session elsewhere. The page notices it without being used. */
	const endSession = async () => {
		await dashboard.signIn(await elsewhere.newPage(), email);
		const { csrf_token } = await (await request.get(`${dashboard.url}/v1/session`)).json();
		const headers = { "X-CSRF-Token": csrf_token, Origin: dashboard.url };
		expect((await request.delete(`${dashboard.url}/v1/account/sessions`, { headers })).status()).toBe(204);
	};
	await dashboard.setUp();
	await dashboard.signIn(page, email);
	const [url, description] = [page.getByLabel(/^URL/), page.getByLabel("Description")];
	const type = page.getByRole("checkbox", { name: "purchase.refunded" });
	await page.goto(dashboard.project("/webhooks/new"));
	await url.fill("https://example.com/refunds");
	await description.fill("Refunds");
	await type.check();
	await endSession();
	await signInAs(email);
	await expect(url).toHaveValue("https://example.com/refunds");
	await expect(description).toHaveValue("Refunds");
	await expect(type).toBeChecked();
	await page.getByRole("button", { name: "Create webhook" }).click();
	await expect(page.getByRole("dialog", { name: "Webhook created: store its signing secret" })).toBeVisible();

	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	const inFlight = page.getByLabel("Events in flight");
	await description.fill("Books");
	await inFlight.fill("5");
	await endSession();
	// Meanwhile, someone else changes another field.
	await expect(page.getByText("Your session has ended.")).toBeVisible();
	await shop.patch(shop.path(`/webhooks/${id}`), { standard_webhooks: true });
	await signInAs(email);
	await expect(description).toHaveValue("Books");
	await expect(inFlight).toHaveValue("5");
	await expect(page.getByRole("switch", { name: "Standard Webhooks headers" })).toBeChecked();

	// Those in dialogs were lost.
	await page.goto(dashboard.project("/api-keys"));
	const name = page.getByRole("dialog").getByRole("textbox", { name: "Name" });
	await page.getByRole("button", { name: "New key" }).first().click();
	await name.fill("Shop server");
	await endSession();
	await signInAs(email);
	await page.getByRole("button", { name: "New key" }).first().click();
	await expect(name).toHaveValue("Shop server");
	await page.goto(dashboard.project(`/webhooks/${id}?tab=settings`));
	await description.fill("Books");
	await inFlight.fill("5");

	// Other accounts never see it.
	await endSession();
	await signInAs(await developer(dashboard, "dan"));
	await expect(page.getByRole("button", { name: "Account of dan" })).toBeVisible();
	await expect(description).toHaveValue("Accounting");
	await expect(inFlight).toHaveValue("1");
});

// It stayed, along with an invitation's link, and so did an invitation that had been sent.
test("what someone has typed isn't shown to an account that signs in in another tab, nor again once it was sent", async ({
	dashboard,
	page,
	context,
}) => {
	await dashboard.setUp();
	const [dora, dan] = [await developer(dashboard, "dora", "owner"), await developer(dashboard, "dan", "owner")];
	const look = () => page.evaluate(`document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))`);
	const invite = page.getByRole("button", { name: "Invite" });
	const email = page.getByRole("dialog").getByRole("textbox", { name: "E-mail" });
	await dashboard.signIn(page, dora);
	await page.goto(dashboard.project("/members"));
	await invite.click();
	await email.fill("ada@example.com");
	await dashboard.signIn(page, dan);
	await look();
	await expect(page.getByRole("button", { name: "Account of dan" })).toBeVisible();
	await invite.click();
	await expect(email).toHaveValue("");

	await email.fill("ada@example.com");
	await page.getByRole("button", { name: "Create link" }).click();
	await expect(page.getByText("Send it to ada@example.com")).toBeVisible();
	await context.clearCookies();
	await look();
	await expect(page.getByText("Your session has ended.")).toBeVisible();
	await page.getByLabel("E-mail").fill(dan);
	await page.getByLabel(/^Password/).fill(PASSWORD);
	await page.getByRole("button", { name: "Sign in" }).click();
	await invite.click();
	await expect(email).toHaveValue("");
});

// Its URL, name and events were lost without a question, unlike changed settings.
test("a new webhook that isn't created yet is only lost on purpose", async ({ dashboard, page }) => {
	await dashboard.enter(page);
	await page.goto(dashboard.project("/webhooks/new"));
	const dialog = page.getByRole("dialog", { name: "Discard your changes?" });
	const description = page.getByLabel("Description");
	await description.fill("Refunds");
	await page.getByRole("link", { name: "Logs" }).click();
	await expect(dialog).toContainText("The new webhook isn't created yet.");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await expect(description).toHaveValue("Refunds");
	// Cancel and Create are such a purpose.
	await page.getByRole("button", { name: "Cancel", exact: true }).click();
	await expect(page.getByRole("heading", { level: 1, name: "Webhooks" })).toBeVisible();
	await page.getByRole("link", { name: "New webhook" }).first().click();
	await expect(description).toHaveValue("");
	await page.getByLabel(/^URL/).fill("https://example.com/refunds");
	await page.getByRole("checkbox", { name: "purchase.refunded" }).check();
	await page.getByRole("button", { name: "Create webhook" }).click();
	await expect(page.getByRole("dialog", { name: "Webhook created: store its signing secret" })).toBeVisible();
});

test("nothing on a failing webhook's page moves while it loads slowly", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500 }));
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: "Accounting" });
	await shop.post(shop.path("/events"), purchase(1));
	await receiver.count(1);
	await expect.poll(async () => (await shop.get(shop.path("/attempts/count"))).body.count).toBe(1);
	await dashboard.setUp();
	await dashboard.signIn(page);
	const held: (() => void)[] = [];
	let isHolding = true;
	await page.route("**/webhooks/health*", async (route) => {
		if (isHolding) await new Promise<void>((go) => held.push(go));
		await route.continue();
	});
	await page.goto(dashboard.project(`/webhooks/${id}`));
	await expect.poll(() => held.length).toBe(1);
	await expect(page.getByRole("status", { name: "Loading the webhook" })).toBeVisible();
	// The tabs would be pushed down by what the health says above them.
	await expect(page.getByRole("tab")).toHaveCount(0);
	isHolding = false;
	for (const go of held) go();
	await expect(page.getByText(/^Returning 500 since/).first()).toBeVisible();
	await expect(page.getByRole("tab", { name: "Activity" })).toBeVisible();
});

// Each new number cancelled the request and sent another, so while figures changed quickly, none ended.
test("incidents that load slowly aren't requested again for each new number", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	await dashboard.failing("Accounting", 3);
	await dashboard.enter(page);
	const [{ id }] = (await shop.get(shop.path("/webhooks"))).body.data;
	await page.goto(dashboard.project(`/webhooks/${id}`));
	const incidents = page.getByRole("list", { name: "Incidents" });
	await expect(incidents).toContainText("3 deliveries held up, all waiting.");
	await expect(page.getByRole("button", { name: "Live updates: live" })).toBeVisible();
	const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	let requests = 0;
	await page.route("**/incidents*", async (route) => {
		requests++;
		asked.resolve();
		await held.promise;
		await route.continue();
	});
	await shop.post(shop.path("/events"), purchase(4));
	await asked.promise;
	for (const n of [5, 6]) {
		await shop.post(shop.path("/events"), purchase(n));
		await expect(page.getByRole("button", { name: `Retry all ${n} deliveries now` })).toBeVisible();
	}
	expect(requests).toBe(1);
	held.resolve();
	await expect(incidents).toContainText("6 deliveries held up, all waiting.");
});

test("nothing on the overview moves while what is above loads slowly", async ({ dashboard, page }) => {
	await dashboard.failing("Accounting", 1);
	await dashboard.setUp();
	await dashboard.signIn(page);
	const expectStill = await watchShifts(page);
	for (const late of ["**/webhooks/health*", "**/incidents*"]) {
		const held = Promise.withResolvers<void>();
		const asked = Promise.withResolvers<void>();
		await page.route(late, async (route) => {
			asked.resolve();
			await held.promise;
			await route.continue();
		});
		await page.goto(dashboard.project());
		await asked.promise;
		await expect(page.getByRole("status", { name: "Loading the overview" })).toBeVisible();
		// The list of failing webhooks would push these down.
		await expect(page.getByText("Attempts by outcome")).toHaveCount(0);
		held.resolve();
		await expect(page.getByText("Attempts by outcome")).toBeVisible();
		await expect(page.getByRole("img", { name: /^Attempts in/ })).toBeVisible();
		await expect(page.getByText(/^Returning 500 since/).first()).toBeVisible();
		await expectStill();
		await page.unroute(late);
	}
	// What can't be loaded isn't waited for.
	await page.route("**/incidents*", (route) => route.fulfill({ status: 503, body: "" }));
	await page.goto(dashboard.project());
	await expect(page.getByRole("img", { name: /^Attempts in/ })).toBeVisible();
});

test("nothing on a long list of webhooks moves while it loads slowly", async ({ dashboard, page }) => {
	const { shop } = dashboard;
	for (let n = 1; n <= 10; n++) await shop.webhook(`https://example.com/${n}`, { description: `Accounting ${n}` });
	await dashboard.setUp();
	await dashboard.signIn(page);
	const expectStill = await watchShifts(page);
	for (const late of [/v1\/.*\/webhooks(\?|$)/, /\/webhooks\/health/]) {
		const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
		await page.route(late, async (route) => {
			asked.resolve();
			await held.promise;
			await route.continue();
		});
		await page.goto(dashboard.project("/webhooks"));
		await asked.promise;
		await expect(page.getByRole("heading", { name: "Webhooks" })).toBeVisible();
		held.resolve();
		await expect(page.getByRole("link", { name: "Accounting 10" })).toBeVisible();
		await expectStill();
	}
});

test("what a table cuts is in its title, and a waiting test's actions fit their column", async ({
	dashboard,
	page,
}) => {
	const { shop } = dashboard;
	const receiver = await shop.receiver();
	receiver.respondWith(() => ({ status: 500 }));
	const name = `${"🎮 متجر ".repeat(20)}end`;
	const { id } = await shop.webhook(receiver.url("/hooks"), { description: name });
	await shop.post(shop.path(`/webhooks/${id}/test`), { type: "purchase.completed" });
	await receiver.count(1);
	await expect.poll(async () => (await shop.get(shop.path("/attempts"))).body.data.length).toBe(1);
	await dashboard.setUp();
	await dashboard.signIn(page);
	await page.goto(dashboard.project("/webhooks"));
	await expect(page.getByRole("table", { name: "Webhooks" }).getByRole("link", { name })).toHaveAttribute(
		"title",
		name,
	);
	await page.goto(dashboard.project("/logs"));
	const row = page.getByRole("table", { name: "Deliveries" }).getByRole("row").nth(1);
	await expect(row.getByText("purchase.completed")).toHaveAttribute("title", "purchase.completed");
	const cell = row.getByRole("cell").last();
	await expect(cell.getByRole("button")).toHaveCount(2);
	await expectToFit(cell);
});
